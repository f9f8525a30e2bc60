package io.tailrace.detection.correlation;

import io.tailrace.detection.sigma.rule.CorrelationRule;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Computes the metric of a correlation over the matches of one window. */
final class CorrelationMetric {

    private CorrelationMetric() {}

    /**
     * Returns the metric; NaN if it is one of numbers and there are none.
     *
     * @param window matches in the order of time
     */
    static double of(CorrelationRule rule, RuleIds rules, List<RuleMatch> window) {
        return switch (rule.type()) {
            case EVENT_COUNT -> window.size();
            case VALUE_COUNT -> distinctValues(window);
            case TEMPORAL -> rule.condition().alternatives().isEmpty()
                    ? distinctRules(window, rules)
                    : ifComplete(window, rules, rule.condition().alternatives(), false);
            case TEMPORAL_ORDERED -> rule.condition().alternatives().isEmpty()
                    ? longestSequence(window, rules)
                    : ifComplete(window, rules, rule.condition().alternatives(), true);
            case VALUE_SUM -> sum(NumericWindow.total(window));
            case VALUE_AVG -> average(NumericWindow.total(window));
            case VALUE_PERCENTILE, VALUE_MEDIAN -> NumericWindow.percentile(
                    window, rule.condition().percentile());
        };
    }

    private static double sum(Amount total) {
        return total.count() == 0 ? Double.NaN : total.sum();
    }

    private static double average(Amount total) {
        return total.count() == 0 ? Double.NaN : total.sum() / total.count();
    }

    private static long distinctValues(List<RuleMatch> window) {
        Set<String> values = new HashSet<>();
        window.forEach(occurrence -> values.add(occurrence.value()));
        return values.size();
    }

    /**
     * Returns the number of rules that matched, or 0 if no alternative is complete.
     *
     * @param ordered whether the rules of an alternative must have matched in the order of the correlation
     */
    private static long ifComplete(
            List<RuleMatch> window, RuleIds rules, List<List<Integer>> alternatives, boolean ordered) {
        boolean[] seen = seen(window, rules);
        for (List<Integer> alternative : alternatives) {
            if (!alternative.stream().allMatch(place -> seen[place])) {
                continue;
            }
            List<RuleMatch> own = window.stream()
                    .filter(match -> alternative.contains(rules.place(match.rule())))
                    .toList();
            long found = ordered ? longestSequence(own, rules) : distinctRules(own, rules);
            if (found == alternative.size()) {
                return distinctRules(window, rules);
            }
        }
        return 0;
    }

    private static long distinctRules(List<RuleMatch> window, RuleIds rules) {
        long count = 0;
        for (boolean isSeen : seen(window, rules)) {
            count += isSeen ? 1 : 0;
        }
        return count;
    }

    /** Returns for each place in the order of the correlation whether its rule matched. */
    private static boolean[] seen(List<RuleMatch> window, RuleIds rules) {
        boolean[] seen = new boolean[rules.size()];
        for (int i = 0; i < window.size(); i++) {
            int rule = window.get(i).rule();
            // A match of the same rule as the match before it changes nothing.
            int place = i > 0 && rule == window.get(i - 1).rule() ? -1 : rules.place(rule);
            // Restored state may contain matches of rules that the correlation no longer uses.
            if (place >= 0) {
                seen[place] = true;
            }
        }
        return seen;
    }

    /**
     * Returns the largest number of rules that matched one after another in the order of the correlation. Matches with
     * the same time and order do not follow each other.
     */
    private static long longestSequence(List<RuleMatch> window, RuleIds rules) {
        long distinct = distinctRules(window, rules);
        if (distinct <= 1) {
            return distinct;
        }
        long[] longest = new long[rules.size()];
        int from = 0;
        while (from < window.size()) {
            int to = from;
            long[] before = longest.clone();
            while (to < window.size() && !window.get(from).isBefore(window.get(to))) {
                int place = rules.place(window.get(to++).rule());
                if (place >= 0) {
                    longest[place] = Math.max(longest[place], 1 + largest(before, place));
                }
            }
            from = to;
        }
        return largest(longest, rules.size());
    }

    private static long largest(long[] lengths, int to) {
        long largest = 0;
        for (int i = 0; i < to; i++) {
            largest = Math.max(largest, lengths[i]);
        }
        return largest;
    }
}
