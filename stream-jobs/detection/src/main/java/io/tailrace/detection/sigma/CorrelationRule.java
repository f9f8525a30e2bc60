package io.tailrace.detection.sigma;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A rule over the matches of other rules.
 *
 * @param rules keys of the rules that it counts, in their order in the file
 * @param groupBy fields, or aliases of them, whose values distinguish groups; empty: all events are one group
 * @param optional fields of {@code groupBy} that events may lack: these events form a separate group
 * @param timespanMicros length of the window
 * @param aliases alias to field, by the key of the rule
 * @param bound number with which the metric is compared
 * @param field field whose distinct values are counted; empty unless the type is value_count
 * @param alerts whether it raises alerts itself; false if only other correlations use it
 */
public record CorrelationRule(
        RuleHeader header,
        Type type,
        List<String> rules,
        List<String> groupBy,
        Set<String> optional,
        long timespanMicros,
        Map<String, Map<String, String>> aliases,
        Operator operator,
        long bound,
        String field,
        boolean alerts) {

    /** Maximum number of correlations that build on each other: the stages of the detect job. */
    public static final int MAX_LEVELS = 3;

    /** The metric within the window. */
    public enum Type {
        /** Matches of any of the rules. */
        EVENT_COUNT,
        /** Distinct values of a field. */
        VALUE_COUNT,
        /** Distinct rules that matched. */
        TEMPORAL,
        /** Distinct rules that matched, in the order of the rules. */
        TEMPORAL_ORDERED
    }

    /** The comparison of the metric with the bound. */
    public enum Operator {
        LT,
        LTE,
        GT,
        GTE,
        EQ,
        NEQ;

        public boolean test(long metric, long bound) {
            return switch (this) {
                case LT -> metric < bound;
                case LTE -> metric <= bound;
                case GT -> metric > bound;
                case GTE -> metric >= bound;
                case EQ -> metric == bound;
                case NEQ -> metric != bound;
            };
        }

        /**
         * Returns whether further matches can only make the condition true, so that an alert need not wait for the end
         * of the window.
         */
        public boolean isRising() {
            return this == GT || this == GTE;
        }
    }

    /** Resolves a name of this correlation to a field of a rule's events. */
    public String fieldOf(String ruleKey, String name) {
        return aliases.getOrDefault(name, Map.of()).getOrDefault(ruleKey, name);
    }

    CorrelationRule withoutAlerts() {
        return new CorrelationRule(
                header, type, rules, groupBy, optional, timespanMicros, aliases, operator, bound, field, false);
    }
}
