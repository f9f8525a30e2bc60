package io.tailrace.cli.backtest;

import io.tailrace.detection.stored.StoredTable;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What a backtest reads of one table.
 *
 * @param columns columns that rules, actions and alerts need, in the order of the schema
 * @param scanned columns that the conditions of rules need; empty if every event is needed
 * @param filter condition in SQL that every event which a rule can match fulfils; empty: all rows
 */
record EventQuery(StoredTable table, List<String> columns, List<String> scanned, String filter) {

    /** Ties are broken by the place in the log, so that two runs read the same order. */
    private static final String ORDER = " ORDER BY event_time, instance, source, log, generation, entry_offset";

    EventQuery filtered(String condition) {
        return new EventQuery(table, columns, scanned, condition);
    }

    private String where(Period period) {
        return " FROM " + table.table() + " WHERE " + period.condition();
    }

    private String filteredWhere(Period period) {
        return where(period) + (filter.isEmpty() ? "" : " AND " + filter);
    }

    /** Returns the query for the columns of the conditions, in any order. */
    String scan(Period slice) {
        return "SELECT " + quoted(scanned) + filteredWhere(slice) + " FORMAT RowBinary";
    }

    /** Returns the query for some events. */
    EventQuery withIds(List<String> ids) {
        String among = ids.stream().map(EventStore::quoted).collect(Collectors.joining(", ", "event_id IN (", ")"));
        return filtered(filter.isEmpty() ? among : filter + " AND " + among);
    }

    /** Returns the query for the events of a slice in the order of their times. */
    String events(Period slice) {
        return "SELECT " + quoted(columns) + filteredWhere(slice) + ORDER + " FORMAT RowBinary";
    }

    /** Returns the query for the statements of a slice. */
    String statements(Period slice) {
        return "SELECT query_id, rule_set, anyLast(fingerprint) FROM tailrace.fingerprints WHERE query_id IN (SELECT"
                + " query_id" + filteredWhere(slice) + ") GROUP BY query_id, rule_set FORMAT RowBinary";
    }

    /** Returns the query for the numbers of stored and of read events by intervals of this many seconds. */
    String counts(Period period, int seconds) {
        String read = filter.isEmpty() ? "count()" : "countIf(" + filter + ")";
        return "SELECT intDiv(toUnixTimestamp(event_time), " + seconds + ") * " + seconds + " AS start, count(), "
                + read + where(period) + " GROUP BY start ORDER BY start";
    }

    /** Returns the query for the distinct values of some columns, at most {@code limit} rows. */
    String distinct(Period period, List<String> names, int limit) {
        return "SELECT DISTINCT " + quoted(names) + where(period) + " LIMIT " + limit + " FORMAT RowBinary";
    }

    /** Returns the query for the statements of a period, at most {@code limit} rows. */
    String statements(Period period, int limit) {
        return statements(period).replace(" FORMAT RowBinary", " LIMIT " + limit + " FORMAT RowBinary");
    }

    private static String quoted(List<String> names) {
        return names.stream().map(name -> '`' + name + '`').collect(Collectors.joining(", "));
    }
}
