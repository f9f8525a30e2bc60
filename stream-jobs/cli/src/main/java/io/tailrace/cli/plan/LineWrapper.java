package io.tailrace.cli.plan;

import java.util.ArrayList;
import java.util.List;

/** Long texts on several lines. */
final class LineWrapper {

    /** A condition of a thousand names is not read by anybody. */
    private static final int MAX_LINES = 6;

    private LineWrapper() {}

    /** The text in lines of at most this many characters, broken at blanks where there are any. */
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
