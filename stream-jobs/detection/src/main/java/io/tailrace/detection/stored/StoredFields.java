package io.tailrace.detection.stored;

import io.tailrace.detection.detector.DetectorType;
import io.tailrace.detection.detector.StatefulDetector;
import io.tailrace.detection.event.DatabaseField;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** Decides whether stored events contain all that a rule or a detector needs. */
public final class StoredFields {

    /** Fields of the stream that no table has. */
    private static final TreeSet<String> UNSTORED = unstored();

    /** What a detector needs apart from events with stored fields, by its type. */
    private static final Map<DetectorType, String> NEEDS = Map.of(
            DetectorType.COVERAGE, "it reads the census, not events",
            DetectorType.COVERAGE_GAP, "it reads the ledger, not events",
            DetectorType.PLAN_SLOWER, "it reads changes of plans, not events",
            DetectorType.SIGNED_RANGE, "it reads signed ranges, not events",
            DetectorType.PRIVILEGE_CHAIN, notStored(DatabaseField.TARGET_USER.fieldName()));

    private StoredFields() {}

    private static TreeSet<String> unstored() {
        TreeSet<String> names = new TreeSet<>();
        for (DatabaseField field : DatabaseField.values()) {
            boolean hasColumn = false;
            for (StoredTable table : StoredTable.values()) {
                hasColumn |= !FieldColumns.of(table, field.fieldName()).isEmpty();
            }
            if (!hasColumn) {
                names.add(field.fieldName());
            }
        }
        return names;
    }

    /** Returns the names of the fields that events of the stream have and stored events do not. */
    public static TreeSet<String> unstoredFields() {
        return new TreeSet<>(UNSTORED);
    }

    /** Returns why rules with these fields cannot be judged by stored events; empty if they can. */
    public static Optional<String> obstacle(RuleFields fields) {
        TreeSet<String> missing = new TreeSet<>(fields.names());
        missing.retainAll(UNSTORED);
        if (!missing.isEmpty()) {
            return Optional.of(notStored(String.join(", ", missing)));
        }
        return fields.every()
                ? Optional.of("it searches every field, and " + notStored(String.join(", ", UNSTORED)))
                : Optional.empty();
    }

    /** Returns why a detector cannot be judged by stored events; empty if it can. */
    public static Optional<String> obstacle(StatefulDetector detector) {
        return NEEDS.entrySet().stream()
                .filter(need -> need.getKey().key().equals(detector.header().name()))
                .map(Map.Entry::getValue)
                .findFirst();
    }

    private static String notStored(String fields) {
        return fields + (fields.contains(",") ? " are not stored" : " is not stored");
    }
}
