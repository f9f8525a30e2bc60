package io.tailrace.fingerprint.flag;

import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import io.tailrace.lexer.ByteText;
import java.util.Locale;
import java.util.Set;

/**
 * Recognizes optional filters, in which reports compare a parameter with the value that means "all":
 * {@code ('x' = '' OR name = 'x')}, {@code (region = 5 OR 5 = 0)}. The comparison of literals and that of the column have a
 * literal in common.
 */
final class OptionalFilter {

    private static final byte[] IN = ByteText.ascii("in");
    /** Maximum number of values in a list that are read. */
    private static final int MAX_VALUES = 256;

    private static final Set<String> CHOICES = Set.of("all", "any", "alle", "todos", "tous", "tutti", "*");

    private final ConditionTokens tokens;
    private final OperandReader operands;
    private ConstantOperand first = ConstantOperand.UNKNOWN;
    private ConstantOperand second = ConstantOperand.UNKNOWN;

    OptionalFilter(ConditionTokens tokens, OperandReader operands) {
        this.tokens = tokens;
        this.operands = operands;
    }

    /** Stores the literals that the latest condition compares. */
    void compares(ConstantOperand left, ConstantOperand right) {
        first = left;
        second = right;
    }

    /** Returns whether the stored literals are those of injections: {@code 'a' = 'a'}, {@code 'a' = CHAR(97)}. */
    boolean isProbe() {
        boolean coded = first.kind() == Kind.CODED || second.kind() == Kind.CODED;
        boolean letter = first.text().matches("[a-z1]") && first.kind() == Kind.TEXT;
        return letter && (coded || second.kind() == Kind.TEXT && first.text().equals(second.text()));
    }

    /** Returns whether the stored literals are equal words for the choice of all values. Injections write others. */
    boolean isChoiceOfAll(boolean masked) {
        boolean texts = first.kind() == Kind.TEXT && second.kind() == Kind.TEXT;
        return masked
                || texts
                        && first.text().equals(second.text())
                        && CHOICES.contains(first.text().toLowerCase(Locale.ROOT));
    }

    /**
     * Reads the comparison of a column, up to the parenthesis or the OR after it; returns whether it contains one of the
     * stored literals.
     *
     * @param masked question marks represent literals
     */
    boolean isOfColumn(boolean masked) {
        skip(Kind.OPEN);
        boolean shared = tokens.kind() == Kind.NAME ? columnFirst(masked) : literalFirst(masked);
        skip(Kind.CLOSE);
        return shared;
    }

    private boolean columnFirst(boolean masked) {
        tokens.next();
        if (tokens.kind() == Kind.NOT) {
            tokens.next();
        }
        if (tokens.is(IN)) {
            return isInList(masked);
        }
        return isOperator() && next() && isShared(operands.signed(masked), masked) && ends();
    }

    private boolean literalFirst(boolean masked) {
        boolean shared = isShared(operands.signed(masked), masked);
        return shared && isOperator() && next() && tokens.kind() == Kind.NAME && next() && ends();
    }

    private boolean isInList(boolean masked) {
        tokens.next();
        boolean shared = false;
        for (int i = 0; i < MAX_VALUES && (tokens.kind() == Kind.OPEN || tokens.isComma()); i++) {
            tokens.next();
            shared |= isShared(operands.signed(masked), masked);
        }
        return shared && tokens.kind() == Kind.CLOSE;
    }

    private boolean isOperator() {
        return tokens.kind() == Kind.COMPARISON || tokens.kind() == Kind.LIKE;
    }

    /** Returns whether nothing is calculated with the value. */
    private boolean ends() {
        return tokens.kind() == Kind.CLOSE || tokens.kind() == Kind.OR;
    }

    private boolean isShared(ConstantOperand value, boolean masked) {
        return value != null && (masked || isSame(value, first) || isSame(value, second));
    }

    /** Compares without the percent signs of a pattern. */
    private static boolean isSame(ConstantOperand value, ConstantOperand other) {
        boolean known = value.kind() != Kind.CODED && other.isLiteral() && other.kind() != Kind.CODED;
        String text = value.text().replace("%", "").toLowerCase(Locale.ROOT);
        return known && text.equals(other.text().replace("%", "").toLowerCase(Locale.ROOT));
    }

    private boolean next() {
        tokens.next();
        return true;
    }

    private void skip(Kind kind) {
        while (tokens.kind() == kind) {
            tokens.next();
        }
    }
}
