package io.tailrace.detection.dataclass;

import io.tailrace.detection.event.FieldValue;

/**
 * Tables, or columns of them.
 *
 * @param column null: all columns
 */
record DataPattern(NamePattern database, NamePattern table, NamePattern column) {

    /** @param databaseName empty where it is unknown: any may be meant */
    boolean covers(FieldValue databaseName, FieldValue tableName) {
        return table.matches(tableName) && (databaseName.text().isEmpty() || database.matches(databaseName));
    }

    /** It says which tables have the column; a pattern for a column of any table does not. */
    boolean namesTables() {
        return table.written().chars().anyMatch(c -> c != '*' && c != '?');
    }

    boolean isOfColumns() {
        return column != null;
    }
}
