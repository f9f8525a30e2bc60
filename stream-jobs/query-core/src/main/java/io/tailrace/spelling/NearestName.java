package io.tailrace.spelling;

import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;

/** Finds the known name that is most similar to a misspelt one. */
public final class NearestName {

    private NearestName() {}

    /** Returns the first of the known names with the fewest changes; empty if no name is known. */
    public static Optional<String> of(String given, Stream<String> known) {
        return known.min(Comparator.comparingInt(name -> changes(given, name)));
    }

    /** Returns the Levenshtein distance: the number of characters to replace, add or remove. */
    public static int changes(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }
}
