package io.tailrace.cli.backtest;

import io.tailrace.detection.stored.StoredText;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** The statements of some events by their ids, without literals. */
final class Statements {

    static final Statements NONE = new Statements(Map.of());

    private record Key(long queryId, String ruleSet) {}

    private final Map<Key, String> texts;

    private Statements(Map<Key, String> texts) {
        this.texts = texts;
    }

    /** Reads the result of {@link EventQuery#statements}. */
    static Statements read(CompletableFuture<EventStore.Result> started) throws IOException {
        EventStore.Result result = EventStore.await(started);
        Map<Key, String> texts = new HashMap<>();
        try (InputStream body = result.body()) {
            StoredText.read(body, text -> texts.put(new Key(text.queryId(), text.ruleSet()), text.statement()));
        }
        EventStore.requireRows(result.rows(), texts.size());
        return new Statements(texts);
    }

    /** Returns null if the statement is not stored, or may not be read. */
    String of(Long queryId, String ruleSet) {
        return texts.get(new Key(queryId, ruleSet));
    }
}
