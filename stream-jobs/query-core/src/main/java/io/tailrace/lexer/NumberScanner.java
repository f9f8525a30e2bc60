package io.tailrace.lexer;

/** Recognizes numbers in MySQL's syntax: 12, 1.5, .5, 1e-3, 0xFF, 0b01. */
public final class NumberScanner {

    private NumberScanner() {}

    /** Returns the index after the number that starts at {@code from} with a digit or a point. */
    public static int end(byte[] bytes, int from, int to) {
        if (bytes[from] == '0' && from + 2 < to && ByteText.lower(bytes[from + 1]) == 'x' && isHex(bytes[from + 2])) {
            return hexEnd(bytes, from + 2, to);
        }
        int end = digitsEnd(bytes, from, to);
        if (end < to && bytes[end] == '.') {
            end = digitsEnd(bytes, end + 1, to);
        }
        return exponentEnd(bytes, end, to);
    }

    /**
     * Returns whether a number directly before a word is the beginning of a name: digits and hexadecimal numbers are.
     * After a point or an exponent, a number ends, and {@code 1.0FROM} is a number and a keyword.
     *
     * @param end the result of {@link #end}
     */
    public static boolean mayBeginName(byte[] bytes, int from, int end) {
        return digitsEnd(bytes, from, end) == end || bytes[from] == '0' && ByteText.lower(bytes[from + 1]) == 'x';
    }

    private static int exponentEnd(byte[] bytes, int end, int to) {
        if (end == to || ByteText.lower(bytes[end]) != 'e') {
            return end;
        }
        int digits = end + 1;
        if (digits < to && (bytes[digits] == '+' || bytes[digits] == '-')) {
            digits++;
        }
        return digits < to && ByteText.isDigit(bytes[digits]) ? digitsEnd(bytes, digits, to) : end;
    }

    private static int digitsEnd(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && ByteText.isDigit(bytes[i])) {
            i++;
        }
        return i;
    }

    private static int hexEnd(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && isHex(bytes[i])) {
            i++;
        }
        return i;
    }

    public static boolean isHex(byte b) {
        byte lower = ByteText.lower(b);
        return ByteText.isDigit(b) || lower >= 'a' && lower <= 'f';
    }

    /**
     * Returns whether a byte after a digit within a name counts as part of the same number: hexadecimal digits and x.
     */
    public static boolean belongsToRun(byte b) {
        return isHex(b) || ByteText.lower(b) == 'x';
    }
}
