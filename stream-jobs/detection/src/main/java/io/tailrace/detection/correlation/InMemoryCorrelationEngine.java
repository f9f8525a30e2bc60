package io.tailrace.detection.correlation;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.ActionReference;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.expiry.ExpiryQueue;
import io.tailrace.detection.sigma.rule.CorrelationRule;
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

    /** The state of one group of a correlation. */
    private static final class Group extends ExpiryQueue.Item {

        private final List<String> values;
        private final GroupWindow window;

        Group(List<String> values, GroupWindow window) {
            this.values = values;
            this.window = window;
        }
    }

    /** A correlation with the state of its groups. */
    private static final class Correlation {

        private final CorrelationEvaluator evaluator;
        private final Map<List<String>, Group> groups = new LinkedHashMap<>();
        /** Groups by the watermark that changes them, if matches are evaluated on arrival; empty otherwise. */
        private final ExpiryQueue<Group> expiring = new ExpiryQueue<>();

        Correlation(CorrelationEvaluator evaluator) {
            this.evaluator = evaluator;
        }

        void schedule(Group group) {
            if (evaluator.rule().isEvaluatedOnArrival()) {
                expiring.schedule(group, evaluator.unchangedUntil(group.window));
            }
        }

        void advance(long watermark, Consumer<RaisedAlert> fired) {
            if (!evaluator.rule().isEvaluatedOnArrival()) {
                groups.values().removeIf(group -> evaluator.advance(group.values, group.window, watermark, fired));
                return;
            }
            for (Group group = expiring.pollBefore(watermark); group != null; group = expiring.pollBefore(watermark)) {
                if (evaluator.advance(group.values, group.window, watermark, fired)) {
                    groups.remove(group.values, group);
                } else {
                    schedule(group);
                }
            }
        }
    }

    private final Map<String, Correlation> correlations = new LinkedHashMap<>();
    private final Map<String, List<Correlation>> byRule = new HashMap<>();
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
            Correlation correlation = new Correlation(new CorrelationEvaluator(rule, latenessMicros));
            correlations.put(rule.header().key(), correlation);
            for (String used : rule.rules()) {
                byRule.computeIfAbsent(used, key -> new ArrayList<>()).add(correlation);
            }
        }
    }

    /** Counts a match of a rule in every correlation that uses it. */
    public void match(String ruleKey, DetectionEvent event, Consumer<RaisedAlert> alerts) {
        for (Correlation correlation : byRule.getOrDefault(ruleKey, List.of())) {
            CorrelationEvaluator evaluator = correlation.evaluator;
            if (isExcepted.test(evaluator.rule().header().key(), event)) {
                continue;
            }
            evaluator.judgeHistory(event);
            for (List<String> values : evaluator.groups(ruleKey, event)) {
                Group group = correlation.groups.computeIfAbsent(values, key -> new Group(key, new GroupWindow()));
                evaluator.add(
                        ruleKey, event, values, group.window, watermark, fired(evaluator, event.history(), alerts));
                correlation.schedule(group);
            }
        }
    }

    /**
     * An alert is a match for the correlations that use its rule.
     *
     * @param history that of the event that raised it
     */
    private Consumer<RaisedAlert> fired(CorrelationEvaluator correlator, int history, Consumer<RaisedAlert> alerts) {
        return alert -> {
            if (correlator.rule().alerts()) {
                alerts.accept(alert);
            }
            DetectionEvent match = event(alert, correlator.rule().alerts());
            match.history(history);
            match(correlator.rule().header().key(), match, alerts);
        };
    }

    private static DetectionEvent event(RaisedAlert alert, boolean isRaised) {
        DetectionEvent.Builder event =
                DetectionEvent.builder(alert.evidenceId(isRaised), alert.micros(), LogSource.ANY);
        alert.entity().forEach(event::text);
        DetectionEvent built = event.build();
        built.actionFrom(each -> new ActionReference(alert.id(), alert.micros(), 0));
        return built;
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
        for (Correlation correlation : correlations.values()) {
            correlation.advance(watermark, fired(correlation.evaluator, Integer.MAX_VALUE, alerts));
        }
    }

    /** Returns the number of groups with state. */
    public int groups() {
        return correlations.values().stream()
                .mapToInt(correlation -> correlation.groups.size())
                .sum();
    }

    /** Writes the state of all groups. */
    public void write(DataOutput out) throws IOException {
        out.writeLong(watermark);
        out.writeInt(groups());
        for (Map.Entry<String, Correlation> correlation : correlations.entrySet()) {
            for (Group group : correlation.getValue().groups.values()) {
                out.writeUTF(correlation.getKey());
                out.writeInt(group.values.size());
                for (String value : group.values) {
                    out.writeUTF(value);
                }
                group.window.write(out);
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
            List<String> values = new ArrayList<>();
            for (int fields = in.readInt(); fields > 0; fields--) {
                values.add(in.readUTF());
            }
            Group group = new Group(values, GroupWindow.read(in));
            Correlation correlation = correlations.get(rule);
            if (correlation != null) {
                correlation.groups.put(values, group);
                correlation.schedule(group);
            }
        }
    }
}
