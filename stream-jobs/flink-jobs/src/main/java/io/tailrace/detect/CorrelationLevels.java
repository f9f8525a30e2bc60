package io.tailrace.detect;

import io.tailrace.detection.sigma.CorrelationRule;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which stage of the job evaluates a correlation: 1 where it uses rules over single events only, else one more than
 * the highest of the correlations that it uses.
 */
final class CorrelationLevels {

    /** Stages that the job has, one behind the other. */
    static final int MOST = 3;

    private CorrelationLevels() {}

    /** @param correlations each after those that it uses */
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

    /** Which correlation the job has no stage for; empty where all fit. */
    static String complaint(List<CorrelationRule> correlations) {
        Map<String, Integer> levels = of(correlations);
        return correlations.stream()
                .filter(rule -> levels.get(rule.header().key()) > MOST)
                .map(rule -> rule.header().file() + ':' + rule.header().line()
                        + ": correlations may use correlations over at most " + MOST + " levels, found "
                        + levels.get(rule.header().key()))
                .findFirst()
                .orElse("");
    }
}
