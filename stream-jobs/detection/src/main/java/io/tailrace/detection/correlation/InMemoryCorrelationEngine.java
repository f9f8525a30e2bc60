package io.tailrace.detection.correlation;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.CorrelationRule;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.function.Consumer;

/** Evaluates all correlations of a rule set, with the state of all groups in memory. Not thread-safe. */
public final class InMemoryCorrelationEngine {

    private final Map<String, CorrelationEvaluator> correlators = new LinkedHashMap<>();
    private final Map<String, List<CorrelationEvaluator>> byRule = new HashMap<>();
    private final Map<String, Map<List<String>, GroupWindow>> windows = new HashMap<>();
    private final BiPredicate<String, DetectionEvent> isExcepted;
    private long watermark = Long.MIN_VALUE / 2;

    /**
     * @param latenessMicros by how many microseconds an event may be behind the watermark and still count completely
     */
    public InMemoryCorrelationEngine(List<CorrelationRule> rules, long latenessMicros) {
        this(rules, latenessMicros, (correlation, event) -> false);
    }

    /**
     * @param isExcepted whether a correlation, by its key, does not count a match
     */
    public InMemoryCorrelationEngine(
            List<CorrelationRule> rules, long latenessMicros, BiPredicate<String, DetectionEvent> isExcepted) {
        this.isExcepted = isExcepted;
        for (CorrelationRule rule : rules) {
            CorrelationEvaluator correlator = new CorrelationEvaluator(rule, latenessMicros);
            correlators.put(rule.header().key(), correlator);
            windows.put(rule.header().key(), new LinkedHashMap<>());
            for (String used : rule.rules()) {
                byRule.computeIfAbsent(used, key -> new ArrayList<>()).add(correlator);
            }
        }
    }

    /** Counts a match of a rule in every correlation that uses it. */
    public void match(String ruleKey, DetectionEvent event, Consumer<RaisedAlert> alerts) {
        for (CorrelationEvaluator correlator : byRule.getOrDefault(ruleKey, List.of())) {
            if (isExcepted.test(correlator.rule().header().key(), event)) {
                continue;
            }
            Map<List<String>, GroupWindow> groups =
                    windows.get(correlator.rule().header().key());
            for (List<String> group : correlator.groups(ruleKey, event)) {
                GroupWindow window = groups.computeIfAbsent(group, key -> new GroupWindow());
                correlator.add(ruleKey, event, group, window, watermark, fired(correlator, alerts));
            }
        }
    }

    /** An alert is a match for the correlations that use its rule. */
    private Consumer<RaisedAlert> fired(CorrelationEvaluator correlator, Consumer<RaisedAlert> alerts) {
        return alert -> {
            if (correlator.rule().alerts()) {
                alerts.accept(alert);
            }
            match(correlator.rule().header().key(), event(alert), alerts);
        };
    }

    private static DetectionEvent event(RaisedAlert alert) {
        DetectionEvent.Builder event = DetectionEvent.builder(alert.id(), alert.micros(), LogSource.ANY);
        alert.entity().forEach(event::text);
        return event.build();
    }

    /**
     * Advances the watermark: all events up to this time are expected to have arrived.
     *
     * @param micros event time, microseconds since 1970 UTC; a smaller value than before changes nothing
     */
    public void advance(long micros, Consumer<RaisedAlert> alerts) {
        if (micros <= watermark) {
            return;
        }
        watermark = micros;
        for (CorrelationEvaluator correlator : correlators.values()) {
            windows.get(correlator.rule().header().key())
                    .entrySet()
                    .removeIf(group ->
                            correlator.advance(group.getKey(), group.getValue(), watermark, fired(correlator, alerts)));
        }
    }

    /** Returns the number of groups with state. */
    public int groups() {
        return windows.values().stream().mapToInt(Map::size).sum();
    }

    /** Writes the state of all groups. */
    public void write(DataOutput out) throws IOException {
        out.writeLong(watermark);
        out.writeInt(groups());
        for (Map.Entry<String, Map<List<String>, GroupWindow>> rule : windows.entrySet()) {
            for (Map.Entry<List<String>, GroupWindow> group : rule.getValue().entrySet()) {
                out.writeUTF(rule.getKey());
                out.writeInt(group.getKey().size());
                for (String value : group.getKey()) {
                    out.writeUTF(value);
                }
                group.getValue().write(out);
            }
        }
    }

    /**
     * Reads the output of {@link #write} into a new engine. State of rules that the engine does not have is dropped.
     */
    public void read(DataInput in) throws IOException {
        watermark = in.readLong();
        for (int count = in.readInt(); count > 0; count--) {
            String rule = in.readUTF();
            List<String> group = new ArrayList<>();
            for (int fields = in.readInt(); fields > 0; fields--) {
                group.add(in.readUTF());
            }
            GroupWindow window = GroupWindow.read(in);
            if (windows.containsKey(rule)) {
                windows.get(rule).put(group, window);
            }
        }
    }
}
