package io.tailrace.fingerprint;

import io.tailrace.lexer.ByteText;
import java.util.Arrays;

/**
 * Second step of a fingerprint: lower case, and each run of a digit and the hexadecimal digits after it as one
 * {@code ?}. A masked text holds no literal, so every digit in it belongs to a name. Not thread-safe.
 */
final class NameMask {

    private byte[] out = new byte[1024];
    private int length;

    /** Masks the names of {@code [0, end)}; the result is in {@link #bytes()} up to {@link #length()}. */
    void mask(byte[] masked, int end) {
        reserve(end);
        length = 0;
        int i = 0;
        while (i < end) {
            byte b = masked[i++];
            if (ByteText.isDigit(b)) {
                out[length++] = '?';
                while (i < end && Numbers.belongsToRun(masked[i])) {
                    i++;
                }
            } else {
                out[length++] = ByteText.lower(b);
            }
        }
    }

    /** A CALL up to its arguments; the procedure's name keeps its digits, as for Percona's tools. */
    void call(byte[] masked, int end) {
        reserve(end);
        length = 0;
        while (length < end && masked[length] != '(') {
            out[length] = ByteText.lower(masked[length]);
            length++;
        }
        length = ByteText.trimBlanks(out, 0, length);
    }

    byte[] bytes() {
        return out;
    }

    int length() {
        return length;
    }

    /** A name as it stands in fingerprints, such as {@code orders_?} for {@code orders_2024}. */
    static String masked(String name) {
        byte[] bytes = ByteText.bytes(name);
        NameMask mask = new NameMask();
        mask.mask(bytes, bytes.length);
        return ByteText.utf8(mask.out, 0, mask.length);
    }

    private void reserve(int size) {
        if (size > out.length) {
            out = Arrays.copyOf(out, Math.max(out.length * 2, size));
        }
    }
}
