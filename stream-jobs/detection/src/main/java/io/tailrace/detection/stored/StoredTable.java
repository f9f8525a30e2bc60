package io.tailrace.detection.stored;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.avro.Schema;
import org.apache.avro.specific.SpecificRecordBase;

/** A table of events, and the columns of the fields of its events. */
public enum StoredTable {
    QUERY_EVENTS("tailrace.query_events", QueryEvent.getClassSchema(), List.of("slowlog")),
    AUDIT_EVENTS("tailrace.audit_events", AuditEvent.getClassSchema(), List.of("audit", "general")),
    ERROR_EVENTS("tailrace.error_events", ErrorEvent.getClassSchema(), List.of("errorlog"));

    /** Columns that identify an event and its place in the order of its log. */
    static final List<String> ALWAYS =
            List.of("event_id", "event_time", "instance", "source", "log", "generation", "entry_offset");

    /** Columns that identify an event and its kind of log. */
    private static final List<String> SCANNED = List.of("event_id", "source");

    private static final String PROPERTY = "clickhouse";
    private static final String NO_COLUMN = "none";

    private final String table;
    private final Schema schema;
    private final List<String> services;

    StoredTable(String table, Schema schema, List<String> services) {
        this.table = table;
        this.schema = schema;
        this.services = services;
    }

    /** Returns the name of the table with its database. */
    public String table() {
        return table;
    }

    /** Returns the kinds of logs whose events the table contains: the values of its column {@code source}. */
    public List<String> services() {
        return services;
    }

    public Schema schema() {
        return schema;
    }

    /** Returns all columns from which the fields of events are derived, in the order of the schema. */
    public List<String> columns() {
        return schema.getFields().stream()
                .filter(field -> !NO_COLUMN.equals(field.getObjectProp(PROPERTY)))
                .map(Schema.Field::name)
                .toList();
    }

    /**
     * Returns the columns from which these fields of rules are derived, with those for the order of events, in the order
     * of the schema.
     */
    public List<String> columns(Set<String> fields) {
        return columns(fields, ALWAYS);
    }

    /** Returns the columns that suffice to evaluate conditions on these fields, in the order of the schema. */
    public List<String> scannedColumns(Set<String> fields) {
        return columns(fields, SCANNED);
    }

    private List<String> columns(Set<String> fields, List<String> others) {
        Set<String> wanted = fields.stream()
                .flatMap(field -> FieldColumns.of(this, field).stream())
                .collect(Collectors.toCollection(TreeSet::new));
        wanted.addAll(others);
        return columns().stream().filter(wanted::contains).toList();
    }

    /** Returns whether the values of some columns determine a field of every event, or that events lack it. */
    public boolean isDetermined(String field, Collection<String> columns) {
        return columns.containsAll(FieldColumns.of(this, field));
    }

    /** Returns whether the table stores the statements of its events by their {@code query_id}. */
    public boolean hasStatements() {
        return this != ERROR_EVENTS;
    }

    SpecificRecordBase newRecord() {
        return switch (this) {
            case QUERY_EVENTS -> new QueryEvent();
            case AUDIT_EVENTS -> new AuditEvent();
            case ERROR_EVENTS -> new ErrorEvent();
        };
    }
}
