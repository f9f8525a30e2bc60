package io.tailrace.fingerprint;

import io.tailrace.fingerprint.ConditionTokens.Kind;
import io.tailrace.lexer.ByteText;

/** Reads conditions by which people and attackers select every row of a table: {@code id > 0}, {@code a LIKE '%'}. */
final class KeyCondition {

    private static final byte[] ID = ByteText.ascii("id");
    private static final byte[] IS = ByteText.ascii("is");

    private final ConditionTokens tokens;
    private final OperandReader operands;

    KeyCondition(ConditionTokens tokens, OperandReader operands) {
        this.tokens = tokens;
        this.operands = operands;
    }

    /** Reads {@code id > 0}, {@code id IS NOT NULL} or {@code a LIKE '%'}: true for every row of nearly every table. */
    boolean selectsEveryRow(boolean masked) {
        while (tokens.kind() == Kind.OPEN) {
            tokens.next();
        }
        if (tokens.kind() != Kind.NAME) {
            return false;
        }
        boolean key = isKey();
        tokens.next();
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
        boolean above = tokens.kind() == Kind.COMPARISON && tokens.bytes()[tokens.from()] != '<';
        return (above || isUnequal()) && aboveNothing(masked);
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
        return limit != null && (masked || limit.isNotPositive());
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

    /** Returns whether the current name is {@code id}, also with a qualifier and quotes. */
    private boolean isKey() {
        int end = tokens.end();
        int from = tokens.from();
        boolean quoted = tokens.bytes()[end - 1] == '`';
        end -= quoted ? 1 : 0;
        int begin = end - ID.length;
        boolean alone =
                begin == from || begin > from && (tokens.bytes()[begin - 1] == '.' || tokens.bytes()[begin - 1] == '`');
        return alone && ByteText.equalsIgnoreCase(tokens.bytes(), begin, end, ID);
    }
}
