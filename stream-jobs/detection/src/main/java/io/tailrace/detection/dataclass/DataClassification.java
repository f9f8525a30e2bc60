package io.tailrace.detection.dataclass;

import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The data classes that an event touches, as fields of the event. */
final class DataClassification {

    /** The source of the table names. */
    enum Basis {
        /** The server logged the tables. */
        LOG,
        /** The tables were parsed from the statement. */
        STATEMENT,
        /** The tables are those of a view or routine. */
        RESOLVED,
        /** The event may touch more tables than are known. */
        UNKNOWN
    }

    static final DataClassification NOTHING = new DataClassification(Set.of(), Set.of(), EnumSet.noneOf(Basis.class));

    private final List<FieldValue> all;
    private final List<FieldValue> read;
    private final List<FieldValue> written;
    private final List<FieldValue> bases;
    private final List<FieldValue> access;

    DataClassification(Set<String> read, Set<String> written, Set<Basis> bases) {
        this.all = values(Stream.concat(read.stream(), written.stream()).toList());
        this.read = values(read);
        this.written = values(written);
        this.bases = values(bases.stream()
                .map(basis -> basis.name().toLowerCase(Locale.ROOT))
                .toList());
        this.access = bases.isEmpty()
                ? List.of()
                : List.of(FieldValue.of(bases.contains(Basis.UNKNOWN) ? "unknown" : "known"));
    }

    private static List<FieldValue> values(Collection<String> texts) {
        return new TreeSet<>(texts).stream().map(FieldValue::of).toList();
    }

    void enrich(DetectionEvent event) {
        event.enrich(DatabaseField.DATA_CLASS.fieldName(), all);
        event.enrich(DatabaseField.DATA_CLASS_READ.fieldName(), read);
        event.enrich(DatabaseField.DATA_CLASS_WRITTEN.fieldName(), written);
        event.enrich(DatabaseField.DATA_BASIS.fieldName(), bases);
        event.enrich(DatabaseField.DATA_ACCESS.fieldName(), access);
    }
}
