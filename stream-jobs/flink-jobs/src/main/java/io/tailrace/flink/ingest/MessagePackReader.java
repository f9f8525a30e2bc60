package io.tailrace.flink.ingest;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads the MessagePack values that a collector sends (msgpack specification of 2017), without copies and exceptions.
 * After invalid or truncated bytes or a value of another type, the reader is {@link #failed()}, and every later read
 * returns zero.
 *
 * <p>It is reused for every message, because there are hundreds of thousands per second. Not thread-safe.
 */
final class MessagePackReader {

    private static final int MAX_DEPTH = 32;
    private static final int MILLIS_PER_SECOND = 1000;
    private static final int NANOS_PER_MILLI = 1_000_000;
    private static final long UINT_MASK = 0xFFFF_FFFFL;

    private byte[] bytes;
    private int position;
    private boolean failed;
    private int stringFrom;
    private int stringTo;

    void reset(byte[] message) {
        bytes = message;
        position = 0;
        failed = false;
        stringFrom = 0;
        stringTo = 0;
    }

    boolean failed() {
        return failed;
    }

    /** Returns the index of the next unread byte. */
    int position() {
        return position;
    }

    /** Returns the first byte of the last string, as an index of the message. */
    int stringFrom() {
        return stringFrom;
    }

    /** Returns the index after the last byte of the last string. */
    int stringTo() {
        return stringTo;
    }

    /** Called a dozen times for each key of each line: most differ in length, so it is compared first. */
    boolean stringEquals(byte[] expected) {
        return stringTo - stringFrom == expected.length
                && Arrays.equals(bytes, stringFrom, stringTo, expected, 0, expected.length);
    }

    /** Returns the last string; bytes that are not UTF-8 are replaced. */
    String stringText() {
        return new String(bytes, stringFrom, stringTo - stringFrom, StandardCharsets.UTF_8);
    }

    /** Returns the number of key-value pairs of the map that starts here. */
    int readMap() {
        int type = (int) unsigned(1);
        if ((type & 0xF0) == 0x80) {
            return type & 0x0F;
        }
        return switch (type) {
            case 0xDE -> (int) unsigned(2);
            case 0xDF -> length(4);
            default -> fail();
        };
    }

    /** Reads a str or bin value; its position is in {@link #stringFrom()} and {@link #stringTo()}. */
    void readString() {
        int type = (int) unsigned(1);
        int length = (type & 0xE0) == 0xA0 ? type & 0x1F : longStringLength(type);
        stringFrom = position;
        advance(length);
        stringTo = failed ? stringFrom : position;
    }

    private int longStringLength(int type) {
        return switch (type) {
            case 0xC4, 0xD9 -> length(1);
            case 0xC5, 0xDA -> length(2);
            case 0xC6, 0xDB -> length(4);
            default -> fail();
        };
    }

    /** Reads an integer that is not negative and fits into a long. */
    long readUnsigned() {
        int type = (int) unsigned(1);
        if (type < 0x80) {
            return type;
        }
        long value =
                switch (type) {
                    case 0xCC -> unsigned(1);
                    case 0xCD -> unsigned(2);
                    case 0xCE -> unsigned(4);
                    case 0xCF, 0xD3 -> unsigned(8);
                    case 0xD0 -> (byte) unsigned(1);
                    case 0xD1 -> (short) unsigned(2);
                    case 0xD2 -> (int) unsigned(4);
                    default -> fail();
                };
        return value >= 0 ? value : fail();
    }

    boolean readBoolean() {
        int type = (int) unsigned(1);
        if (type != 0xC2 && type != 0xC3) {
            fail();
        }
        return type == 0xC3;
    }

    /** Reads seconds as a float, an integer or Fluent Bit's EventTime, and returns microseconds. */
    long readSeconds() {
        int type = peek();
        return switch (type) {
            case 0xCA -> micros(Float.intBitsToFloat((int) tagged(4)));
            case 0xCB -> micros(Double.longBitsToDouble(tagged(8)));
            case 0xD7 -> eventTime();
            default -> readUnsigned() * MILLIS_PER_SECOND * MILLIS_PER_SECOND;
        };
    }

    private static long micros(double seconds) {
        return Math.round(seconds * MILLIS_PER_SECOND * MILLIS_PER_SECOND);
    }

    /** Reads Fluent Bit's EventTime: fixext 8 of type 0, seconds and nanoseconds as 32-bit numbers. */
    private long eventTime() {
        advance(2);
        long seconds = unsigned(4);
        long nanos = unsigned(4);
        return seconds * MILLIS_PER_SECOND * MILLIS_PER_SECOND + nanos * MILLIS_PER_SECOND / NANOS_PER_MILLI;
    }

    private long tagged(int size) {
        advance(1);
        return unsigned(size);
    }

    /** Skips one value of any type. */
    void skip() {
        skip(MAX_DEPTH);
    }

    private void skip(int deepest) {
        int type = peek();
        if (failed || deepest == 0) {
            fail();
        } else if (isString(type)) {
            readString();
        } else if ((type & 0xF0) == 0x80 || type == 0xDE || type == 0xDF) {
            skipAll(2L * readMap(), deepest - 1);
        } else if ((type & 0xF0) == 0x90 || type == 0xDC || type == 0xDD) {
            skipAll(arrayLength(), deepest - 1);
        } else {
            skipScalar(type);
        }
    }

    private static boolean isString(int type) {
        return (type & 0xE0) == 0xA0 || (type >= 0xC4 && type <= 0xC6) || (type >= 0xD9 && type <= 0xDB);
    }

    private int arrayLength() {
        int type = (int) unsigned(1);
        return switch (type) {
            case 0xDC -> (int) unsigned(2);
            case 0xDD -> length(4);
            default -> type & 0x0F;
        };
    }

    private void skipAll(long values, int deepest) {
        for (long i = 0; i < values && !failed; i++) {
            skip(deepest);
        }
    }

    private void skipScalar(int type) {
        advance(1);
        if (type < 0x80 || type >= 0xE0) {
            return;
        }
        switch (type) {
            case 0xC0, 0xC2, 0xC3 -> {}
            case 0xCC, 0xD0 -> advance(1);
            case 0xCD, 0xD1, 0xD4 -> advance(2);
            case 0xCA, 0xCE, 0xD2 -> advance(4);
            case 0xCB, 0xCF, 0xD3 -> advance(8);
            case 0xD5 -> advance(3);
            case 0xD6 -> advance(5);
            case 0xD7 -> advance(9);
            case 0xD8 -> advance(17);
            case 0xC7 -> skipExtension(1);
            case 0xC8 -> skipExtension(2);
            case 0xC9 -> skipExtension(4);
            default -> fail();
        }
    }

    private void skipExtension(int sizeOfLength) {
        int length = length(sizeOfLength);
        advance(1);
        advance(length);
    }

    private int peek() {
        return position < bytes.length ? bytes[position] & 0xFF : fail();
    }

    private int length(int size) {
        long length = unsigned(size);
        return length <= bytes.length ? (int) length : fail();
    }

    private long unsigned(int size) {
        int from = position;
        advance(size);
        if (failed) {
            return 0;
        }
        return switch (size) {
            case 1 -> bytes[from] & 0xFF;
            case 2 -> (bytes[from] & 0xFF) << 8 | (bytes[from + 1] & 0xFF);
            case 4 -> fourBytes(from);
            default -> fourBytes(from) << 32 | fourBytes(from + 4);
        };
    }

    private long fourBytes(int from) {
        return ((bytes[from] & 0xFF) << 24
                        | (bytes[from + 1] & 0xFF) << 16
                        | (bytes[from + 2] & 0xFF) << 8
                        | (bytes[from + 3] & 0xFF))
                & UINT_MASK;
    }

    private void advance(int count) {
        if (failed || count < 0 || count > bytes.length - position) {
            fail();
        } else {
            position += count;
        }
    }

    private int fail() {
        failed = true;
        return 0;
    }
}
