package io.tailrace.detection.index;

/**
 * The rules that recent texts make candidates. A text that is evicted is only searched again. Texts are compared, not
 * hashes, so no text gets the rules of another. Memory: at most two megabytes. Not thread-safe.
 */
final class RecentTexts {

    private static final int PLACES = 1 << 10;
    /** Number of places per text, so that two texts that alternate do not evict each other. */
    private static final int WAYS = 4;
    /** Longer texts are rare, and would need much memory. */
    private static final int MAX_LENGTH = 1024;

    private final String[] texts = new String[PLACES];
    private final int[][] rules = new int[PLACES][];
    private int victim;

    /** Returns the rules of a text; null if they are not known. */
    int[] get(String text) {
        int first = first(text);
        for (int place = first; place < first + WAYS; place++) {
            if (text.equals(texts[place])) {
                return rules[place];
            }
        }
        return null;
    }

    /** Remembers the rules of a text that is not known. */
    void put(String text, int[] found) {
        if (text.length() <= MAX_LENGTH) {
            victim = (victim + 1) % WAYS;
            int place = first(text) + victim;
            texts[place] = text;
            rules[place] = found;
        }
    }

    private static int first(String text) {
        int hash = text.hashCode();
        return (hash ^ hash >>> Short.SIZE) & PLACES - WAYS;
    }
}
