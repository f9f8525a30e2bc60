package io.tailrace.cli.backtest;

import io.tailrace.detection.stored.StoredTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** Divides a period into slices with a bounded number of events, because the limits of readers apply to each query. */
final class EventSlices {

    /** Events of a slice; more only if one second has more. Two slices are in memory of the server at a time. */
    private static final long MAX_EVENTS = 100_000;

    private static final long MICROS = 1_000_000;
    /** Lengths of intervals in seconds: an hour with too many events is divided. */
    private static final int[] INTERVALS = {3600, 60, 1};

    private static final int COLUMNS = 3;

    private final EventStore store;
    private final List<EventQuery> queries;
    private final List<Period> slices = new ArrayList<>();
    private final Map<StoredTable, Long> storedByTable = new EnumMap<>(StoredTable.class);
    private long first = Long.MAX_VALUE;

    private EventSlices(EventStore store, List<EventQuery> queries) {
        this.store = store;
        this.queries = queries;
    }

    /** Counts the events of a period. */
    static EventSlices of(EventStore store, List<EventQuery> queries, Period period) throws IOException {
        EventSlices slices = new EventSlices(store, queries);
        slices.divide(period, 0);
        return slices;
    }

    private void divide(Period period, int level) throws IOException {
        long length = INTERVALS[level] * MICROS;
        long from = period.from();
        long to = period.from();
        long events = 0;
        for (Map.Entry<Long, Long> interval : counts(period, level).entrySet()) {
            long start = Math.max(period.from(), interval.getKey());
            long end = Math.min(period.to(), interval.getKey() + length);
            long count = interval.getValue();
            if (level == 0) {
                first = Math.min(first, start);
            }
            boolean isLarge = count > MAX_EVENTS && level + 1 < INTERVALS.length;
            if (events > 0 && (isLarge || events + count > MAX_EVENTS)) {
                slices.add(period.between(from, to));
                events = 0;
            }
            if (isLarge) {
                divide(period.between(start, end), level + 1);
            } else {
                from = events == 0 ? start : from;
                events += count;
            }
            to = end;
        }
        if (events > 0) {
            slices.add(period.between(from, to));
        }
    }

    /** Returns the numbers of events to read by the start of their interval. */
    private NavigableMap<Long, Long> counts(Period period, int level) throws IOException {
        NavigableMap<Long, Long> counts = new TreeMap<>();
        for (EventQuery query : queries) {
            for (String[] row : store.rows(query.counts(period, INTERVALS[level]))) {
                if (row.length == COLUMNS) {
                    if (level == 0) {
                        storedByTable.merge(query.table(), Long.parseLong(row[1]), Long::sum);
                    }
                    counts.merge(Long.parseLong(row[0]) * MICROS, Long.parseLong(row[2]), Long::sum);
                }
            }
        }
        return counts;
    }

    /** Returns the slices that contain events to read, in the order of their times. */
    List<Period> slices() {
        return List.copyOf(slices);
    }

    /** Returns the numbers of events of the period, by the tables that are read. */
    Map<StoredTable, Long> stored() {
        return storedByTable;
    }

    /** Returns the start of the first interval with events, microseconds since 1970 UTC; the largest number if none. */
    long first() {
        return first;
    }
}
