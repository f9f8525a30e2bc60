package io.tailrace.detection.match;

import io.tailrace.detection.event.FieldValue;

/** Matches a number that is less or greater than a bound. Texts that are not numbers do not match. */
public record ComparisonMatcher(Operator operator, double bound) implements ValueMatcher {

    /** The comparison with the bound. */
    public enum Operator {
        LT,
        LTE,
        GT,
        GTE;

        /** Returns false if the value is NaN. */
        public boolean test(double value, double bound) {
            return switch (this) {
                case LT -> value < bound;
                case LTE -> value <= bound;
                case GT -> value > bound;
                case GTE -> value >= bound;
            };
        }
    }

    @Override
    public boolean test(FieldValue value) {
        return operator.test(value.number(), bound);
    }
}
