package io.tailrace.detection.match;

import io.tailrace.detection.event.FieldValue;

/** What one value of a field must be. */
public sealed interface ValueTest
        permits TextPattern, EqualNumber, NumberComparison, RegularExpression, Network, EqualBoolean, TimePart {

    boolean test(FieldValue value);

    /** A text that every matching value holds, folded; empty where there is none. */
    default Literal literal() {
        return Literal.NONE;
    }

    /**
     * A text that a value must hold for a test to succeed.
     *
     * @param text folded; empty: nothing is known
     * @param whole the value is this text and no more
     */
    record Literal(String text, boolean whole) {

        static final Literal NONE = new Literal("", false);

        /** Whether values can be told apart by it. */
        public boolean isKnown() {
            return whole || !text.isEmpty();
        }
    }
}
