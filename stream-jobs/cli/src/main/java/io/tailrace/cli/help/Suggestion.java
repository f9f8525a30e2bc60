package io.tailrace.cli.help;

import io.tailrace.spelling.NearestName;
import java.util.Collection;
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
        return NearestName.of(given, known.stream())
                .filter(name ->
                        NearestName.changes(given, name) <= MAX_CHANGED * Math.max(given.length(), name.length()));
    }
}
