package io.tailrace.fingerprint.mask;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.NoBreakSpace;
import io.tailrace.lexer.NumberScanner;
import io.tailrace.lexer.QuotedText;
import io.tailrace.lexer.SqlMode;

/**
 * Reads one part of an account's name, the user or the host, quoted or not. A part is not readable if its end depends
 * on the server's mode, or if no server would accept it. Not thread-safe.
 */
final class NamePart {

    /** Longest part, bytes: servers allow 128 and 255 characters. */
    private static final int MAX_LENGTH = 255;

    private final SqlMode mode;
    private final QuotedText quotedText = new QuotedText();
    private final byte[] name = new byte[MAX_LENGTH];
    private int length;
    private int end;
    private boolean placeholder;
    private boolean glued;

    NamePart(SqlMode mode) {
        this.mode = mode;
    }

    /** Reads a user, role or quoted name; returns the index after it, or -1. */
    int read(byte[] bytes, int from, int to) {
        return read(bytes, from, to, false);
    }

    /** Reads a host, which may contain points. */
    int readHost(byte[] bytes, int from, int to) {
        return read(bytes, from, to, true);
    }

    private int read(byte[] bytes, int from, int to, boolean host) {
        length = 0;
        placeholder = false;
        glued = false;
        end = from == to
                ? -1
                : switch (bytes[from]) {
                    case '\'', '"', '`' -> quoted(bytes, from, to);
                    case '?' -> placeholder(from);
                    default -> bare(bytes, from, to, host);
                };
        return end;
    }

    /** Returns the bytes of the latest part, without quotes, up to {@link #length}. */
    byte[] bytes() {
        return name;
    }

    int length() {
        return length;
    }

    int end() {
        return end;
    }

    /** Returns whether the part is a question mark, of a prepared statement or in place of a literal. */
    boolean isPlaceholder() {
        return placeholder;
    }

    /** Returns whether a word directly follows the quotes. */
    boolean isGlued() {
        return glued;
    }

    void toLowerCase() {
        for (int i = 0; i < length; i++) {
            name[i] = ByteText.lower(name[i]);
        }
    }

    private int placeholder(int from) {
        placeholder = true;
        return from + 1;
    }

    private int quoted(byte[] bytes, int from, int to) {
        boolean escapes = mode.backslashEscapes(bytes[from]);
        int after = quotedText.end(bytes, from, to, escapes);
        if (!quotedText.isClosed()) {
            return -1;
        }
        for (int i = from + 1; i < after - 1; i++) {
            i += bytes[i] == bytes[from] ? 1 : 0; // the quote is doubled
            if (length == MAX_LENGTH || !isOfName(bytes[i], escapes)) {
                return -1;
            }
            name[length++] = bytes[i];
        }
        glued = NoBreakSpace.isWordAt(bytes, after, to);
        return after;
    }

    /** Returns whether a byte may be part of a name; backticks would end the quotes in which the name is written. */
    private static boolean isOfName(byte b, boolean escapes) {
        return (b >= ' ' || b < 0) && b != 0x7f && b != '`' && !(escapes && b == '\\');
    }

    private int bare(byte[] bytes, int from, int to, boolean host) {
        int i = NoBreakSpace.wordEnd(bytes, from, to);
        while (host && i < to && bytes[i] == '.') {
            i = NoBreakSpace.wordEnd(bytes, i + 1, to);
        }
        boolean text = i < to && (bytes[i] == '\'' || bytes[i] == '"');
        if (i == from || i - from > MAX_LENGTH || text || bytes[from] == '$' || !host && !isWord(bytes, from, i)) {
            return -1;
        }
        length = i - from;
        System.arraycopy(bytes, from, name, 0, length);
        return i;
    }

    /** Returns whether the range is a word that is neither a number nor a constant. */
    private static boolean isWord(byte[] bytes, int from, int to) {
        return !ByteText.isDigit(bytes[from]) && !LiteralReader.isConstant(bytes, from, to)
                || ByteText.isDigit(bytes[from]) && NumberScanner.end(bytes, from, to) < to;
    }
}
