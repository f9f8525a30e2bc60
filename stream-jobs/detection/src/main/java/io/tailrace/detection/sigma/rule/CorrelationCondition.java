package io.tailrace.detection.sigma.rule;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The condition of a correlation on its metric.
 *
 * @param bounds comparisons that must all be true; at least one
 * @param field field that is counted or measured; empty unless the type needs one
 * @param percentile from 0 to 100; 50 unless the type is value_percentile
 * @param expression the condition over rules as written; empty if there is none
 * @param alternatives indexes of rules in the correlation, in ascending order: of one of the lists all rules must have
 *     matched; empty without an expression
 */
public record CorrelationCondition(
        List<Bound> bounds, String field, double percentile, String expression, List<List<Integer>> alternatives) {

    private static final double MEDIAN = 50;

    /** A comparison of the metric with a number. */
    public record Bound(Operator operator, double value) {

        @Override
        public String toString() {
            return operator.name().toLowerCase(Locale.ROOT) + ' ' + spelled(value);
        }
    }

    /** A kind of comparison. */
    public enum Operator {
        LT,
        LTE,
        GT,
        GTE,
        EQ,
        NEQ;

        boolean test(double metric, double value) {
            return switch (this) {
                case LT -> metric < value;
                case LTE -> metric <= value;
                case GT -> metric > value;
                case GTE -> metric >= value;
                case EQ -> metric == value;
                case NEQ -> metric != value;
            };
        }
    }

    public CorrelationCondition {
        bounds = List.copyOf(bounds);
    }

    /** Returns the condition with one bound and without a field. */
    public static CorrelationCondition of(Operator operator, double bound) {
        return new CorrelationCondition(List.of(new Bound(operator, bound)), "", MEDIAN, "", List.of());
    }

    /** Returns the condition that an expression over rules is met: then the metric is at least 1, otherwise 0. */
    public static CorrelationCondition of(String expression, List<List<Integer>> alternatives) {
        return new CorrelationCondition(
                List.of(new Bound(Operator.GTE, 1)), "", MEDIAN, expression, List.copyOf(alternatives));
    }

    /** Returns whether a metric meets all bounds; never for NaN, the metric of a window without values. */
    public boolean test(double metric) {
        return !Double.isNaN(metric)
                && bounds.stream().allMatch(bound -> bound.operator().test(metric, bound.value()));
    }

    /** Returns whether a larger metric can only make the condition true. */
    public boolean isRising() {
        return bounds.stream()
                .map(Bound::operator)
                .allMatch(operator -> operator == Operator.GT || operator == Operator.GTE);
    }

    /** Returns the largest number that the metric is compared with. */
    public double largest() {
        return bounds.stream().mapToDouble(Bound::value).max().orElseThrow();
    }

    /** Returns whether one match suffices. */
    boolean isOneOrMore() {
        return bounds.equals(List.of(new Bound(Operator.GTE, 1)));
    }

    @Override
    public String toString() {
        return expression.isEmpty()
                ? bounds.stream().map(Bound::toString).collect(Collectors.joining(" and "))
                : expression;
    }

    /** Returns a number without an exponent or unnecessary zeros. */
    public static String spelled(double number) {
        if (!Double.isFinite(number)) {
            return Double.toString(number);
        }
        BigDecimal decimal = BigDecimal.valueOf(number).stripTrailingZeros();
        return decimal.signum() == 0 ? "0" : decimal.toPlainString();
    }

    /** Returns the keys of bounds as rules contain them, for errors. */
    public static String operators() {
        return Arrays.stream(Operator.values())
                .map(operator -> operator.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
    }
}
