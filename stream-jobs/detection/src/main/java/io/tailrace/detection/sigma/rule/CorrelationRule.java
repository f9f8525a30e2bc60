package io.tailrace.detection.sigma.rule;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A rule over the matches of other rules.
 *
 * @param rules keys of the rules that it counts, in their order in the file, and at the end those of {@code known}
 * @param groupBy fields, or aliases of them, whose values distinguish groups; empty: all events are one group
 * @param optional fields of {@code groupBy} that events may lack: these events form a separate group
 * @param timespanMicros length of the window
 * @param aliases alias to field, by the key of the rule
 * @param condition condition on the metric of a window
 * @param repeatLevel level of an alert for each further match within the timespan; empty if these raise none
 * @param changeMicros time after an alert within which matches with other values of {@link #field} are the same change; 0:
 *     the correlation does not distinguish changes
 * @param known matches by which a group is known, so that even its first match has the {@code repeatLevel}
 * @param learning when the log of an instance is too short for the level of the rule
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
        CorrelationCondition condition,
        Optional<Level> repeatLevel,
        long changeMicros,
        Known known,
        Learning learning,
        boolean alerts) {

    /** Maximum number of correlations that build on each other: the stages of the detect job. */
    public static final int MAX_LEVELS = 3;

    /**
     * Matches that raise no alert. A group that has one of them is known.
     *
     * @param rules keys of their rules, including {@code except}; empty: no group is known
     * @param afterMicros time from such a match on after which the group is known
     * @param only whether only groups raise alerts that are known with any value of {@link CorrelationRule#field}
     * @param days number of days (UTC) on which a known group had such matches; with more than one, only known groups have
     *     the {@link CorrelationRule#repeatLevel}, and repeated matches of others keep the level of the rule
     * @param except keys of rules whose matches exclude a group from the alerts, because another correlation reports it
     */
    public record Known(Set<String> rules, long afterMicros, boolean only, int days, Set<String> except) {

        public static final Known NONE = new Known(Set.of(), 0, false, 1, Set.of());

        /** Returns whether regular matches make a group known, not a single one. */
        public boolean isByRoutine() {
            return days > 1;
        }
    }

    /**
     * Alerts above the level low have the level low while the log of their instance is shorter.
     *
     * @param days length of the log in full days; 0: the level does not depend on it
     * @param only patterns of the values that a group must have, for case-folded values, by fields of
     *     {@link CorrelationRule#groupBy}
     */
    public record Learning(int days, Map<String, Pattern> only) {

        public static final Learning NONE = new Learning(0, Map.of());
    }

    /** The metric within the window. */
    public enum Type {
        /** Matches of any of the rules. */
        EVENT_COUNT,
        /** Distinct values of a field. */
        VALUE_COUNT,
        /** Distinct rules that matched. */
        TEMPORAL,
        /** Distinct rules that matched, in the order of the rules. */
        TEMPORAL_ORDERED,
        /** Sum of the numbers of a field. */
        VALUE_SUM,
        /** Arithmetic mean of the numbers of a field. */
        VALUE_AVG,
        /** Percentile of the numbers of a field, interpolated linearly between the two nearest. */
        VALUE_PERCENTILE,
        /** The 50th percentile. */
        VALUE_MEDIAN;

        public boolean isTemporal() {
            return this == TEMPORAL || this == TEMPORAL_ORDERED;
        }

        /** Returns whether the metric is computed from numbers, not from a count of matches. */
        public boolean isNumeric() {
            return this == VALUE_SUM || this == VALUE_AVG || isRank();
        }

        /** Returns whether the metric depends on the order of the numbers, so that numbers cannot be added up. */
        public boolean isRank() {
            return this == VALUE_PERCENTILE || this == VALUE_MEDIAN;
        }
    }

    /** Returns the field that is counted or measured; empty if there is none. */
    public String field() {
        return condition.field();
    }

    /** Returns the largest bound of the condition, as a count of matches. */
    public long bound() {
        return (long) Math.ceil(condition.largest());
    }

    /**
     * Returns whether further matches can only make the condition true, so that an alert need not wait for the
     * watermark. Of a sum this assumes numbers from 0.
     */
    public boolean isEvaluatedOnArrival() {
        return condition.isRising() && type != Type.VALUE_AVG && !type.isRank();
    }

    /** Resolves a name of this correlation to a field of a rule's events. */
    public String fieldOf(String ruleKey, String name) {
        return aliases.getOrDefault(name, Map.of()).getOrDefault(ruleKey, name);
    }

    /** Returns the keys of the rules whose matches count, without those of {@link #known}. */
    public List<String> counted() {
        return rules.stream().filter(rule -> !known.rules().contains(rule)).toList();
    }

    /** Returns whether each value of the field has a first match of its own within a group. */
    public boolean isOfValues() {
        return changeMicros > 0 || !known.rules().isEmpty();
    }

    /** Returns whether one match of one rule suffices: it reports the first match of a group per timespan. */
    public boolean reportsFirstMatches(int rules) {
        return rules == 1 && !type.isNumeric() && condition.isOneOrMore();
    }

    /** Returns a copy that raises alerts itself, or does not. */
    public CorrelationRule alerting(boolean itself) {
        return new CorrelationRule(
                header,
                type,
                rules,
                groupBy,
                optional,
                timespanMicros,
                aliases,
                condition,
                repeatLevel,
                changeMicros,
                known,
                learning,
                itself);
    }
}
