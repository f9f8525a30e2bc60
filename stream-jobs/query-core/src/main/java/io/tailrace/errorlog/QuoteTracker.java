package io.tailrace.errorlog;

import io.tailrace.lexer.ByteText;
import java.util.List;

/**
 * Tracks text that a message quotes without marking it as a statement: a value of a row, a name of an account, a text
 * that a routine signals. It may contain line feeds, and arbitrary text after them. An apostrophe between letters
 * ({@code doesn't}) is not a quotation mark. Not thread-safe.
 */
final class QuoteTracker {

    /**
     * A value is enclosed by the two texts. The last occurrence of the second one ends it, because values may contain
     * any text.
     */
    record Pair(String before, String after) {}

    // spotless:off
    static final List<Pair> PAIRS = List.of(
        new Pair("Duplicate entry '", "' for key"),
        new Pair(" value: '", "' for "),
        new Pair(" value '", "' for "),
        new Pair("near '", "' at line"),
        new Pair("can't be set to the value of '", "'"),
        new Pair("value is out of range in '", "'"),
        new Pair("no partition for value ", "'"),
        new Pair("annot convert string '", "' from "),
        new Pair("character string: '", "'"),
        new Pair("XPATH syntax error: '", "'"),
        new Pair("actual message='", "', error code="),
        new Pair(" fields): {", "}"),
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
        open ^= lastOpening(bytes, from, to) >= 0;
    }

    /**
     * Returns the index of the quotation mark that the line leaves open, or -1. No quotation mark may be open before
     * the line.
     */
    private static int lastOpening(byte[] bytes, int from, int to) {
        int last = -1;
        int i = nextMark(bytes, from, to);
        while (i < to) {
            if (!isApostrophe(bytes, i, from, to)) {
                last = last < 0 ? i : -1;
            }
            i = nextMark(bytes, i + 1, to);
        }
        return last;
    }

    private static int nextMark(byte[] bytes, int from, int to) {
        return ByteText.firstOf(bytes, from, to, (byte) '\'', (byte) '\'');
    }

    private static boolean isApostrophe(byte[] bytes, int i, int from, int to) {
        return i > from && i + 1 < to && isLetter(bytes[i - 1]) && isLetter(bytes[i + 1]);
    }

    private static boolean isLetter(byte b) {
        byte lower = ByteText.lower(b);
        return b < 0 || lower >= 'a' && lower <= 'z';
    }

    /** Where a value starts that continues after its line, and the text that closes it. */
    record Opening(int from, byte[] closing) {}

    /** Returns the value that this line opens and does not close; null if there is none. */
    static Opening opening(byte[] bytes, int from, int to) {
        for (Pair pair : PAIRS) {
            byte[] before = ByteText.ascii(pair.before());
            byte[] after = ByteText.ascii(pair.after());
            int at = ByteText.indexOf(bytes, from, to, before);
            if (at >= 0 && ByteText.indexOf(bytes, at + before.length, to, after) < 0) {
                return new Opening(at + before.length, after);
            }
        }
        int last = lastOpening(bytes, from, to);
        return last < 0 ? null : new Opening(last + 1, QUOTE);
    }
}
