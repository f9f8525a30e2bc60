package io.tailrace.cli.plan;

/** Escapes names and messages from a server, so that they cannot control a terminal. */
final class TerminalSanitizer {

    private TerminalSanitizer() {}

    /** Returns the text with control characters, and those that change the direction of writing, as {@code \\uNNNN}. */
    static String text(String text) {
        if (text.codePoints().noneMatch(TerminalSanitizer::isUnsafe)) {
            return text;
        }
        StringBuilder out = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(c -> {
            if (isUnsafe(c)) {
                out.append(String.format("\\u%04x", c));
            } else {
                out.appendCodePoint(c);
            }
        });
        return out.toString();
    }

    private static boolean isUnsafe(int c) {
        int type = Character.getType(c);
        return type == Character.CONTROL
                || type == Character.FORMAT
                || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR
                || type == Character.SURROGATE;
    }
}
