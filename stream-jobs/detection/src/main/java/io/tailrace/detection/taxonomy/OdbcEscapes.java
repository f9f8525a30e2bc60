package io.tailrace.detection.taxonomy;

/**
 * Converts statements to the form that servers execute: they ignore the braces and the name of an ODBC escape, so
 * {@code select a from{x t}} is {@code select a from t}.
 */
final class OdbcEscapes {

    private OdbcEscapes() {}

    /** Returns the fingerprint without the braces and names of its escapes. */
    static String removed(String fingerprint) {
        if (fingerprint.indexOf('{') < 0) {
            return fingerprint;
        }
        StringBuilder plain = new StringBuilder(fingerprint.length());
        int i = 0;
        while (i < fingerprint.length()) {
            char c = fingerprint.charAt(i);
            if (c == '`') {
                int end = nameEnd(fingerprint, i);
                plain.append(fingerprint, i, end);
                i = end;
            } else if (c == '{') {
                i = afterBlanks(fingerprint, nameEnd(fingerprint, afterBlanks(fingerprint, i + 1)));
                separate(plain, fingerprint, i);
            } else if (c == '}') {
                i++;
                separate(plain, fingerprint, i);
            } else {
                plain.append(c);
                i++;
            }
        }
        return plain.toString();
    }

    private static int afterBlanks(String text, int from) {
        int i = from;
        while (i < text.length() && text.charAt(i) == ' ') {
            i++;
        }
        return i;
    }

    /** Returns the index after the name at the index, which may be in backticks. */
    private static int nameEnd(String text, int from) {
        if (text.startsWith("`", from)) {
            int end = from + 1;
            while (end < text.length() && (text.charAt(end) != '`' || text.startsWith("``", end))) {
                end += text.charAt(end) == '`' ? 2 : 1;
            }
            return Math.min(end + 1, text.length());
        }
        int end = from;
        while (end < text.length() && isWord(text.charAt(end))) {
            end++;
        }
        return end;
    }

    private static boolean isWord(char c) {
        return c == '_' || c == '$' || c == '?' || c >= 0x80 || Character.isLetterOrDigit(c);
    }

    /** Writes a blank if two words would be joined without the brace. */
    private static void separate(StringBuilder plain, String text, int next) {
        boolean before = plain.length() > 0 && isWord(plain.charAt(plain.length() - 1));
        if (before && next < text.length() && (isWord(text.charAt(next)) || text.charAt(next) == '`')) {
            plain.append(' ');
        }
    }
}
