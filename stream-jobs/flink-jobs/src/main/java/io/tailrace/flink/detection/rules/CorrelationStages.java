package io.tailrace.flink.detection.rules;

import io.tailrace.detection.sigma.rule.CorrelationRule;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Determines the stage of the job that evaluates a correlation: 1 if it uses rules over single events only, else one
 * more than the highest of the correlations that it uses.
 */
public final class CorrelationStages {

    /** Number of chained stages of the job. Correlations that need more are rejected when they are compiled. */
    public static final int MAX_STAGES = CorrelationRule.MAX_LEVELS;

    private CorrelationStages() {}

    /** @param correlations in an order in which each follows those that it uses */
    static Map<String, Integer> of(List<CorrelationRule> correlations) {
        Map<String, Integer> levels = new HashMap<>();
        for (CorrelationRule rule : correlations) {
            int highest = rule.rules().stream()
                    .mapToInt(used -> levels.getOrDefault(used, 0))
                    .max()
                    .orElse(0);
            levels.put(rule.header().key(), highest + 1);
        }
        return levels;
    }
}
