package io.tailrace.cli.terminal;

/** Escapes texts from logs and servers, so that they cannot control a terminal. The only owner of this rule. */
public final class TerminalSanitizer {

    private TerminalSanitizer() {}

    /**
     * Returns the text with control characters, line feeds and tabs included, and those that change the direction of
     * writing, as {@code \\uNNNN}. A character above U+FFFF is two such escapes, as in JSON.
     */
    public static String text(String text) {
        return except(text, "");
    }

    /** Returns the same for a text of several lines: line feeds and tabs are unchanged. */
    public static String lines(String text) {
        return except(text, "\n\t");
    }

    private static String except(String text, String safe) {
        if (text.codePoints().noneMatch(c -> isUnsafe(c) && safe.indexOf(c) < 0)) {
            return text;
        }
        StringBuilder out = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(c -> {
            if (isUnsafe(c) && safe.indexOf(c) < 0) {
                escape(c, out);
            } else {
                out.appendCodePoint(c);
            }
        });
        return out.toString();
    }

    /** Appends the escape of a character. */
    public static void escape(int c, StringBuilder out) {
        for (char unit : Character.toChars(c)) {
            out.append(String.format("\\u%04x", (int) unit));
        }
    }

    /** Returns whether a terminal may obey the character, or show others in another order because of it. */
    public static boolean isUnsafe(int c) {
        int type = Character.getType(c);
        return type == Character.CONTROL
                || type == Character.FORMAT
                || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR
                || type == Character.SURROGATE;
    }
}
