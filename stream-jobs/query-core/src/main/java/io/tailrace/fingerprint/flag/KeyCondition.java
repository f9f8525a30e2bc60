package io.tailrace.fingerprint.flag;

import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import io.tailrace.lexer.ByteText;
import java.util.Arrays;

/**
 * Reads conditions by which people and attackers select every row of a table:
 * {@code id > 0}, {@code order_id > 0} of the table orders, {@code a LIKE '%'}.
 */
final class KeyCondition {

    private static final byte[] ID = ByteText.ascii("id");
    private static final byte[] IS = ByteText.ascii("is");
    private static final byte[] IN = ByteText.ascii("in");
    private static final byte[] IGNORE = ByteText.ascii("ignore");
    private static final byte[] LOW_PRIORITY = ByteText.ascii("low_priority");

    /** Maximum number of parentheses and negations before a key, and of values in a list. */
    private static final int MAX_TOKENS = 64;
    /** A range of keys that begins at 1 or below and ends at this number or above contains every row. */
    private static final double LAST_KEY = 99_999_999;

    private final ConditionTokens tokens;
    private final OperandReader operands;
    /** The first table of the statement, in lower case and without a database; empty before it was read. */
    private byte[] table = {};

    KeyCondition(ConditionTokens tokens, OperandReader operands) {
        this.tokens = tokens;
        this.operands = operands;
    }

    /** Forgets the table: a new statement begins. */
    void reset() {
        table = new byte[0];
    }

    /** Reads the name of the first table, which begins with the current token, and returns to that token. */
    void readTable() {
        if (table.length > 0) {
            return;
        }
        int first = tokens.from();
        while (tokens.is(IGNORE) || tokens.is(LOW_PRIORITY)) {
            tokens.next();
        }
        boolean named = tokens.kind() == Kind.NAME;
        while (named) {
            table = lowerCase(lastPart());
            named = next() && isPoint() && next() && tokens.kind() == Kind.NAME;
        }
        tokens.back(first);
    }

    private boolean isPoint() {
        return tokens.kind() == Kind.OTHER && tokens.bytes()[tokens.from()] == '.';
    }

    private static byte[] lowerCase(byte[] name) {
        for (int i = 0; i < name.length; i++) {
            name[i] += name[i] >= 'A' && name[i] <= 'Z' ? 'a' - 'A' : 0;
        }
        return name;
    }

    /**
     * Reads {@code id > 0}, {@code id IS NOT NULL}, {@code NOT id IS NULL}, {@code id NOT IN (0)}, {@code id BETWEEN 0 AND
     * 999999999} or {@code a LIKE '%'}: true for every row of nearly every table.
     */
    boolean selectsEveryRow(boolean masked) {
        boolean negated = false;
        for (int i = 0; i < MAX_TOKENS && (tokens.kind() == Kind.OPEN || tokens.kind() == Kind.NOT); i++) {
            negated ^= tokens.kind() == Kind.NOT;
            tokens.next();
        }
        if (tokens.kind() != Kind.NAME) {
            return false;
        }
        boolean key = isKey();
        tokens.next();
        if (negated) {
            return key && tokens.is(IS) && next() && tokens.isNull(masked) && next();
        }
        if (tokens.kind() == Kind.LIKE) {
            tokens.next();
            return isAnyText(masked) && next();
        }
        if (!key) {
            return false;
        }
        if (tokens.is(IS)) {
            return next() && tokens.kind() == Kind.NOT && next() && tokens.isNull(masked) && next();
        }
        if (tokens.kind() == Kind.BETWEEN) {
            return isWholeRange(masked);
        }
        if (tokens.kind() == Kind.NOT) {
            return next() && tokens.is(IN) && listsNoKey(masked);
        }
        boolean above = tokens.kind() == Kind.COMPARISON && tokens.bytes()[tokens.from()] != '<';
        return (above || isUnequal()) && aboveNothing(masked);
    }

    /** Reads BETWEEN and its bounds. */
    private boolean isWholeRange(boolean masked) {
        tokens.next();
        ConstantOperand low = operands.signed(masked);
        if (low == null || tokens.kind() != Kind.AND) {
            return false;
        }
        tokens.next();
        ConstantOperand high = operands.signed(masked);
        return high != null && (masked || low.isAtMost(1) && high.isAtLeast(LAST_KEY));
    }

    /** Reads IN and a list of numbers that are not positive, which are the key of no row. */
    private boolean listsNoKey(boolean masked) {
        tokens.next();
        boolean none = tokens.kind() == Kind.OPEN;
        for (int i = 0; i < MAX_TOKENS && none && tokens.kind() != Kind.CLOSE; i++) {
            tokens.next();
            ConstantOperand value = tokens.kind() == Kind.CLOSE ? null : operands.signed(masked);
            none = value != null && (masked || value.isAtMost(0));
            none &= tokens.kind() == Kind.CLOSE || tokens.isComma() || masked;
        }
        return none && tokens.kind() == Kind.CLOSE;
    }

    private boolean isUnequal() {
        return tokens.kind() == Kind.COMPARISON
                && tokens.end() - tokens.from() == 2
                && tokens.bytes()[tokens.from()] == '<'
                && tokens.bytes()[tokens.from() + 1] == '>';
    }

    /** Reads a comparison other than equality with a number that is not positive. */
    private boolean aboveNothing(boolean masked) {
        if (tokens.bytes()[tokens.from()] == '=') {
            return false;
        }
        tokens.next();
        ConstantOperand limit = operands.signed(masked);
        return limit != null && (masked || limit.isAtMost(0));
    }

    private boolean next() {
        tokens.next();
        return true;
    }

    /** Returns whether the current token is a text of percent signs only. */
    private boolean isAnyText(boolean masked) {
        if (tokens.kind() != Kind.TEXT) {
            return masked && tokens.kind() == Kind.PLACEHOLDER;
        }
        boolean any = tokens.end() - tokens.from() > 2;
        for (int i = tokens.from() + 1; i < tokens.end() - 1; i++) {
            any &= tokens.bytes()[i] == '%';
        }
        return any;
    }

    /** Returns whether the current name is {@code id}, or {@code order_id} of the table orders or shop_orders. */
    private boolean isKey() {
        byte[] column = lastPart();
        int name = column.length - ID.length;
        if (name < 0 || !ByteText.equalsIgnoreCase(column, name, column.length, ID)) {
            return false;
        }
        name -= name > 0 && column[name - 1] == '_' ? 1 : 0;
        return name == 0 || isTable(column, name, 0) || isTable(column, name, 1) || isTable(column, name, 2);
    }

    /**
     * Returns whether the first bytes of a column, at least two, are the name of the table or its last words.
     *
     * @param plural length of the plural's ending
     */
    private boolean isTable(byte[] column, int length, int plural) {
        int from = table.length - length - plural;
        if (from < 0 || length < 2 || from > 0 && table[from - 1] != '_') {
            return false;
        }
        boolean same = ByteText.equalsIgnoreCase(column, 0, length, Arrays.copyOfRange(table, from, from + length));
        return same && (plural == 0 || table[table.length - 1] == 's');
    }

    /** Returns the current name without qualifiers and quotes. */
    private byte[] lastPart() {
        int end = tokens.end();
        end -= tokens.bytes()[end - 1] == '`' ? 1 : 0;
        int from = end;
        while (from > tokens.from() && tokens.bytes()[from - 1] != '.' && tokens.bytes()[from - 1] != '`') {
            from--;
        }
        return Arrays.copyOfRange(tokens.bytes(), from, end);
    }
}
