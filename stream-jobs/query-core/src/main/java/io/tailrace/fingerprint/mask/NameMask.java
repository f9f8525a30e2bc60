package io.tailrace.fingerprint.mask;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.NumberScanner;
import io.tailrace.lexer.SqlBytes;
import java.util.Arrays;

/**
 * Second step of a fingerprint: converts to lower case and, in statements that read or write rows, replaces each run
 * of a digit and the hexadecimal digits after it by one {@code ?}. A masked text contains no literal, so every digit
 * in it belongs to a name. Not thread-safe.
 */
public final class NameMask {

    private static final byte[] DEFINER = ByteText.ascii("definer");

    /** Whether names are kept according to {@link NameMaskRules}, as since tailrace-2. */
    private final boolean namesKept;

    private byte[] in;
    private int to;
    private byte[] out = new byte[1024];
    private int length;
    /** A name is kept that the rules before tailrace-2 would have masked. */
    private boolean kept;

    public NameMask(boolean namesKept) {
        this.namesKept = namesKept;
    }

    /** Masks the names of {@code [0, end)}; the result is in {@link #bytes()} up to {@link #length()}. */
    public void mask(byte[] masked, int end) {
        in = masked;
        to = end;
        reserve(end);
        length = 0;
        kept = false;
        statements(0);
        in = null;
    }

    private void statements(int start) {
        int from = start;
        while (from < to) {
            NameMaskRules rules = namesKept ? NameMaskRules.of(in, from, to) : NameMaskRules.MASKED;
            int next = namesKept && rules != NameMaskRules.PROGRAM ? NameMaskRules.end(in, from, to) : to;
            statement(from, next, rules);
            from = next;
        }
    }

    private void statement(int from, int end, NameMaskRules rules) {
        if (rules == NameMaskRules.MASKED) {
            masked(from, end);
        } else {
            boolean accounts = rules == NameMaskRules.ACCOUNTS || rules == NameMaskRules.PROGRAM;
            kept |= accounts;
            kept(from, end, accounts);
        }
    }

    private void masked(int from, int end) {
        int i = from;
        while (i < end) {
            byte b = in[i];
            if (!ByteText.isDigit(b)) {
                out[length++] = ByteText.lower(b);
                i++;
            } else if (namesKept && isCharacterSet(i)) {
                i = copy(i, SqlBytes.wordEnd(in, i, end));
            } else {
                i = run(i, end);
            }
        }
    }

    /** Writes one placeholder for the digits that begin here. */
    private int run(int from, int end) {
        out[length++] = '?';
        int i = from + 1;
        while (i < end && NumberScanner.belongsToRun(in[i])) {
            i++;
        }
        return i;
    }

    /** Returns whether this is the first digit of a word that is a character set's name in the position of one. */
    private boolean isCharacterSet(int digit) {
        int from = wordStart(digit);
        return CharacterSets.isName(in, from, SqlBytes.wordEnd(in, digit, to)) && CharacterSets.isInPosition(in, from);
    }

    private void kept(int from, int end, boolean accounts) {
        int i = from;
        while (i < end) {
            byte b = in[i];
            if (b == '`' || b == '"') {
                i = quoted(i, end, accounts);
            } else if (SqlBytes.isWord(b)) {
                i = word(i, end);
            } else {
                out[length++] = b;
                i++;
            }
        }
    }

    /**
     * Writes a word. Text that begins with a digit may be a number, and applications often number their user
     * variables.
     */
    private int word(int from, int end) {
        int wordEnd = SqlBytes.wordEnd(in, from, end);
        if (ByteText.isDigit(in[from]) || isVariable(from)) {
            masked(from, wordEnd);
            return wordEnd;
        }
        // In the statement it may have been a quoted literal.
        kept |= CharacterSets.isName(in, from, wordEnd);
        return copy(from, wordEnd);
    }

    private boolean isVariable(int from) {
        boolean at = isAt(from - 1, '@');
        return at && (from == 1 || !SqlBytes.isWord(in[from - 2]) && !isAt(from - 2, '@') && !isAt(from - 2, '`'));
    }

    /** Writes a quoted name; those of accounts keep their case. */
    private int quoted(int from, int end, boolean accounts) {
        int close = from + 1;
        while (close < end && in[close] != in[from]) {
            close++;
        }
        int after = Math.min(close + 1, end);
        boolean ofAccount = accounts || isAt(from - 1, '@') || isAt(after, '@') || isDefiner(from);
        if (!ofAccount || in[from] != '`') {
            return copy(from, after);
        }
        System.arraycopy(in, from, out, length, after - from);
        length += after - from;
        kept = true;
        return after;
    }

    private boolean isDefiner(int from) {
        int equals = ByteText.trimBlanks(in, 0, from) - 1;
        int word = equals < 0 || in[equals] != '=' ? 0 : ByteText.trimBlanks(in, 0, equals);
        return ByteText.equalsIgnoreCase(in, wordStart(word), word, DEFINER);
    }

    private boolean isAt(int i, char c) {
        return i >= 0 && i < to && in[i] == c;
    }

    private int wordStart(int within) {
        int from = within;
        while (from > 0 && SqlBytes.isWord(in[from - 1])) {
            from--;
        }
        return from;
    }

    /** Writes the range in lower case. */
    private int copy(int from, int end) {
        for (int i = from; i < end; i++) {
            kept |= ByteText.isDigit(in[i]);
            out[length++] = ByteText.lower(in[i]);
        }
        return end;
    }

    /**
     * Masks a CALL; the procedure's name keeps its digits, as in Percona's tools. Arguments are omitted if they are
     * literals, variables and operators. Arguments that call a function, contain a subquery or read a system variable are
     * kept, and so is a statement that follows.
     *
     * @return whether the result contains more than the name
     */
    public boolean call(byte[] masked, int end) {
        in = masked;
        to = end;
        reserve(end);
        length = 0;
        kept = false;
        int callEnd = NameMaskRules.end(in, 0, to);
        int open = 0;
        while (open < callEnd && in[open] != '(' && in[open] != ';') {
            out[length++] = ByteText.lower(in[open++]);
        }
        boolean evaluates = namesKept && evaluates(open, callEnd);
        if (evaluates) {
            masked(open, callEnd);
        } else {
            length = ByteText.trimBlanks(out, 0, length);
        }
        boolean followed = namesKept && callEnd < to;
        if (followed && !evaluates) {
            out[length++] = ';';
        }
        if (followed) {
            statements(callEnd);
        }
        in = null;
        return evaluates || followed;
    }

    private boolean evaluates(int open, int end) {
        for (int i = open + 1; i < end; i++) {
            if (in[i] == '(' || in[i] == '@' && in[i - 1] == '@') {
                return true;
            }
        }
        return false;
    }

    /** Returns whether the rules before tailrace-2 may have given the statement another class. */
    public boolean areKept() {
        return kept;
    }

    public byte[] bytes() {
        return out;
    }

    public int length() {
        return length;
    }

    /** Returns whether the statement with this fingerprint, or its first one, is of a kind whose names are kept. */
    public static boolean keeps(String fingerprint) {
        byte[] bytes = ByteText.bytes(fingerprint);
        return NameMaskRules.of(bytes, 0, bytes.length) != NameMaskRules.MASKED;
    }

    /** Returns a name as in fingerprints of statements on rows, such as {@code orders_?} for {@code orders_2024}. */
    public static String masked(String name) {
        byte[] bytes = ByteText.bytes(name);
        NameMask mask = new NameMask(false);
        mask.mask(bytes, bytes.length);
        return ByteText.utf8(mask.out, 0, mask.length);
    }

    private void reserve(int size) {
        if (size > out.length) {
            out = Arrays.copyOf(out, Math.max(out.length * 2, size));
        }
    }
}
