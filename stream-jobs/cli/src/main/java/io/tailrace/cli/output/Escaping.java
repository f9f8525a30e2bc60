package io.tailrace.cli.output;

import io.tailrace.cli.terminal.TerminalSanitizer;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Escapes text so that a record of the output stays one line. */
public final class Escaping {

    private Escaping() {}

    /**
     * Returns one line of output for people, without its line feed: tabs separate the values. No value from a log adds a line
     * or a column, or controls the terminal.
     */
    public static String columns(String... values) {
        return Arrays.stream(values)
                .map(value -> TerminalSanitizer.text(oneLine(value)))
                .collect(Collectors.joining("\t"));
    }

    /** Escapes backslashes, line breaks and tabs. */
    public static String oneLine(String text) {
        return text.replace("\\", "\\\\")
                .replace("\n", "\\n")
                .replace("\r", "\\r")
                .replace("\t", "\\t");
    }
}
