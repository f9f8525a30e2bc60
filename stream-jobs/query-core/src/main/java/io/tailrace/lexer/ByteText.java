package io.tailrace.lexer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Reads ASCII text in ranges of raw bytes without creating strings. Ranges are {@code [from, to)}. */
public final class ByteText {

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long LOW_BITS = 0x0101010101010101L;
    private static final long HIGH_BITS = 0x8080808080808080L;
    private static final long CASE_BITS = 0x20 * LOW_BITS;
    private static final long FEEDS = '\n' * LOW_BITS;
    private static final long AFTER_BLANK = '!' * LOW_BITS;
    private static final long PRIME = 0x9e3779b97f4a7c15L;

    private ByteText() {}

    /** Returns the index after the last byte of a line that is not part of its line end, {@code \n} or {@code \r\n}. */
    public static int withoutLineEnd(byte[] bytes, int from, int to) {
        int end = to;
        if (end > from && bytes[end - 1] == '\n') {
            end--;
        }
        if (end > from && bytes[end - 1] == '\r') {
            end--;
        }
        return end;
    }

    /** Returns the index of the first line feed at or after {@code from}, or {@code to} if there is none. */
    public static int lineFeed(byte[] bytes, int from, int to) {
        int i = from;
        for (; i + Long.BYTES <= to; i += Long.BYTES) {
            long found = zeros((long) LONGS.get(bytes, i) ^ FEEDS);
            if (found != 0) {
                return i + (Long.numberOfTrailingZeros(found) >>> 3);
            }
        }
        while (i < to && bytes[i] != '\n') {
            i++;
        }
        return i;
    }

    /** Returns the index of the first byte that equals either of the two, or {@code to} if there is none. */
    public static int firstOf(byte[] bytes, int from, int to, byte one, byte other) {
        long ones = (one & 0xffL) * LOW_BITS;
        long others = (other & 0xffL) * LOW_BITS;
        int i = from;
        for (; i + Long.BYTES <= to; i += Long.BYTES) {
            long eight = (long) LONGS.get(bytes, i);
            long found = zeros(eight ^ ones) | zeros(eight ^ others);
            if (found != 0) {
                return i + (Long.numberOfTrailingZeros(found) >>> 3);
            }
        }
        while (i < to && bytes[i] != one && bytes[i] != other) {
            i++;
        }
        return i;
    }

    /**
     * Copies bytes. A copy of up to eight bytes overwrites the bytes after it, because it writes eight at once.
     */
    public static void copy(byte[] bytes, int from, byte[] out, int at, int size) {
        if (size <= Long.BYTES && from + Long.BYTES <= bytes.length && at + Long.BYTES <= out.length) {
            LONGS.set(out, at, (long) LONGS.get(bytes, from));
        } else {
            System.arraycopy(bytes, from, out, at, size);
        }
    }

    /** Returns the high bit of each byte that is zero, up to the lowest of them; the bits above may be wrong. */
    private static long zeros(long eight) {
        return (eight - LOW_BITS) & ~eight & HIGH_BITS;
    }

    /** Returns the index of the first blank at or after {@code from}, or {@code to} if there is none. */
    public static int wordEnd(byte[] bytes, int from, int to) {
        int i = from;
        for (; i + Long.BYTES <= to; i += Long.BYTES) {
            long eight = (long) LONGS.get(bytes, i);
            long low = (eight - AFTER_BLANK) & ~eight & HIGH_BITS;
            if (low != 0) {
                i += Long.numberOfTrailingZeros(low) >>> 3;
                break;
            }
        }
        while (i < to && !isBlank(bytes[i])) {
            i++;
        }
        return i;
    }

    /**
     * Returns a well-mixed hash of the range for tables in memory, computed from eight bytes at a time. Not for
     * security.
     */
    public static int hash(byte[] bytes, int from, int to) {
        return hash(bytes, from, to, 0);
    }

    /** Returns a hash that is the same for every combination of upper and lower case of a word. */
    static int hashIgnoreCase(byte[] bytes, int from, int to) {
        return hash(bytes, from, to, CASE_BITS);
    }

    private static int hash(byte[] bytes, int from, int to, long set) {
        long hash = PRIME ^ (to - from);
        int i = from;
        for (; i + Long.BYTES <= to; i += Long.BYTES) {
            hash = join(hash, (long) LONGS.get(bytes, i) | set);
        }
        long rest = 0;
        while (i < to) {
            rest = rest << Byte.SIZE | bytes[i++] & 0xff;
        }
        hash = join(hash, rest | set);
        return (int) (hash ^ hash >>> 32);
    }

    private static long join(long hash, long eight) {
        long product = (hash ^ eight) * PRIME;
        return product ^ product >>> 29;
    }

    public static boolean startsWith(byte[] bytes, int from, int to, byte[] prefix) {
        if (to - from < prefix.length) {
            return false;
        }
        for (int i = 0; i < prefix.length; i++) {
            if (bytes[from + i] != prefix[i]) {
                return false;
            }
        }
        return true;
    }

    /** Works like {@link #startsWith}; the prefix is lower-case ASCII and matches letters of either case. */
    public static boolean startsWithIgnoreCase(byte[] bytes, int from, int to, byte[] lowerCasePrefix) {
        if (to - from < lowerCasePrefix.length) {
            return false;
        }
        for (int i = 0; i < lowerCasePrefix.length; i++) {
            if (lower(bytes[from + i]) != lowerCasePrefix[i]) {
                return false;
            }
        }
        return true;
    }

    public static boolean endsWith(byte[] bytes, int from, int to, byte[] suffix) {
        return to - from >= suffix.length && startsWith(bytes, to - suffix.length, to, suffix);
    }

    public static boolean equalsIgnoreCase(byte[] bytes, int from, int to, byte[] lowerCaseWord) {
        return to - from == lowerCaseWord.length && startsWithIgnoreCase(bytes, from, to, lowerCaseWord);
    }

    /**
     * Returns the index of the first occurrence, or -1. Eight positions are compared at a time, by their first two
     * bytes.
     */
    public static int indexOf(byte[] bytes, int from, int to, byte[] wanted) {
        long firsts = (wanted[0] & 0xffL) * LOW_BITS;
        int next = Math.min(1, wanted.length - 1);
        long seconds = (wanted[next] & 0xffL) * LOW_BITS;
        int last = to - wanted.length;
        int i = from;
        for (; i + Long.BYTES < to; i += Long.BYTES) {
            long found =
                    zeros((long) LONGS.get(bytes, i) ^ firsts) & zeros((long) LONGS.get(bytes, i + next) ^ seconds);
            for (; found != 0; found &= found - 1) {
                int at = i + (Long.numberOfTrailingZeros(found) >>> 3);
                if (startsWith(bytes, at, to, wanted)) {
                    return at;
                }
            }
        }
        for (; i <= last; i++) {
            if (startsWith(bytes, i, to, wanted)) {
                return i;
            }
        }
        return -1;
    }

    /** Returns the index of the last occurrence, or -1. */
    public static int lastIndexOf(byte[] bytes, int from, int to, byte[] wanted) {
        for (int i = to - wanted.length; i >= from; i--) {
            if (bytes[i] == wanted[0] && startsWith(bytes, i, to, wanted)) {
                return i;
            }
        }
        return -1;
    }

    public static int skipBlanks(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && isBlank(bytes[i])) {
            i++;
        }
        return i;
    }

    public static int trimBlanks(byte[] bytes, int from, int to) {
        int i = to;
        while (i > from && isBlank(bytes[i - 1])) {
            i--;
        }
        return i;
    }

    public static boolean isBlank(byte b) {
        return b == ' ' || b >= '\t' && b <= '\r';
    }

    public static boolean isDigit(byte b) {
        return b >= '0' && b <= '9';
    }

    /** Returns the lower case of an ASCII letter, or any other byte unchanged. */
    public static byte lower(byte b) {
        return b >= 'A' && b <= 'Z' ? (byte) (b + 32) : b;
    }

    /** Parses an unsigned decimal of at most 18 digits; returns -1 if the range is not one. */
    public static long unsigned(byte[] bytes, int from, int to) {
        if (from >= to || to - from > 18) {
            return -1;
        }
        long value = 0;
        for (int i = from; i < to; i++) {
            if (!isDigit(bytes[i])) {
                return -1;
            }
            value = value * 10 + bytes[i] - '0';
        }
        return value;
    }

    public static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    public static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Decodes UTF-8; invalid bytes become the replacement character. */
    public static String utf8(byte[] bytes, int from, int to) {
        return new String(bytes, from, to - from, StandardCharsets.UTF_8);
    }
}
