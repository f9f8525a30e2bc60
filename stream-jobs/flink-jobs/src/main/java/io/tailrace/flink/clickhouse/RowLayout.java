package io.tailrace.flink.clickhouse;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Which table a block of RowBinary rows is for, and its columns in the order of their values.
 *
 * <p>A layout travels and is stored with its block as {@link #text()}, so that a block in a checkpoint is posted
 * as what it was encoded as, also by a later version of the job.
 *
 * @param table with its database, such as {@code tailrace.ledger}
 */
record RowLayout(String table, List<Column> columns) {

    /**
     * One column.
     *
     * @param type the ClickHouse type that the values are encoded as, without LowCardinality, which has the same
     *     encoding
     */
    record Column(String name, String type) {}

    RowLayout {
        columns = List.copyOf(columns);
    }

    /** One line for the table, then one per column: name, space, type. */
    String text() {
        return columns.stream()
                .map(column -> column.name() + ' ' + column.type())
                .collect(Collectors.joining("\n", table + "\n", ""));
    }

    /** The layout whose {@link #text()} this is. */
    static RowLayout parse(String text) {
        String[] lines = text.split("\n");
        List<Column> columns = new ArrayList<>(lines.length - 1);
        for (int i = 1; i < lines.length; i++) {
            int space = lines[i].indexOf(' ');
            columns.add(new Column(lines[i].substring(0, space), lines[i].substring(space + 1)));
        }
        return new RowLayout(lines[0], columns);
    }

    /** The statement that inserts rows of this layout. */
    String insertStatement() {
        return columns.stream()
                .map(column -> '`' + column.name() + '`')
                .collect(Collectors.joining(",", "INSERT INTO " + table + " (", ") FORMAT RowBinary"));
    }
}
