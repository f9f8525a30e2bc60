package io.tailrace.detection.match;

import io.tailrace.detection.event.FieldValue;
import java.math.BigDecimal;

/** The value is this number, however it is written: 1, 1.0 and "1" are the same. */
public final class NumberMatcher implements ValueMatcher {

    /** From here on a double does not hold every whole number. */
    private static final double EXACT = 0x1p53;

    private final BigDecimal number;
    private final String spelling;
    private final double approximate;

    public NumberMatcher(BigDecimal number) {
        this.number = number;
        this.spelling = number.toPlainString();
        this.approximate = number.doubleValue();
    }

    /** The number as precisely as a double holds it. */
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
