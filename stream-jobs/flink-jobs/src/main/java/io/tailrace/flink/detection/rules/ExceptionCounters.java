package io.tailrace.flink.detection.rules;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.sigma.rule.RuleException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;

/**
 * Applies the exceptions of the active rules, and counts the matches that they suppress: all together, and each under
 * its title. One instance per operator and subtask.
 */
public final class ExceptionCounters {

    /** All matches that exceptions suppressed; with the label {@value #LABEL}, those of one. */
    static final String SUPPRESSED = "suppressed-matches";

    static final String LABEL = "exception";

    private final MetricGroup metrics;
    private final Counter all;
    private final Map<String, Counter> byTitle = new HashMap<>();

    public ExceptionCounters(MetricGroup metrics) {
        this.metrics = metrics;
        this.all = metrics.counter(SUPPRESSED);
    }

    /** Returns whether an exception suppresses a match of a rule, or its count in a correlation. */
    public boolean covers(ActiveRules active, String ruleKey, DetectionEvent event) {
        Optional<RuleException> covering = active.rules().exceptions().covering(ruleKey, event);
        covering.ifPresent(exception -> {
            all.inc();
            byTitle.computeIfAbsent(exception.title(), this::counter).inc();
        });
        return covering.isPresent();
    }

    private Counter counter(String title) {
        return metrics.addGroup(LABEL, title).counter(SUPPRESSED);
    }
}
