package io.tailrace.cli.terminal;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Which of the standard streams are a terminal, and what it supports.
 *
 * @param in standard input is a terminal
 * @param out standard output is a terminal
 * @param err standard error is a terminal
 * @param colours neither NO_COLOR nor TERM=dumb forbids them
 * @param columns characters per line
 */
public record TerminalCapabilities(boolean in, boolean out, boolean err, boolean colours, int columns) {

    /** Characters per line without a terminal. */
    static final int DEFAULT_COLUMNS = 120;

    private static final int MIN_COLUMNS = 60;
    private static final int MAX_COLUMNS = 200;

    /** No terminal at all. */
    public static final TerminalCapabilities NONE =
            new TerminalCapabilities(false, false, false, false, DEFAULT_COLUMNS);

    /** Returns the capabilities of this process's terminal. */
    public static TerminalCapabilities of(Map<String, String> environment) {
        boolean out = isTerminal(1);
        boolean colours = environment.getOrDefault("NO_COLOR", "").isEmpty() && !"dumb".equals(environment.get("TERM"));
        return new TerminalCapabilities(
                isTerminal(0), out, isTerminal(2), colours, columns(environment.get("COLUMNS"), out));
    }

    /** Linux shows the type of a descriptor; elsewhere nothing is assumed to be a terminal. */
    private static boolean isTerminal(int descriptor) {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor))
                    .toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    private static int columns(String named, boolean terminal) {
        int columns = number(named);
        if (columns <= 0 && terminal) {
            columns = number(terminalSize());
        }
        return columns <= 0 ? DEFAULT_COLUMNS : Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, columns));
    }

    /** Returns the columns that {@code stty} reports; empty if there are none. */
    private static String terminalSize() {
        try {
            Process stty = new ProcessBuilder("stty", "size")
                    .redirectInput(new File("/dev/tty"))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String size = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            stty.waitFor(1, TimeUnit.SECONDS);
            return size.strip().replaceFirst("^\\d+ ", "");
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }

    private static int number(String text) {
        boolean digits = text != null && text.matches("\\d{1,4}");
        return digits ? Integer.parseInt(text) : 0;
    }
}
