package io.tailrace.detection.match;

import io.tailrace.detection.event.FieldValue;

/** The value is a number less or greater than another; texts that are no numbers do not match. */
public record ComparisonMatcher(Operator operator, double bound) implements ValueMatcher {

    /** How a value is compared with the bound. */
    public enum Operator {
        LT,
        LTE,
        GT,
        GTE;

        /** False where the value is NaN. */
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
