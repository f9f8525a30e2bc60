package io.tailrace.cli.backtest;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.stored.StoredEventDecoder;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Reads the events of all tables in the order of their times, slice by slice. The queries of the next slice run while the
 * events of one are evaluated.
 */
final class StoredEvents {

    private final EventStore store;
    private final List<EventQuery> queries;
    private long events;
    private long statementsMissing;

    StoredEvents(EventStore store, List<EventQuery> queries) {
        this.store = store;
        this.queries = queries;
    }

    /** Passes the events of slices, which must be in the order of their times. */
    void read(List<Period> slices, Consumer<DetectionEvent> consumer, Consumer<Period> sliceEnd) throws IOException {
        Started next = slices.isEmpty() ? null : start(slices.get(0));
        for (int i = 0; i < slices.size(); i++) {
            Started current = next;
            next = i + 1 < slices.size() ? start(slices.get(i + 1)) : null;
            slice(current, consumer);
            sliceEnd.accept(slices.get(i));
        }
    }

    /** The running queries of a slice; the statements of a table without them are null. */
    private record Started(
            List<CompletableFuture<EventStore.Result>> events, List<CompletableFuture<EventStore.Result>> statements) {}

    private Started start(Period slice) {
        Started started = new Started(new ArrayList<>(), new ArrayList<>());
        for (EventQuery query : queries) {
            boolean needsStatements = query.columns().contains("rule_set");
            started.statements().add(needsStatements ? store.start(query.statements(slice)) : null);
            started.events().add(store.start(query.events(slice)));
        }
        return started;
    }

    private void slice(Started started, Consumer<DetectionEvent> consumer) throws IOException {
        List<Source> sources = new ArrayList<>();
        try {
            for (int i = 0; i < queries.size(); i++) {
                CompletableFuture<EventStore.Result> texts =
                        started.statements().get(i);
                Statements statements = texts == null ? Statements.NONE : Statements.read(texts);
                EventStore.Result result = EventStore.await(started.events().get(i));
                sources.add(new Source(queries.get(i), result, statements));
            }
            merge(sources, consumer);
        } finally {
            for (Source source : sources) {
                source.close();
            }
        }
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

    /** Returns the number of events that were passed. */
    long events() {
        return events;
    }

    /** Returns the number of events whose statement is not stored, or may not be read. */
    long statementsMissing() {
        return statementsMissing;
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
