package io.tailrace.flink.clickhouse;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The target table of a block of RowBinary rows, and its columns in the order of their values.
 *
 * <p>Each block is stored with its layout as {@link #text()}, so that a later version of the job inserts a block of a
 * checkpoint with the columns with which it was encoded.
 *
 * @param table name with its database, such as {@code tailrace.ledger}
 */
record RowLayout(String table, List<Column> columns) {

    /**
     * One column.
     *
     * @param type the ClickHouse type of the encoded values, without LowCardinality, which has the same encoding
     */
    record Column(String name, String type) {}

    RowLayout {
        columns = List.copyOf(columns);
    }

    /** Returns one line for the table, then one per column: name, space, type. */
    String text() {
        return columns.stream()
                .map(column -> column.name() + ' ' + column.type())
                .collect(Collectors.joining("\n", table + "\n", ""));
    }

    /** Parses the {@link #text()} of a layout. */
    static RowLayout parse(String text) {
        String[] lines = text.split("\n");
        List<Column> columns = new ArrayList<>(lines.length - 1);
        for (int i = 1; i < lines.length; i++) {
            int space = lines[i].indexOf(' ');
            columns.add(new Column(lines[i].substring(0, space), lines[i].substring(space + 1)));
        }
        return new RowLayout(lines[0], columns);
    }

    /** Returns the statement that inserts rows of this layout. */
    String insertStatement() {
        return columns.stream()
                .map(column -> '`' + column.name() + '`')
                .collect(Collectors.joining(",", "INSERT INTO " + table + " (", ") FORMAT RowBinary"));
    }
}
