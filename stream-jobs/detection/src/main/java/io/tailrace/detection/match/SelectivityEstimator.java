package io.tailrace.detection.match;

import java.util.Set;

/** Estimates how rare a text is in the values of events, so that few rules are evaluated without a match. */
public final class SelectivityEstimator {

    /** Common words of statements and of the fields of their events; folded. */
    private static final Set<String> EVERYDAY = Set.of(
            "select", "insert", "update", "delete", "replace", "from", "where", "and", "or", "not", "in", "is", "null",
            "order", "group", "having", "by", "asc", "desc", "limit", "set", "into", "values", "join", "left", "on",
            "as", "id", "case", "when", "if", "like", "count", "sum", "min", "max", "call", "show", "query", "execute",
            "success");

    private SelectivityEstimator() {}

    /**
     * Returns the estimate. Long texts are rare; spaces do not count, and a common word counts as one character.
     *
     * @param text folded
     * @return 0 for the empty text only
     */
    public static int of(String text) {
        int rarity = 0;
        int at = 0;
        while (at < text.length()) {
            int end = wordEnd(text, at);
            if (end > at) {
                rarity += EVERYDAY.contains(text.substring(at, end)) ? 1 : end - at;
                at = end;
            } else {
                rarity += text.charAt(at++) == ' ' ? 0 : 1;
            }
        }
        return text.isEmpty() ? 0 : Math.max(1, rarity);
    }

    private static int wordEnd(String text, int from) {
        int end = from;
        while (end < text.length() && Character.isLetterOrDigit(text.charAt(end))) {
            end++;
        }
        return end;
    }
}
