package io.tailrace.cli.backtest;

import io.tailrace.detection.DetectionEngine;
import io.tailrace.detection.alert.AlertContext;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.InMemoryDetectorEngine;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.sigma.rule.SigmaRule;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;

/** The engines of one version of rules, with their state. Not thread-safe. */
final class BacktestVersion {

    private final DetectionEngine rules;
    private final InMemoryDetectorEngine detectors;
    private final Set<String> overSingleEvents;
    private final BiConsumer<RaisedAlert, Map<String, String>> alerts;
    private final long from;
    private Map<String, Long> suppressedBefore;

    /**
     * @param from start of the period, microseconds since 1970 UTC: earlier suppressed matches do not count
     * @param nowMicros this machine's clock: detectors ignore events in its future
     * @param alerts receives alerts with their entities
     */
    BacktestVersion(
            RuleSelection selection, long from, long nowMicros, BiConsumer<RaisedAlert, Map<String, String>> alerts) {
        this.from = from;
        this.rules = new DetectionEngine(selection.rules(), 0);
        this.detectors = new InMemoryDetectorEngine(selection.detectors(), 0, () -> nowMicros);
        this.overSingleEvents = selection.rules().rules().stream()
                .map(SigmaRule::header)
                .map(header -> header.key())
                .collect(Collectors.toSet());
        this.alerts = alerts;
    }

    void detect(DetectionEvent event) {
        if (suppressedBefore == null && event.micros() >= from) {
            suppressedBefore = Map.copyOf(rules.suppressed());
        }
        rules.detect(event, alert -> raise(alert, event));
        detectors.detect(event, alert -> raise(alert, event));
    }

    /** Returns the number of matches that each exception suppressed in the period, by its title. */
    Map<String, Long> suppressed() {
        Map<String, Long> counts = new LinkedHashMap<>();
        rules.suppressed()
                .forEach((title, count) -> counts.put(
                        title, suppressedBefore == null ? 0 : count - suppressedBefore.getOrDefault(title, 0L)));
        return counts;
    }

    /** As in the detect job, the entity of a rule over single events is the user, the client and the server. */
    private void raise(RaisedAlert alert, DetectionEvent event) {
        boolean isOfEvent = overSingleEvents.contains(alert.rule().key());
        alerts.accept(alert, isOfEvent ? AlertContext.entity(AlertContext.of(event)) : alert.entity());
    }

    /** Advances the watermark, in microseconds since 1970 UTC. */
    void advance(long micros) {
        rules.advance(micros, alert -> alerts.accept(alert, alert.entity()));
        detectors.advance(micros);
    }
}
