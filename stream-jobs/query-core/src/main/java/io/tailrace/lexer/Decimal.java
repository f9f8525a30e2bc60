package io.tailrace.lexer;

/** Parses the decimal numbers of logs. */
public final class Decimal {

    private static final double[] POWERS = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12};

    private Decimal() {}

    /** Returns the value of {@code 12} or {@code 12.345678}, correctly rounded, or NaN if the range is neither. */
    public static double parse(byte[] bytes, int from, int to) {
        long digits = 0;
        int fraction = -1;
        for (int i = from; i < to; i++) {
            byte b = bytes[i];
            if (b == '.' && fraction < 0) {
                fraction = 0;
            } else if (ByteText.isDigit(b) && digits < MAX_VALUE) {
                digits = digits * 10 + b - '0';
                fraction = fraction < 0 ? fraction : fraction + 1;
            } else {
                return Double.NaN;
            }
        }
        boolean empty = to - from <= (fraction < 0 ? 0 : 1);
        return empty || fraction >= POWERS.length ? Double.NaN : fraction <= 0 ? digits : digits / POWERS[fraction];
    }

    /** Above this value a further digit could exceed the integers that a double represents exactly. */
    private static final long MAX_VALUE = 900_000_000_000_000L;
}
