package io.tailrace.detection.detector.firstseen;

import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import java.util.List;

/**
 * Names the tables that an event accesses. Those of a dump are one value: it reads all tables, so the first dump of an
 * account is one new value, and each later statement about one of the tables is another one.
 */
public final class Dumps {

    /** The fingerprint of all statements of mysqldump and similar tools. */
    private static final String STATEMENT = "mysqldump";

    private static final List<FieldValue> ALL = List.of(FieldValue.of("all tables (dump)"));

    private Dumps() {}

    /** Returns whether the statement of an event is one of a dump. */
    static boolean contain(DetectionEvent event) {
        return STATEMENT.equals(DetectorEventFields.statement(event));
    }

    /** Returns the tables of an event; one value for those of a dump. */
    public static List<FieldValue> tables(DetectionEvent event) {
        List<FieldValue> tables = event.values("table");
        return tables.isEmpty() || !contain(event) ? tables : ALL;
    }
}
