package io.tailrace.flink.detection.alerts;

import io.tailrace.detect.RuleRecord;
import io.tailrace.event.Alert;
import io.tailrace.flink.detection.rules.InitialRules;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.ReadOnlyBroadcastState;

/**
 * The suppressions that have not ended, each parsed once. The state contains only records that arrived after the start
 * of the job; earlier ones are read from the topic at start. One instance per subtask, not thread-safe.
 */
final class ActiveSuppressions {

    private final InitialRules newest;
    private final Map<String, Suppression> silences = new HashMap<>();

    /**
     * @param newest contents of the topic when the job started
     * @param state may be older than that
     */
    ActiveSuppressions(InitialRules newest, ReadOnlyBroadcastState<String, RuleRecord> state) throws Exception {
        this.newest = newest;
        newest.silences().values().forEach(this::apply);
        for (Map.Entry<String, RuleRecord> entry : state.immutableEntries()) {
            if (isSince(entry.getValue())) {
                apply(entry.getValue());
            }
        }
    }

    private boolean isSince(RuleRecord record) {
        return record.offset() > newest.lastOffset();
    }

    private void apply(RuleRecord record) {
        if (record.json().isEmpty()) {
            silences.remove(record.key());
        } else {
            silences.put(record.key(), Suppression.of(record.json()));
        }
    }

    /** Applies a record of the topic, and removes records that are no longer needed from the state. */
    void accept(RuleRecord record, BroadcastState<String, RuleRecord> state, Instant now) throws Exception {
        if (record.isSilence() && isSince(record)) {
            apply(record);
            state.put(record.key(), record);
        }
        for (Map.Entry<String, RuleRecord> entry : Map.copyOf(asMap(state)).entrySet()) {
            if (!isNeeded(entry.getValue(), now)) {
                state.remove(entry.getKey());
            }
        }
    }

    private static Map<String, RuleRecord> asMap(BroadcastState<String, RuleRecord> state) throws Exception {
        Map<String, RuleRecord> entries = new HashMap<>();
        state.entries().forEach(entry -> entries.put(entry.getKey(), entry.getValue()));
        return entries;
    }

    /** The end of a suppression is needed while the job's initial records contain that suppression. */
    private boolean isNeeded(RuleRecord record, Instant now) {
        if (!isSince(record)) {
            return false;
        }
        return record.json().isEmpty()
                ? newest.silences().containsKey(record.key())
                : now.isBefore(Suppression.of(record.json()).until());
    }

    boolean cover(Alert alert, Instant now) {
        silences.values().removeIf(silence -> !now.isBefore(silence.until()));
        return silences.values().stream().anyMatch(silence -> silence.covers(alert, now));
    }
}
