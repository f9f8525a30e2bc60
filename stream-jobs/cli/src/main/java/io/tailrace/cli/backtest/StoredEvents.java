package io.tailrace.cli.backtest;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.stored.StoredEventDecoder;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Reads the events of all tables in the order of their times, slice by slice. The queries of the next slice run while the
 * events of one are evaluated.
 */
final class StoredEvents {

    /** With more matches in a slice, all of its events are read. */
    private static final int MAX_IDS = 5_000;

    private final EventStore store;
    private final List<EventQuery> queries;
    private final MatchScan scan;
    private long scanned;
    private long events;
    private long statementsMissing;

    /** @param scan finds the events of queries with scanned columns */
    StoredEvents(EventStore store, List<EventQuery> queries, MatchScan scan) {
        this.scan = scan;
        this.store = store;
        this.queries = queries;
    }

    /** Passes the events of slices, which must be in the order of their times. */
    void read(List<Period> slices, Consumer<DetectionEvent> consumer, Consumer<Period> sliceEnd) throws IOException {
        List<Started> next = slices.isEmpty() ? null : start(slices.get(0));
        for (int i = 0; i < slices.size(); i++) {
            List<Started> current = next;
            next = i + 1 < slices.size() ? start(slices.get(i + 1)) : null;
            slice(current, slices.get(i), consumer);
            sliceEnd.accept(slices.get(i));
        }
    }

    /** The running queries of one table in a slice; the statements are null if they are not needed. */
    private record Started(
            EventQuery query,
            CompletableFuture<EventStore.Result> events,
            CompletableFuture<EventStore.Result> statements) {

        Statements texts() throws IOException {
            return statements == null ? Statements.NONE : Statements.read(statements);
        }
    }

    /** Starts the scans of the tables, or the queries of all their events. */
    private List<Started> start(Period slice) {
        return queries.stream()
                .map(query -> query.scanned().isEmpty()
                        ? start(query, slice)
                        : start(query, query.scanned(), query.scan(slice), slice))
                .toList();
    }

    private Started start(EventQuery query, Period slice) {
        return start(query, query.columns(), query.events(slice), slice);
    }

    private Started start(EventQuery query, List<String> columns, String events, Period slice) {
        boolean needsStatements = columns.contains("rule_set");
        CompletableFuture<EventStore.Result> texts = needsStatements ? store.start(query.statements(slice)) : null;
        return new Started(query, store.start(events), texts);
    }

    private void slice(List<Started> started, Period slice, Consumer<DetectionEvent> consumer) throws IOException {
        List<Started> complete = new ArrayList<>();
        for (Started table : started) {
            if (table.query().scanned().isEmpty()) {
                complete.add(table);
            } else {
                matching(table).ifPresent(query -> complete.add(start(query, slice)));
            }
        }
        List<Source> sources = new ArrayList<>();
        try {
            for (Started table : complete) {
                Statements statements = table.texts();
                sources.add(new Source(table.query(), EventStore.await(table.events()), statements));
            }
            merge(sources, consumer);
        } finally {
            for (Source source : sources) {
                source.close();
            }
        }
    }

    /** Returns the query of the events that match a rule; empty if there are none. */
    private Optional<EventQuery> matching(Started table) throws IOException {
        Statements statements = table.texts();
        EventStore.Result rows = EventStore.await(table.events());
        scanned += rows.rows();
        List<String> ids = scan.matching(table.query(), rows, statements);
        if (ids.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(ids.size() > MAX_IDS ? table.query() : table.query().withIds(ids));
    }

    private void merge(List<Source> sources, Consumer<DetectionEvent> consumer) throws IOException {
        for (Source source : sources) {
            source.advance();
        }
        for (Source source = earliest(sources); source != null; source = earliest(sources)) {
            consumer.accept(source.event);
            events++;
            source.advance();
        }
        for (Source source : sources) {
            EventStore.requireRows(source.rows, source.decoder.rows());
            statementsMissing += source.decoder.statementsMissing();
        }
    }

    private static Source earliest(List<Source> sources) {
        Source earliest = null;
        for (Source source : sources) {
            boolean isEarlier =
                    source.event != null && (earliest == null || source.event.micros() < earliest.event.micros());
            earliest = isEarlier ? source : earliest;
        }
        return earliest;
    }

    /** Returns the number of events that were scanned or passed. */
    long events() {
        return Math.max(scanned, events);
    }

    /** Returns the number of events whose statement is not stored, or may not be read. */
    long statementsMissing() {
        return Math.max(statementsMissing, scan.statementsMissing());
    }

    /** The events of one table in a slice. */
    private static final class Source implements Closeable {

        private final StoredEventDecoder decoder;
        private final InputStream body;
        private final long rows;
        private DetectionEvent event;

        Source(EventQuery query, EventStore.Result result, Statements statements) {
            body = result.body();
            rows = result.rows();
            decoder = new StoredEventDecoder(query.table(), query.columns(), body, statements::of);
        }

        void advance() throws IOException {
            event = decoder.next();
        }

        @Override
        public void close() throws IOException {
            body.close();
        }
    }
}
