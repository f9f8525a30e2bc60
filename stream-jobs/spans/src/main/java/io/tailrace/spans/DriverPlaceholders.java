package io.tailrace.spans;

import io.tailrace.lexer.SqlBytes;
import java.util.Arrays;

/**
 * Replaces the placeholders of drivers that send literals to the server in their place: Python's {@code %s} and
 * {@code %(name)s}, PHP's {@code :name}. Spans contain the statement of the program, logs that of the server. With
 * {@code ?} as placeholder both have the same class. Placeholders within literals are also replaced, which has no
 * effect.
 */
final class DriverPlaceholders {

    private DriverPlaceholders() {}

    /** Returns the statement with each placeholder replaced; the same array if there is none. */
    static byte[] replaced(byte[] statement) {
        int first = next(statement, 0);
        return first == statement.length ? statement : replaced(statement, first);
    }

    private static byte[] replaced(byte[] in, int first) {
        byte[] out = new byte[in.length];
        int length = 0;
        int from = 0;
        int at = first;
        while (at < in.length) {
            System.arraycopy(in, from, out, length, at - from);
            length += at - from;
            out[length++] = (byte) '?';
            from = end(in, at);
            at = next(in, from);
        }
        System.arraycopy(in, from, out, length, in.length - from);
        return Arrays.copyOf(out, length + in.length - from);
    }

    private static int next(byte[] in, int from) {
        int i = from;
        while (i < in.length && end(in, i) < 0) {
            i++;
        }
        return i;
    }

    /** Returns the index after the placeholder at an index, or -1 if there is none. */
    private static int end(byte[] in, int at) {
        return switch (in[at]) {
            case '%' -> percent(in, at);
            case ':' -> colon(in, at);
            default -> -1;
        };
    }

    /** Returns the end of a placeholder with a percent sign, which is an operator after a word. */
    private static int percent(byte[] in, int at) {
        if (at > 0 && SqlBytes.isWord(in[at - 1])) {
            return -1;
        }
        int s = at + 1;
        if (s < in.length && in[s] == '(') {
            s = SqlBytes.wordEnd(in, s + 1, in.length);
            if (s >= in.length || in[s] != ')') {
                return -1;
            }
            s++;
        }
        boolean is = s < in.length && in[s] == 's' && SqlBytes.wordEnd(in, s, in.length) == s + 1;
        return is ? s + 1 : -1;
    }

    /**
     * Returns the end of a placeholder with a colon, which is not {@code :=}, and no label or time, because those
     * follow a word.
     */
    private static int colon(byte[] in, int at) {
        boolean behindWord = at > 0 && (SqlBytes.isWord(in[at - 1]) || in[at - 1] == ':');
        int end = SqlBytes.wordEnd(in, at + 1, in.length);
        boolean named = end > at + 1 && !isDigit(in[at + 1]);
        return named && !behindWord ? end : -1;
    }

    private static boolean isDigit(byte b) {
        return b >= '0' && b <= '9';
    }
}
