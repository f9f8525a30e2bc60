package io.tailrace.detection.taxonomy;

/**
 * Removes the settings before a statement of MariaDB: {@code set statement a=? for select ?} runs {@code select ?}. A
 * name that ends with {@code for}, such as {@code @wait_for}, does not end the settings.
 */
final class StatementSettings {

    private static final String BEGINNING = "set statement ";
    private static final String FOR = "for";

    private StatementSettings() {}

    /** Returns the statement that a fingerprint runs; the same text if it does not begin with settings. */
    static String removed(String fingerprint) {
        if (!fingerprint.startsWith(BEGINNING)) {
            return fingerprint;
        }
        int at = BEGINNING.length();
        while (at < fingerprint.length()) {
            int end = wordEnd(fingerprint, at);
            if (isFor(fingerprint, at, end) && end < fingerprint.length()) {
                return fingerprint.substring(end).stripLeading();
            }
            at = Math.max(end, at + 1);
        }
        return fingerprint;
    }

    /** A literal and the word touch if a comment or nothing was between them. */
    private static boolean isFor(String fingerprint, int from, int end) {
        int word = end - FOR.length();
        return fingerprint.startsWith(FOR, word)
                && (word == from || word == from + 1 && fingerprint.charAt(from) == '?');
    }

    /** Returns the index after a name with its quoted parts, or after a word. */
    private static int wordEnd(String fingerprint, int from) {
        int at = from;
        while (at < fingerprint.length() && isOfWord(fingerprint.charAt(at))) {
            int quote = fingerprint.charAt(at) == '`' ? fingerprint.indexOf('`', at + 1) : at;
            at = quote < 0 ? fingerprint.length() : quote + 1;
        }
        return at;
    }

    private static boolean isOfWord(char c) {
        return Character.isLetterOrDigit(c) || "_$@.?`".indexOf(c) >= 0;
    }
}
