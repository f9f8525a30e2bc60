package io.tailrace.errorlog;

import io.tailrace.lexer.ByteText;
import java.util.List;

/**
 * Follows what a message quotes without saying that it is a statement: a value of a row, a name of an account, a text
 * that a routine signals. It may hold line feeds, and after one whatever a client likes. An apostrophe between letters
 * ({@code doesn't}) quotes nothing. Not thread-safe.
 */
final class OpenQuote {

    /** A value stands between the two texts. The last occurrence of the second one ends it: values may hold any. */
    record Pair(String before, String after) {}

    // spotless:off
    static final List<Pair> PAIRS = List.of(
        new Pair("Duplicate entry '", "' for key"),
        new Pair(" value: '", "' for "),
        new Pair(" value '", "' for "),
        new Pair("near '", "' at line"),
        new Pair("Duplicate key entry '", "'"),
        new Pair("--auth '", "'"),
        new Pair("--password '", "'"));
    // spotless:on

    private static final byte[] QUOTE = {'\''};

    private boolean open;

    boolean isOpen() {
        return open;
    }

    void reset() {
        open = false;
    }

    void restore(boolean saved) {
        open = saved;
    }

    /** Reads a line of the message without its line end. */
    void line(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            open ^= isQuote(bytes, i, from, to);
        }
    }

    private static boolean isQuote(byte[] bytes, int i, int from, int to) {
        boolean apostrophe = i > from && i + 1 < to && isLetter(bytes[i - 1]) && isLetter(bytes[i + 1]);
        return bytes[i] == '\'' && !apostrophe;
    }

    private static boolean isLetter(byte b) {
        byte lower = ByteText.lower(b);
        return b < 0 || lower >= 'a' && lower <= 'z';
    }

    /** Where the value starts that goes on behind a line, and what closes it. */
    record Opening(int from, byte[] closing) {}

    /** The value that this line opens and does not close; null without one. */
    static Opening opening(byte[] bytes, int from, int to) {
        for (Pair pair : PAIRS) {
            byte[] before = ByteText.ascii(pair.before());
            byte[] after = ByteText.ascii(pair.after());
            int at = ByteText.indexOf(bytes, from, to, before);
            if (at >= 0 && ByteText.indexOf(bytes, at + before.length, to, after) < 0) {
                return new Opening(at + before.length, after);
            }
        }
        int last = -1;
        for (int i = from; i < to; i++) {
            if (isQuote(bytes, i, from, to)) {
                last = last < 0 ? i : -1;
            }
        }
        return last < 0 ? null : new Opening(last + 1, QUOTE);
    }
}
