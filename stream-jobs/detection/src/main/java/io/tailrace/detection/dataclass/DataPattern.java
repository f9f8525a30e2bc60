package io.tailrace.detection.dataclass;

import io.tailrace.detection.event.FieldValue;

/**
 * A pattern for tables, or for columns of tables.
 *
 * @param column null: all columns
 */
record DataPattern(NamePattern database, NamePattern table, NamePattern column) {

    /** @param databaseName empty if it is unknown: any database may be meant */
    boolean covers(FieldValue databaseName, FieldValue tableName) {
        return table.matches(tableName) && (databaseName.text().isEmpty() || database.matches(databaseName));
    }

    /**
     * Returns whether the pattern covers a table that it {@linkplain #covers covers} in whatever database the table is.
     *
     * @param databaseName empty if it is unknown
     */
    boolean coversCertainly(FieldValue databaseName) {
        return !databaseName.text().isEmpty() || database.written().chars().allMatch(c -> c == '*');
    }

    /**
     * Returns whether the pattern identifies the tables that have the column; a pattern for a column of any table does
     * not.
     */
    boolean namesTables() {
        return table.written().chars().anyMatch(c -> c != '*' && c != '?');
    }

    boolean isOfColumns() {
        return column != null;
    }
}
