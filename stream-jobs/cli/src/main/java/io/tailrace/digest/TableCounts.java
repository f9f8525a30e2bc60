package io.tailrace.digest;

import io.tailrace.event.QueryEvent;
import java.util.List;

/** How often statements used each table. Statements of one class name the same tables, so most only add a weight. */
final class TableCounts {

    private final NameCounts counts = new NameCounts();
    private List<String> read;
    private List<String> written;
    private String database;
    private List<String> tables = List.of();
    private double pending;

    void add(QueryEvent event, double weight) {
        // The fingerprinter gives the same lists for the same statement, so that comparing them needs no look inside.
        boolean same = event.getTablesRead() == read
                && event.getTablesWritten() == written
                && event.getDatabase().equals(database);
        if (!same) {
            settle();
            read = event.getTablesRead();
            written = event.getTablesWritten();
            database = event.getDatabase();
            tables = Grouping.tables(event);
        }
        pending += weight;
    }

    void addAll(TableCounts other) {
        counts.addAll(other.counts());
    }

    NameCounts counts() {
        settle();
        return counts;
    }

    private void settle() {
        for (String table : pending > 0 ? tables : List.<String>of()) {
            counts.add(table, pending);
        }
        pending = 0;
    }
}
