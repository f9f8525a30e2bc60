package io.tailrace.detection.sigma;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A rule over the matches of other rules.
 *
 * @param rules keys of the rules that it counts, in the order in which it names them
 * @param groupBy fields whose values distinguish one group from another, or aliases of them; none: all events are one
 *     group
 * @param optional those of them that events may lack: these events are a group of their own
 * @param timespanMicros length of the window
 * @param aliases alias to field by the key of the rule
 * @param bound what the metric is compared with
 * @param field whose distinct values are counted; empty unless the type is value_count
 * @param alerts whether it alerts by itself; false where only other correlations use it
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

    /** Correlations one over the other: the stages of the detect job. */
    public static final int MAX_LEVELS = 3;

    /** What is counted within the window. */
    public enum Type {
        /** Matches of any of the rules. */
        EVENT_COUNT,
        /** Distinct values of a field. */
        VALUE_COUNT,
        /** Distinct rules that matched. */
        TEMPORAL,
        /** The same, in the order of the rules. */
        TEMPORAL_ORDERED
    }

    /** How the metric is compared with the bound. */
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

        /** Whether more matches can only make it true: an alert need not wait for the window's end. */
        public boolean isRising() {
            return this == GT || this == GTE;
        }
    }

    /** The field of a rule's events that a name of this correlation stands for. */
    public String fieldOf(String ruleKey, String name) {
        return aliases.getOrDefault(name, Map.of()).getOrDefault(ruleKey, name);
    }

    CorrelationRule withoutAlerts() {
        return new CorrelationRule(
                header, type, rules, groupBy, optional, timespanMicros, aliases, operator, bound, field, false);
    }
}
