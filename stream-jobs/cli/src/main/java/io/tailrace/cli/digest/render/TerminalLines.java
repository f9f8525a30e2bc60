package io.tailrace.cli.digest.render;

import io.tailrace.cli.terminal.TerminalSanitizer;
import java.util.ArrayList;
import java.util.List;

/** Fits texts into the lines of a terminal. No control character of a log reaches the terminal. */
public final class TerminalLines {

    private static final String CUT = "…";

    private TerminalLines() {}

    /** Returns the text on one line; control characters are escaped. */
    public static String one(String text) {
        StringBuilder line = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            if (c == '\n' || c == '\r' || c == '\t') {
                line.append(' ');
            } else if (TerminalSanitizer.isUnsafe(c)) {
                TerminalSanitizer.escape(c, line);
            } else {
                line.appendCodePoint(c);
            }
        });
        return line.toString();
    }

    public static String cut(String text, int limit) {
        return text.length() <= limit ? text : text.substring(0, Math.max(0, limit - 1)) + CUT;
    }

    /** Returns the text in lines of this width, broken at blanks if there are any; excess lines are omitted. */
    public static List<String> wrapped(String text, int columns, int limit) {
        List<String> lines = new ArrayList<>();
        for (String line : text.strip().split("\n")) {
            String rest = one(line.stripTrailing());
            while (rest.length() > columns) {
                int blank = rest.lastIndexOf(' ', columns);
                int end = blank > columns / 2 ? blank : columns;
                lines.add(rest.substring(0, end));
                rest = rest.substring(end).stripLeading();
            }
            if (!rest.isEmpty()) {
                lines.add(rest);
            }
            if (lines.size() > limit) {
                List<String> shown = new ArrayList<>(lines.subList(0, limit - 1));
                shown.add(CUT);
                return shown;
            }
        }
        return lines;
    }
}
