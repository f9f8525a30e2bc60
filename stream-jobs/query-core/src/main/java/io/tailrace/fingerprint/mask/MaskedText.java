package io.tailrace.fingerprint.mask;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.NumberScanner;
import io.tailrace.lexer.SqlBytes;
import java.util.Arrays;

/**
 * The text that {@link Masker} writes: collapses white space, and records the first word and the place of the first
 * literal. Not thread-safe.
 */
final class MaskedText {

    /** Longest text, bytes. Later text is not written. */
    static final int MAX_LENGTH = 16 << 20;

    private static final byte[] VERSION_COMMENT = ByteText.ascii("/*!?");

    private byte[] out = new byte[1024];
    private int length;
    private boolean blankPending;
    private boolean commentPending;
    private int verbFrom;
    private int verbTo;
    /** Length at the first literal, or -1 before it. */
    private int trustedLength;
    /** The first literal is written as a name. */
    private boolean firstIsName;
    /** A name was written in another form than in the statement, or in place of an apparent literal. */
    private boolean rewritten;

    void clear() {
        length = 0;
        blankPending = false;
        commentPending = false;
        verbFrom = -1;
        trustedLength = -1;
        firstIsName = false;
        rewritten = false;
    }

    byte[] bytes() {
        return out;
    }

    int length() {
        return length;
    }

    /** Omits what was written after this length. */
    void truncate(int shorter) {
        length = shorter;
    }

    /** Separates the next token by a blank. */
    void blank() {
        blankPending = true;
    }

    void setBlank(boolean condition) {
        blankPending = condition;
    }

    /** Records that a comment was omitted, which counts as a blank only between two words. */
    void comment() {
        commentPending = true;
    }

    /** Writes the pending blank before the next byte. */
    void separate(byte next) {
        if (length > 0) {
            boolean split = commentPending && SqlBytes.isWord(out[length - 1]) && SqlBytes.isWord(next);
            if (blankPending || split) {
                put((byte) ' ');
            }
        }
        blankPending = false;
        commentPending = false;
    }

    void symbol(byte b) {
        separate(b);
        put(b);
    }

    void placeholder() {
        symbol((byte) '?');
    }

    /** Writes the placeholder of a literal whose end depends on its quotes. */
    void literal() {
        placeholder();
        trustedLength = trustedLength < 0 ? length : trustedLength;
    }

    /** Records that a name is written next which may be the statement's first literal. */
    void markName() {
        rewritten = true;
        firstIsName |= trustedLength < 0;
        trustedLength = trustedLength < 0 ? length : trustedLength;
    }

    void rewriteIf(boolean condition) {
        rewritten |= condition;
    }

    void word(byte[] bytes, int from, int end) {
        separate(bytes[from]);
        int start = length;
        copy(bytes, from, end);
        if (verbFrom < 0) {
            verbFrom = start;
            verbTo = length;
        }
    }

    void copy(byte[] bytes, int from, int end) {
        int size = Math.min(end - from, MAX_LENGTH - length);
        if (length + size > out.length) {
            out = Arrays.copyOf(out, grown(length + size));
        }
        ByteText.copy(bytes, from, out, length, size);
        length += size;
    }

    void put(byte b) {
        if (length == out.length) {
            if (length == MAX_LENGTH) {
                return;
            }
            out = Arrays.copyOf(out, grown(length + 1));
        }
        out[length++] = b;
    }

    private int grown(int size) {
        return Math.min(MAX_LENGTH, Math.max(out.length * 2, size));
    }

    /** Omits everything after the first literal. */
    void cutAtFirstLiteral() {
        length = trustedLength;
        if (firstIsName) {
            put((byte) '?');
        }
    }

    /** Omits a comment whose end depends on the server, and what follows it. */
    void cutAtVersionComment(int place) {
        length = Math.min(length, place);
        verbFrom = verbFrom < length ? verbFrom : -1;
        if (length > 0) {
            put((byte) ' ');
        }
        for (byte b : VERSION_COMMENT) {
            put(b);
        }
    }

    /** Returns whether a literal was written before this length, or as its last byte. */
    boolean hasLiteralUpTo(int place) {
        return trustedLength >= 0 && trustedLength <= place;
    }

    boolean isRewritten() {
        return rewritten;
    }

    boolean endsWith(char c) {
        return length > 0 && out[length - 1] == c;
    }

    /** Returns whether neither white space nor a comment separates the next token from the previous one. */
    boolean isAdjacent() {
        return !blankPending && !commentPending;
    }

    /** Returns whether the next token directly follows this character. */
    boolean isDirectlyAfter(char c) {
        return isAdjacent() && endsWith(c);
    }

    /** Returns whether the text ends with a word, even if white space follows it. */
    boolean endsWithWord() {
        return length > 0 && SqlBytes.isWord(out[length - 1]);
    }

    /** Returns whether the text ends with a word, quoted name or placeholder; double quotes enclose nothing else. */
    boolean endsWithName() {
        return endsWithWord() || endsWith('`') || endsWith('"') || endsWith('?');
    }

    /** Returns whether the text ends with a placeholder, or with a name that {@link NameMask} replaces by one. */
    boolean endsWithNumber() {
        int i = length - 1;
        while (i >= 0 && NumberScanner.belongsToRun(out[i]) && !ByteText.isDigit(out[i])) {
            i--;
        }
        return i >= 0 && (ByteText.isDigit(out[i]) || i == length - 1 && out[i] == '?');
    }

    /** Returns whether the grammar allows the name of a character set next. */
    boolean mayPrecedeCharacterSet() {
        return CharacterSets.mayFollow(out, length, verbFrom, verbTo);
    }

    /** Returns whether the first word is this keyword, which is given in lower case. */
    boolean isVerb(byte[] keyword) {
        return verbFrom >= 0 && ByteText.equalsIgnoreCase(out, verbFrom, verbTo, keyword);
    }

    /** Returns whether the first word is this keyword and nothing precedes it. */
    boolean startsWithVerb(byte[] keyword) {
        return verbFrom == 0 && isVerb(keyword);
    }
}
