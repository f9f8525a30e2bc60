package io.tailrace.detection.stored;

import io.tailrace.detection.event.DatabaseField;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** The columns of each field of rules: the inverse of {@code DatabaseEventMapper}. */
final class FieldColumns {

    private static final List<String> STATEMENT = List.of("query_id", "rule_set", "verb");
    private static final List<String> CLIENT = List.of("host", "ip");
    private static final List<String> TABLES = List.of("database", "tables_read", "tables_written");
    private static final List<String> STATUS =
            List.of("event_class", "command", "event_name", "status", "flags", "error_code", "kind");
    /** The inputs of the data classes of an event. */
    private static final List<String> CLASSES = Stream.of(
                    STATEMENT, TABLES, List.of("tables_basis", "event_class", "command", "event_name", "flags"))
            .flatMap(List::stream)
            .toList();

    private static final Map<DatabaseField, List<String>> DIFFERENT = different();

    private static final Map<String, String> PREFIXES = Map.of(
            "attribute.", "attributes",
            "connection_attribute.", "connection_attributes",
            "detail.", "details",
            "tag.", "tags");

    private FieldColumns() {}

    private static Map<DatabaseField, List<String>> different() {
        Map<DatabaseField, List<String>> columns = new HashMap<>();
        columns.put(DatabaseField.TIMESTAMP, List.of("event_time"));
        columns.put(DatabaseField.LOGIN, List.of("event_class", "command", "event_name", "status", "flags", "kind"));
        columns.put(DatabaseField.OUTCOME, STATUS);
        columns.put(DatabaseField.STATUS, STATUS);
        columns.put(DatabaseField.ERROR_CODE, List.of("status", "error_code", "code"));
        columns.put(DatabaseField.HOST, CLIENT);
        columns.put(DatabaseField.SRC_IP, CLIENT);
        columns.put(DatabaseField.SRC_PORT, List.of("port"));
        columns.put(DatabaseField.CONNECTION_ID, List.of("connection_id", "thread_id"));
        columns.put(DatabaseField.PROGRAM, List.of("program_name"));
        columns.put(DatabaseField.TABLE, TABLES);
        columns.put(DatabaseField.TABLE_READ, TABLES);
        columns.put(DatabaseField.TABLE_WRITTEN, TABLES);
        columns.put(DatabaseField.TABLES_BASIS, List.of("tables_basis", "tables_read", "tables_written"));
        for (DatabaseField field : Set.of(
                DatabaseField.DATA_CLASS,
                DatabaseField.DATA_CLASS_READ,
                DatabaseField.DATA_CLASS_WRITTEN,
                DatabaseField.DATA_BASIS,
                DatabaseField.DATA_ACCESS)) {
            columns.put(field, CLASSES);
        }
        columns.put(DatabaseField.TARGET_ACCOUNT, List.of("accounts"));
        columns.put(DatabaseField.TARGET_USER, List.of("accounts"));
        columns.put(DatabaseField.STATEMENT, STATEMENT);
        columns.put(DatabaseField.PLAN_FLAG, List.of("plan_flags"));
        columns.put(DatabaseField.FLAG, List.of("flags"));
        return columns;
    }

    /** Returns the columns of a field, of which a table may lack some; empty if no event has the field. */
    static List<String> of(String field) {
        for (Map.Entry<String, String> prefix : PREFIXES.entrySet()) {
            if (field.startsWith(prefix.getKey())) {
                return List.of(prefix.getValue());
            }
        }
        return Arrays.stream(DatabaseField.values())
                .filter(known -> known.fieldName().equals(field))
                .findFirst()
                .map(known -> DIFFERENT.getOrDefault(known, List.of(field)))
                .orElse(List.of());
    }

    /** Returns those columns of a field that a table has. */
    static List<String> of(StoredTable table, String field) {
        List<String> known = table.columns();
        return of(field).stream().filter(known::contains).toList();
    }
}
