package io.tailrace.lexer;

/**
 * Reads the no-break space as servers do whose client's character set has one byte per character: as white space. Logs
 * contain it as sent, 0xA0, or in UTF-8, 0xC2 0xA0. In UTF-8, 0xA0 is also part of other characters. For original text
 * only: in a masked one, the spaces in quoted names are part of them.
 */
public final class NoBreakSpace {

    private static final byte LAST = (byte) 0xa0;
    private static final byte FIRST = (byte) 0xc2;

    /** Bytes that are part of a word wherever they are. */
    private static final boolean[] WORD = new boolean[256];

    static {
        for (int b = 0; b < 256; b++) {
            WORD[b] = SqlBytes.isWord((byte) b) && (byte) b != LAST;
        }
    }

    private NoBreakSpace() {}

    /**
     * Returns the index after the no-break space at the index, or the index if there is none.
     *
     * @param i first byte of a character, before the end
     */
    public static int after(byte[] bytes, int i, int to) {
        if (bytes[i] == LAST) {
            return i + 1;
        }
        return bytes[i] == FIRST && i + 1 < to && bytes[i + 1] == LAST ? i + 2 : i;
    }

    /** Returns the index of the first byte at or after {@code from} that is no white space of a statement. */
    public static int skipBlanks(byte[] bytes, int from, int to) {
        int i = ByteText.skipBlanks(bytes, from, to);
        while (i < to && bytes[i] < 0 && after(bytes, i, to) > i) {
            i = ByteText.skipBlanks(bytes, after(bytes, i, to), to);
        }
        return i;
    }

    /** Returns whether a byte of a word is at the index, which may be {@code to}. */
    public static boolean isWordAt(byte[] bytes, int i, int to) {
        return i < to && SqlBytes.isWord(bytes[i]) && after(bytes, i, to) == i;
    }

    /**
     * Returns the index of the first byte at or after {@code from} that is not part of a word, or {@code to}.
     *
     * @param from first byte of a character
     */
    public static int wordEnd(byte[] bytes, int from, int to) {
        int end = from;
        while (end < to && WORD[bytes[end] & 0xff]) {
            end++;
        }
        return end < to && bytes[end] == LAST ? wordEnd(bytes, from, end, to) : end;
    }

    /** Continues at a byte 0xA0; a method of its own keeps the loop above small. */
    private static int wordEnd(byte[] bytes, int from, int at, int to) {
        int end = at;
        while (end < to && (WORD[bytes[end] & 0xff] || isPartOfCharacter(bytes, from, end, to))) {
            if (bytes[end] == LAST && bytes[end - 1] == FIRST) {
                return end - 1;
            }
            end++;
        }
        return end;
    }

    /** Returns whether 0xA0 belongs to a valid character in UTF-8 that begins at or after {@code from}. */
    private static boolean isPartOfCharacter(byte[] bytes, int from, int at, int to) {
        if (bytes[at] != LAST) {
            return false;
        }
        int first = at - 1;
        while (first >= from && first > at - 3 && isContinuation(bytes[first])) {
            first--;
        }
        return first >= from && at < first + size(bytes[first]) && isCharacter(bytes, first, to);
    }

    private static boolean isCharacter(byte[] bytes, int first, int to) {
        int end = first + size(bytes[first]);
        if (end > to) {
            return false;
        }
        for (int i = first + 1; i < end; i++) {
            if (!isContinuation(bytes[i])) {
                return false;
            }
        }
        int second = bytes[first + 1] & 0xff;
        return switch (bytes[first] & 0xff) {
            case 0xe0 -> second >= 0xa0;
            case 0xed -> second < 0xa0;
            case 0xf0 -> second >= 0x90;
            case 0xf4 -> second < 0x90;
            default -> true;
        };
    }

    private static boolean isContinuation(byte b) {
        return (b & 0xc0) == 0x80;
    }

    /** Returns the number of bytes of a character by its first byte; 0 if no character of several bytes begins with it. */
    private static int size(byte first) {
        int b = first & 0xff;
        if (b < 0xc2 || b > 0xf4) {
            return 0;
        }
        return b < 0xe0 ? 2 : b < 0xf0 ? 3 : 4;
    }
}
