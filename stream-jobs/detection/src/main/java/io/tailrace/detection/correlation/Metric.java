package io.tailrace.detection.correlation;

import io.tailrace.detection.sigma.CorrelationRule;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What a correlation counts in the matches of one window. */
final class Metric {

    private Metric() {}

    /** @param window matches in the order of time */
    static long of(CorrelationRule rule, List<Occurrence> window) {
        return switch (rule.type()) {
            case EVENT_COUNT -> window.size();
            case VALUE_COUNT -> distinctValues(window);
            case TEMPORAL -> distinctRules(window, rule.rules().size());
            case TEMPORAL_ORDERED -> longestSequence(window, rule.rules().size());
        };
    }

    private static long distinctValues(List<Occurrence> window) {
        Set<String> values = new HashSet<>();
        window.forEach(occurrence -> values.add(occurrence.value()));
        return values.size();
    }

    private static long distinctRules(List<Occurrence> window, int rules) {
        boolean[] seen = new boolean[rules];
        long count = 0;
        for (Occurrence occurrence : window) {
            // State may be older than the correlation, which had more rules then.
            if (occurrence.rule() < rules) {
                count += seen[occurrence.rule()] ? 0 : 1;
                seen[occurrence.rule()] = true;
            }
        }
        return count;
    }

    /**
     * The most rules that matched one after the other in the order of the correlation. Matches of the same time and
     * order are not after each other.
     */
    private static long longestSequence(List<Occurrence> window, int rules) {
        long[] longest = new long[rules];
        int from = 0;
        while (from < window.size()) {
            int to = from;
            long[] before = longest.clone();
            while (to < window.size() && !window.get(from).isBefore(window.get(to))) {
                int rule = window.get(to++).rule();
                if (rule < rules) {
                    longest[rule] = Math.max(longest[rule], 1 + largest(before, rule));
                }
            }
            from = to;
        }
        return largest(longest, rules);
    }

    private static long largest(long[] lengths, int to) {
        long largest = 0;
        for (int i = 0; i < to; i++) {
            largest = Math.max(largest, lengths[i]);
        }
        return largest;
    }
}
