package io.tailrace.detection.taxonomy;

import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.rule.FieldMapping;
import io.tailrace.spelling.NearestName;
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
        return NearestName.of(name, DatabaseField.allNames()).orElseThrow();
    }

    @Override
    public boolean isSentence(LogSource source, String name) {
        return isDatabase(source)
                && DatabaseField.named(name)
                        .filter(DatabaseField.MESSAGE::equals)
                        .isPresent();
    }
}
