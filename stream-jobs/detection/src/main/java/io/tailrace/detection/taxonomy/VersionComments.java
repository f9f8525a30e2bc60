package io.tailrace.detection.taxonomy;

/**
 * Converts statements to the form that servers execute: the content of a version comment is code, so {@code /*!? drop
 * table t *}{@code /} is {@code drop table t}.
 */
final class VersionComments {

    private static final String REPEATED_UNION = "/*repeat union";

    private VersionComments() {}

    /** Returns whether a fingerprint contains version comments. */
    static boolean areIn(String fingerprint) {
        int at = fingerprint.indexOf("/*");
        while (at >= 0 && markEnd(fingerprint, at) < 0) {
            at = fingerprint.indexOf("/*", at + 2);
        }
        return at >= 0;
    }

    /** Returns the fingerprint without their marks. */
    static String removed(String fingerprint) {
        StringBuilder plain = new StringBuilder(fingerprint.length());
        boolean open = false;
        int i = 0;
        while (i < fingerprint.length()) {
            int mark = fingerprint.startsWith("/*", i) ? markEnd(fingerprint, i) : -1;
            boolean closes = open && fingerprint.startsWith("*/", i);
            if (mark >= 0 || closes) {
                open = mark >= 0;
                i = mark >= 0 ? mark : i + 2;
                if (!joins(fingerprint, i)) {
                    blank(plain);
                }
            } else {
                put(plain, fingerprint.charAt(i++));
            }
        }
        return plain.toString().strip();
    }

    /** Returns the index after {@code /*!?} or {@code /*m!}, or -1. */
    private static int markEnd(String text, int from) {
        if (text.startsWith(REPEATED_UNION, from)) {
            return -1;
        }
        int mark = text.startsWith("m", from + 2) ? from + 3 : from + 2;
        if (!text.startsWith("!", mark)) {
            return -1;
        }
        return text.startsWith("?", mark + 1) ? mark + 2 : mark + 1;
    }

    private static void blank(StringBuilder plain) {
        if (!endsWithBlank(plain)) {
            plain.append(' ');
        }
    }

    private static void put(StringBuilder plain, char c) {
        if (c != ' ' || !endsWithBlank(plain)) {
            plain.append(c);
        }
    }

    /**
     * Returns whether the text continues right after a comment without a blank, as the parenthesis of {@code /*!? sleep
     * *}{@code /(?)}.
     */
    private static boolean joins(String text, int at) {
        return at < text.length() && "(),".indexOf(text.charAt(at)) >= 0;
    }

    private static boolean endsWithBlank(StringBuilder plain) {
        return plain.length() == 0 || plain.charAt(plain.length() - 1) == ' ';
    }
}
