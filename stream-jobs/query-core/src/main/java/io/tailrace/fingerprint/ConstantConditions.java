package io.tailrace.fingerprint;

import io.tailrace.fingerprint.ConditionTokens.Kind;
import io.tailrace.fingerprint.Operand.Truth;
import io.tailrace.lexer.ByteText;
import java.util.List;
import java.util.Locale;

/**
 * Finds conditions that do not depend on data, as who injects into a statement writes them. Their literals are masked
 * in fingerprints, so that {@code 1=1} and {@code 1=0} look alike there. Not thread-safe.
 */
final class ConstantConditions {

    /** {@code OR 1=1}, {@code OR 'a' LIKE 'a'}, {@code OR id=id}: every row matches. */
    static final String TAUTOLOGY = "tautology";
    /**
     * {@code AND 5=5}, {@code AND 5=6}, {@code OR 5=6}: literals compared with literals behind another condition. Not
     * {@code 1=0} and its like, by which frameworks write that nothing matches.
     */
    static final String CONSTANT_CONDITION = "constant_condition";

    /** Parentheses and negations before an operand that are read. */
    private static final int MOST_BEFORE = 64;

    private final ConditionTokens tokens = new ConditionTokens();
    /** Question marks stand for literals, as in a masked text; elsewhere for parameters, of which nothing is known. */
    private boolean masked;

    private boolean tautology;
    private boolean constant;
    private boolean negated;

    /** Whether a statement with this masked text may have any. */
    boolean arePossible(byte[] maskedText, int length) {
        masked = true;
        read(maskedText, 0, length);
        return tautology || constant;
    }

    /** The flags of a statement. */
    List<String> of(byte[] bytes, int from, int to) {
        masked = false;
        read(bytes, from, to);
        return tautology
                ? constant ? List.of(TAUTOLOGY, CONSTANT_CONDITION) : List.of(TAUTOLOGY)
                : constant ? List.of(CONSTANT_CONDITION) : List.of();
    }

    private void read(byte[] bytes, int from, int to) {
        tautology = false;
        constant = false;
        tokens.start(bytes, from, to);
        while (tokens.kind() != Kind.END) {
            Kind joined = tokens.kind();
            tokens.next();
            if (joined == Kind.OR || joined == Kind.AND) {
                int operand = tokens.from();
                condition(joined);
                tokens.back(operand);
            }
        }
    }

    /** Reads what follows OR or AND. */
    private void condition(Kind joined) {
        negated = false;
        if (!skipBefore()) {
            return;
        }
        Operand left = operand();
        if (left == null) {
            return;
        }
        skip(Kind.CLOSE);
        boolean not = tokens.kind() == Kind.NOT;
        if (not) {
            tokens.next();
        }
        switch (tokens.kind()) {
            case COMPARISON, LIKE -> comparison(joined, left, not);
            case BETWEEN -> between(joined, left, not);
            default -> {
                if (left.isLiteral() && endsHere() && joined == Kind.OR) {
                    tautology |= holds(left.truth(), false);
                }
            }
        }
    }

    /** Skips parentheses and negations. */
    private boolean skipBefore() {
        int skipped = 0;
        while (tokens.kind() == Kind.OPEN || tokens.kind() == Kind.NOT) {
            negated ^= tokens.kind() == Kind.NOT;
            tokens.next();
            if (++skipped > MOST_BEFORE) {
                return false;
            }
        }
        return true;
    }

    private void skip(Kind kind) {
        while (tokens.kind() == kind) {
            tokens.next();
        }
    }

    private boolean endsHere() {
        return switch (tokens.kind()) {
            case END, CLOSE, STOP, OR, AND, WHERE -> true;
            default -> false;
        };
    }

    private void comparison(Kind joined, Operand left, boolean not) {
        String operator =
                ByteText.utf8(tokens.bytes(), tokens.from(), tokens.end()).toLowerCase(Locale.ROOT);
        tokens.next();
        skip(Kind.OPEN);
        Operand right = operand();
        if (right == null || !left.isLiteral() && !endsHere()) {
            return;
        }
        if (left.isLiteral() != right.isLiteral()) {
            return;
        }
        boolean holds = holds(left.compare(operator, right), not);
        tautology |= joined == Kind.OR && holds;
        boolean idiom = left.isZeroOrOne() && right.isZeroOrOne() && !holds;
        constant |= left.isLiteral() && !idiom && (joined == Kind.AND || !holds);
    }

    private void between(Kind joined, Operand left, boolean not) {
        tokens.next();
        Operand low = operand();
        if (low == null || tokens.kind() != Kind.AND) {
            return;
        }
        tokens.next();
        Operand high = operand();
        if (high == null || !left.isLiteral() || !low.isLiteral() || !high.isLiteral()) {
            return;
        }
        boolean holds = holds(between(left, low, high), not);
        tautology |= joined == Kind.OR && holds;
        constant |= joined == Kind.AND || !holds;
    }

    private static Truth between(Operand value, Operand low, Operand high) {
        Truth above = value.compare(">=", low);
        Truth below = value.compare("<=", high);
        if (above == Truth.FALSE || below == Truth.FALSE) {
            return Truth.FALSE;
        }
        return above == Truth.TRUE && below == Truth.TRUE ? Truth.TRUE : Truth.UNKNOWN;
    }

    /** Whether the condition is true, or may be: what cannot be computed here counts as true. */
    private boolean holds(Truth truth, boolean not) {
        Truth whole = negated != not ? truth.not() : truth;
        return whole != Truth.FALSE;
    }

    /** A name, a literal with its sign, or literals that are added and multiplied; null where it is none of these. */
    private Operand operand() {
        if (tokens.kind() == Kind.NAME) {
            Operand name = Operand.of(tokens, false);
            tokens.next();
            return tokens.kind() == Kind.OPEN || tokens.kind() == Kind.ARITHMETIC ? null : name;
        }
        Operand first = signed();
        Operand sum = first;
        while (sum != null && tokens.kind() == Kind.ARITHMETIC) {
            tokens.next();
            sum = signed() == null ? null : Operand.UNKNOWN;
        }
        return sum;
    }

    private Operand signed() {
        boolean negative = false;
        while (tokens.kind() == Kind.ARITHMETIC) {
            negative ^= tokens.bytes()[tokens.from()] == '-';
            tokens.next();
        }
        boolean unknownParameter = tokens.kind() == Kind.PLACEHOLDER && !masked;
        if (!tokens.isLiteral() || unknownParameter) {
            return null;
        }
        Operand operand = Operand.of(tokens, negative);
        tokens.next();
        return operand;
    }
}
