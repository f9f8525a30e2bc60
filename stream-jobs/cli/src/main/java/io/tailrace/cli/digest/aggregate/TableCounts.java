package io.tailrace.cli.digest.aggregate;

import io.tailrace.event.QueryEvent;
import java.util.List;

/**
 * Counts how often statements used each table. Statements of one class name the same tables, so most only add a weight.
 */
public final class TableCounts {

    private final NameCounts counts = new NameCounts();
    private List<String> read;
    private List<String> written;
    /** The same names in the lists of another parsing thread. */
    private List<String> readElsewhere;

    private List<String> writtenElsewhere;
    private String database;
    private List<String> tables = List.of();
    private double pending;

    void add(QueryEvent event, double weight) {
        if (!areSame(event.getTablesRead(), event.getTablesWritten())
                || !event.getDatabase().equals(database)) {
            settle();
            read = event.getTablesRead();
            written = event.getTablesWritten();
            database = event.getDatabase();
            tables = Grouping.tables(event);
        }
        pending += weight;
    }

    /**
     * A thread's fingerprinter returns the same lists for the same statement, so most comparisons need only their
     * identity.
     */
    private boolean areSame(List<String> otherRead, List<String> otherWritten) {
        if (otherRead == read && otherWritten == written
                || otherRead == readElsewhere && otherWritten == writtenElsewhere) {
            return true;
        }
        boolean equal = otherRead.equals(read) && otherWritten.equals(written);
        readElsewhere = equal ? otherRead : null;
        writtenElsewhere = equal ? otherWritten : null;
        return equal;
    }

    void addAll(TableCounts other) {
        counts.addAll(other.counts());
    }

    public NameCounts counts() {
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
