package io.tailrace.detection.event;

import java.time.Instant;

/**
 * One value of a field: a text, and a number if the text is one. Numbers and times are formatted on demand, because
 * most fields are never read. Not thread-safe.
 */
public final class FieldValue {

    /** Longer texts are not parsed as numbers. */
    private static final int MAX_NUMBER_LENGTH = 32;
    /** Up to this bound every whole number is a double. */
    private static final long MAX_EXACT = 1L << 53;

    private final Instant time;
    private String text;
    private String folded;
    private double number;
    private boolean numberKnown;

    private FieldValue(String text, Instant time) {
        this.text = text;
        this.time = time;
    }

    public static FieldValue of(String text) {
        return new FieldValue(text, null);
    }

    /** Returns a time, whose text is in ISO 8601 in UTC. */
    public static FieldValue of(Instant time) {
        return new FieldValue(null, time);
    }

    public static FieldValue of(long number) {
        if (number > MAX_EXACT || number < -MAX_EXACT) {
            return of(Long.toString(number));
        }
        return of((double) number);
    }

    public static FieldValue of(double number) {
        FieldValue value = new FieldValue(null, null);
        value.number = number;
        value.numberKnown = true;
        return value;
    }

    public static FieldValue of(boolean value) {
        return of(Boolean.toString(value));
    }

    private static String spelling(double number) {
        long whole = (long) number;
        return whole == number ? Long.toString(whole) : Double.toString(number);
    }

    public String text() {
        if (text == null) {
            text = time == null ? spelling(number) : time.toString();
        }
        return text;
    }

    /** Returns the text after {@link CaseFolding}. */
    public String folded() {
        if (folded == null) {
            folded = CaseFolding.fold(text());
        }
        return folded;
    }

    /** Returns the text as a number; NaN if it is not one. */
    public double number() {
        if (!numberKnown) {
            number = parse(text());
            numberKnown = true;
        }
        return number;
    }

    private static double parse(String text) {
        if (text.isEmpty() || text.length() > MAX_NUMBER_LENGTH || !isNumeral(text)) {
            return Double.NaN;
        }
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException e) {
            return Double.NaN;
        }
    }

    /** Accepts digits, sign, point and exponent only, because Java also parses "1d", "NaN" and "0x1p3". */
    private static boolean isNumeral(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if ((c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E') {
                return false;
            }
        }
        return true;
    }

    @Override
    public String toString() {
        return text();
    }
}
