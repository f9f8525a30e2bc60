package io.tailrace.detection;

import io.tailrace.detection.alert.Alert;
import io.tailrace.detection.correlation.CorrelationEngine;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.index.RuleIndex;
import io.tailrace.detection.sigma.RuleHeader;
import io.tailrace.detection.sigma.RuleSet;
import io.tailrace.identity.Murmur3;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** A rule set at work: events in, alerts out. Used by one thread. */
public final class Detector {

    /** Alerts that are remembered, so that another event of their action does not raise them again. */
    private static final int MOST_RAISED = 100_000;

    private final RuleIndex index;
    private final CorrelationEngine correlations;
    private final Map<String, Boolean> raised = new LinkedHashMap<>() {

        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > MOST_RAISED;
        }
    };

    /** @param latenessMicros how much later than the watermark an event may come and still be correlated in full */
    public Detector(RuleSet rules, long latenessMicros) {
        this.index = new RuleIndex(rules.rules());
        this.correlations = new CorrelationEngine(rules.correlations(), latenessMicros);
    }

    /** Evaluates all rules on an event. */
    public void detect(DetectionEvent event, Consumer<Alert> alerts) {
        index.match(event, rule -> {
            if (rule.alerts()) {
                raise(alert(rule.header(), event), alerts);
            }
            correlations.match(rule.header().key(), event, alerts);
        });
    }

    /** Says that all events up to a time, microseconds since 1970 UTC, are thought to have come. */
    public void advance(long micros, Consumer<Alert> alerts) {
        correlations.advance(micros, alerts);
    }

    private void raise(Alert alert, Consumer<Alert> alerts) {
        if (raised.put(alert.id(), Boolean.TRUE) == null) {
            alerts.accept(alert);
        }
    }

    private static Alert alert(RuleHeader rule, DetectionEvent event) {
        Murmur3 hash = new Murmur3();
        String id = HexFormat.of()
                .formatHex(hash.update(rule.key()).update(event.actionId()).digest());
        return new Alert(
                id,
                rule,
                event.micros(),
                event.micros(),
                Map.of(),
                1,
                List.of(event.id()),
                Alert.statements(event),
                Map.of(),
                false);
    }
}
