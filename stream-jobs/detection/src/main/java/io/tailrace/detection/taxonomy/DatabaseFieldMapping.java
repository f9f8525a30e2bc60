package io.tailrace.detection.taxonomy;

import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.FieldMapping;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Restricts rules for database logs to their fields. Rules for other logs may use any field. */
public final class DatabaseFieldMapping implements FieldMapping {

    private static final Set<String> PRODUCTS = Set.of("mysql", "mariadb", "percona");

    /** Returns whether a rule for these logs applies to the events of this project. */
    public static boolean isDatabase(LogSource source) {
        return "database".equalsIgnoreCase(source.category())
                || PRODUCTS.contains(source.product().toLowerCase(Locale.ROOT));
    }

    @Override
    public Optional<String> resolve(LogSource source, String name) {
        if (!isDatabase(source) || DatabaseField.PREFIXES.stream().anyMatch(name::startsWith)) {
            return Optional.of(name);
        }
        return DatabaseField.named(name).map(DatabaseField::fieldName);
    }

    @Override
    public String nearest(String name) {
        return DatabaseField.allNames()
                .min(Comparator.comparingInt(known -> distance(known, name)))
                .orElseThrow();
    }

    @Override
    public boolean isSentence(LogSource source, String name) {
        return isDatabase(source)
                && DatabaseField.named(name)
                        .filter(DatabaseField.MESSAGE::equals)
                        .isPresent();
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
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }
}
