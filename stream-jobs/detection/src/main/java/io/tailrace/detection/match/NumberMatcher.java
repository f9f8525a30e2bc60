package io.tailrace.detection.match;

import io.tailrace.detection.event.FieldValue;
import java.math.BigDecimal;

/** Matches a number regardless of its notation: 1, 1.0 and "1" are equal. */
public final class NumberMatcher implements ValueMatcher {

    /** From this bound on, a double cannot represent every whole number. */
    private static final double EXACT = 0x1p53;

    private final BigDecimal number;
    private final String spelling;
    private final double approximate;

    public NumberMatcher(BigDecimal number) {
        this.number = number;
        this.spelling = number.toPlainString();
        this.approximate = number.doubleValue();
    }

    /** Returns the number with the precision of a double. */
    public double approximate() {
        return approximate;
    }

    @Override
    public boolean test(FieldValue value) {
        if (value.text().equals(spelling)) {
            return true;
        }
        return value.number() == approximate && (Math.abs(approximate) < EXACT || isSame(value.text()));
    }

    private boolean isSame(String text) {
        return new BigDecimal(text).compareTo(number) == 0;
    }
}
