package io.tailrace.detection;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.correlation.InMemoryCorrelationEngine;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.history.InstanceHistory;
import io.tailrace.detection.index.RulePrefilter;
import io.tailrace.detection.sigma.rule.RuleSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/** Evaluates a rule set on events and emits alerts. Not thread-safe. */
public final class DetectionEngine {

    /** Number of alerts to remember, so that another event of the same action does not raise an alert again. */
    private static final int MAX_RAISED = 100_000;

    private final RulePrefilter index;
    private final InMemoryCorrelationEngine correlations;
    private final SuppressedMatches suppressed;
    private final InstanceHistory history = new InstanceHistory();
    private final Map<String, Boolean> raised = new LinkedHashMap<>() {

        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > MAX_RAISED;
        }
    };

    /**
     * @param latenessMicros by how many microseconds an event may be behind the watermark and still be correlated
     *     completely
     */
    public DetectionEngine(RuleSet rules, long latenessMicros) {
        this(rules, new RulePrefilter(rules.rules()), latenessMicros);
    }

    /**
     * Creates an engine without building the index of its rules, which is most of the work.
     *
     * @param index of the same rules; engines of one thread may share it
     */
    public DetectionEngine(RuleSet rules, RulePrefilter index, long latenessMicros) {
        this.index = index;
        this.suppressed = new SuppressedMatches(rules.exceptions());
        this.correlations = new InMemoryCorrelationEngine(rules.correlations(), latenessMicros, suppressed::covers);
    }

    /** Evaluates all rules on an event. */
    public void detect(DetectionEvent event, Consumer<RaisedAlert> alerts) {
        history.observe(event);
        index.match(event, rule -> {
            if (suppressed.covers(rule.header().key(), event)) {
                return;
            }
            if (rule.alerts()) {
                raise(RaisedAlert.ofEvent(rule.header(), event, Map.of(), false), alerts);
            }
            correlations.match(rule.header().key(), event, alerts);
        });
    }

    /**
     * Advances the watermark: all events up to this time, in microseconds since 1970 UTC, are expected to have arrived.
     */
    public void advance(long micros, Consumer<RaisedAlert> alerts) {
        correlations.advance(micros, alerts);
    }

    /** Returns the number of matches that each exception suppressed so far, by its title. */
    public Map<String, Long> suppressed() {
        return suppressed.counts();
    }

    private void raise(RaisedAlert alert, Consumer<RaisedAlert> alerts) {
        if (raised.put(alert.id(), Boolean.TRUE) == null) {
            alerts.accept(alert);
        }
    }
}
