package io.tailrace.cli.plan;

import java.util.ArrayList;
import java.util.List;

/** Wraps long texts. */
final class LineWrapper {

    /** Longer texts, such as a condition with a thousand names, are truncated. */
    private static final int MAX_LINES = 6;

    private LineWrapper() {}

    /** Returns the text in lines of at most this width, broken at blanks if there are any. */
    static List<String> lines(String text, int width) {
        List<String> lines = new ArrayList<>();
        int from = 0;
        while (text.length() - from > width) {
            if (lines.size() == MAX_LINES - 1) {
                lines.add(text.substring(from, from + width - 1) + "…");
                return lines;
            }
            int blank = text.lastIndexOf(' ', from + width);
            int to = blank > from + width / 2 ? blank : from + width;
            lines.add(text.substring(from, to));
            from = text.startsWith(" ", to) ? to + 1 : to;
        }
        lines.add(text.substring(from));
        return lines;
    }
}
