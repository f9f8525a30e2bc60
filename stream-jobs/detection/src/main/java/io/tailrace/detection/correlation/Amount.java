package io.tailrace.detection.correlation;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.sigma.rule.CorrelationCondition;
import java.util.Optional;

/**
 * One number of a group, or the sum of several.
 *
 * @param count number of matches in the sum
 */
record Amount(double sum, long count) {

    private static final char SEPARATOR = '/';
    /** Every whole number of so many digits is a double. */
    private static final int MAX_EXACT_DIGITS = 15;

    private static final Amount UNREADABLE = new Amount(Double.NaN, 0);

    /** Returns the first finite number of a field; empty if it has none. */
    static Optional<Amount> of(DetectionEvent event, String field) {
        return event.values(field).stream()
                .mapToDouble(FieldValue::number)
                .filter(Double::isFinite)
                .mapToObj(number -> new Amount(number, 1))
                .findFirst();
    }

    /**
     * Reads the output of {@link #text}.
     *
     * @return a count of 0 for other texts: a push may have changed the type of the correlation
     */
    static Amount parse(String text) {
        long whole = whole(text);
        return whole >= 0 ? new Amount(whole, 1) : parseAny(text);
    }

    /** Spares the general parser, because a window is summed up for each of its events and most numbers are counts. */
    private static long whole(String text) {
        if (text.isEmpty() || text.length() > MAX_EXACT_DIGITS) {
            return -1;
        }
        long number = 0;
        for (int i = 0; i < text.length(); i++) {
            int digit = text.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            number = number * 10 + digit;
        }
        return number;
    }

    private static Amount parseAny(String text) {
        int separator = text.indexOf(SEPARATOR);
        try {
            return separator < 0
                    ? new Amount(Double.parseDouble(text), 1)
                    : new Amount(
                            Double.parseDouble(text.substring(0, separator)),
                            Long.parseLong(text.substring(separator + 1)));
        } catch (NumberFormatException e) {
            return UNREADABLE;
        }
    }

    Amount plus(Amount other) {
        return count == 0 ? other : other.count == 0 ? this : new Amount(sum + other.sum, count + other.count);
    }

    String text() {
        String number = CorrelationCondition.spelled(sum);
        return count == 1 ? number : number + SEPARATOR + count;
    }
}
