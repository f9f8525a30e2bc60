package io.tailrace.detection.event;

import java.time.Instant;

/**
 * One value of a field: a text, and a number where it is one. Numbers and times are written as texts when somebody asks:
 * of most fields nobody does. Used by one thread.
 */
public final class FieldValue {

    /** Longer texts are no numbers. */
    private static final int MAX_NUMBER_LENGTH = 32;
    /** Up to here every whole number is a double. */
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

    /** A time, whose text is in ISO 8601, in UTC. */
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

    /** The text as {@link CaseFolding} makes it. */
    public String folded() {
        if (folded == null) {
            folded = CaseFolding.fold(text());
        }
        return folded;
    }

    /** The number that the text is; NaN where it is none. */
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

    /** Digits, sign, point and exponent only: Java would take "1d", "NaN" and "0x1p3" too. */
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
