package io.tailrace.cli.help;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds the known name that a misspelt one is meant to be. */
public final class Suggestion {

    /** Maximum number of changed characters, as a fraction of the longer name. */
    private static final double MAX_CHANGED = 0.4;

    private Suggestion() {}

    /** Returns the message for a name that does not exist; {@code what} is subcommand or option. */
    public static String unknown(String what, String given, Collection<String> known) {
        return "there is no " + what + " '" + given + "'"
                + nearest(given, known)
                        .map(name -> "; did you mean '" + name + "'?")
                        .orElse("");
    }

    private static Optional<String> nearest(String given, Collection<String> known) {
        return known.stream()
                .min(Comparator.comparingInt(name -> distance(given, name)))
                .filter(name -> distance(given, name) <= MAX_CHANGED * Math.max(given.length(), name.length()));
    }

    /** Returns the Levenshtein distance. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int changed = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(changed, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }
}
