package io.tailrace.detection.event;

/** Folds case as Sigma's comparisons require: character by character, so that a text keeps its length. */
public final class CaseFolding {

    private static final int ASCII = 128;

    private CaseFolding() {}

    public static char fold(char c) {
        if (c < ASCII) {
            return c >= 'A' && c <= 'Z' ? (char) (c + ('a' - 'A')) : c;
        }
        return Character.toLowerCase(Character.toUpperCase(c));
    }

    /** Returns the folded text; the same object if nothing changes. */
    public static String fold(String text) {
        int length = text.length();
        int same = 0;
        while (same < length && fold(text.charAt(same)) == text.charAt(same)) {
            same++;
        }
        return same == length ? text : foldFrom(text, same);
    }

    private static String foldFrom(String text, int from) {
        char[] folded = text.toCharArray();
        for (int i = from; i < folded.length; i++) {
            folded[i] = fold(folded[i]);
        }
        return new String(folded);
    }
}
