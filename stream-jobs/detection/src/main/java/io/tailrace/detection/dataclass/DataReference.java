package io.tailrace.detection.dataclass;

/**
 * A table or column that a view or routine reads or writes.
 *
 * @param column empty: any column of the table
 */
record DataReference(String database, String table, String column) {}
