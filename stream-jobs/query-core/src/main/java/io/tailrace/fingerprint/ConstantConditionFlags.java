package io.tailrace.fingerprint;

import io.tailrace.fingerprint.ConditionTokens.Kind;
import io.tailrace.fingerprint.ConstantOperand.Truth;
import io.tailrace.lexer.ByteText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Detects conditions that do not depend on data, as they occur in SQL injections. Their literals are masked in
 * fingerprints, so that {@code 1=1} and {@code 1=0} have the same one. Not thread-safe.
 */
final class ConstantConditionFlags {

    /** {@code OR 1=1}, {@code OR 'a' LIKE 'a'}, {@code OR id=id}: every row matches. */
    static final String TAUTOLOGY = "tautology";
    /**
     * {@code AND 5=5}, {@code AND 5=6}, {@code OR 5=6}: a comparison of literals after another condition. Excluded
     * are {@code 1=0}, {@code 1=1} and similar ones, with which frameworks express that nothing or everything
     * matches.
     */
    static final String CONSTANT_CONDITION = "constant_condition";

    /** The statement's own WHERE contains only conditions that are true for every row: {@code WHERE 1=1}. */
    static final String EVERY_ROW = "every_row";

    private static final byte[] WHERE = ByteText.ascii("where");
    private static final byte[] RETURNING = ByteText.ascii("returning");

    /** Maximum number of parentheses and negations that are read before an operand. */
    private static final int MAX_BEFORE = 64;

    /** Whether a condition is true independently of the row. */
    private enum Verdict {
        DEPENDS,
        HOLDS,
        FAILS
    }

    private final ConditionTokens tokens;
    /** Question marks represent literals, as in a masked text. Otherwise they are parameters of unknown value. */
    private boolean masked;

    private boolean tautology;
    private boolean constant;
    private boolean everyRow;
    private boolean negated;
    /** The latest condition compares literals with literals. */
    private boolean compared;
    /** The latest condition is one with which people and frameworks express that nothing, or everything, matches. */
    private boolean idiom;
    /** The condition follows {@code ||}, which follows a name: most likely a text is appended to the name. */
    private boolean mayConcatenate;

    ConstantConditionFlags(SqlMode mode) {
        tokens = new ConditionTokens(mode);
    }

    /** Returns whether a statement with this masked text may have any flag. */
    boolean arePossible(byte[] maskedText, int length) {
        masked = true;
        read(maskedText, 0, length);
        return tautology || constant || everyRow;
    }

    /** Returns the flags of a statement. */
    List<String> of(byte[] bytes, int from, int to) {
        masked = false;
        read(bytes, from, to);
        List<String> flags = new ArrayList<>(0);
        if (tautology) {
            flags.add(TAUTOLOGY);
        }
        if (constant) {
            flags.add(CONSTANT_CONDITION);
        }
        if (everyRow) {
            flags.add(EVERY_ROW);
        }
        return flags;
    }

    private void read(byte[] bytes, int from, int to) {
        tautology = false;
        constant = false;
        everyRow = false;
        int depth = 0;
        tokens.start(bytes, from, to);
        Kind before = Kind.END;
        while (tokens.kind() != Kind.END) {
            Kind joined = tokens.kind();
            depth += joined == Kind.OPEN ? 1 : joined == Kind.CLOSE ? -1 : 0;
            boolean isWhere = depth == 0 && tokens.is(WHERE);
            boolean pipes = tokens.isPipes();
            mayConcatenate = pipes && (before == Kind.NAME || before == Kind.CLOSE);
            before = joined;
            tokens.next();
            if (isWhere || joined == Kind.OR || joined == Kind.AND) {
                int operand = tokens.from();
                if (isWhere) {
                    everyRow |= holdsAlways();
                } else {
                    addFlags(joined, condition());
                }
                tokens.back(operand);
            }
        }
    }

    /** Reads the conditions that AND joins after WHERE, up to the first one that may not hold. */
    private boolean holdsAlways() {
        while (condition() == Verdict.HOLDS) {
            skip(Kind.CLOSE);
            if (tokens.kind() != Kind.AND) {
                return tokens.kind() == Kind.END || tokens.kind() == Kind.STOP || tokens.is(RETURNING);
            }
            tokens.next();
        }
        return false;
    }

    /**
     * Records the flags of a condition.
     *
     * @param joined the token before the condition
     */
    private void addFlags(Kind joined, Verdict verdict) {
        if (verdict != Verdict.DEPENDS) {
            boolean holds = verdict == Verdict.HOLDS;
            tautology |= joined == Kind.OR && holds;
            constant |= compared && !idiom && (joined == Kind.AND || !holds);
        }
    }

    /** Reads the condition after OR, AND or WHERE. */
    private Verdict condition() {
        negated = false;
        compared = false;
        idiom = false;
        boolean read = skipBefore();
        boolean text = tokens.kind() == Kind.TEXT;
        ConstantOperand left = read ? operand() : null;
        if (left == null || text && (mayConcatenate || tokens.isPipes())) {
            return Verdict.DEPENDS;
        }
        skip(Kind.CLOSE);
        boolean not = tokens.kind() == Kind.NOT;
        if (not) {
            tokens.next();
        }
        return switch (tokens.kind()) {
            case COMPARISON, LIKE -> comparison(left, not);
            case BETWEEN -> between(left, not);
            default -> left.isLiteral() && endsHere() ? verdict(left.truth(), false) : Verdict.DEPENDS;
        };
    }

    /** Skips parentheses and negations. */
    private boolean skipBefore() {
        int skipped = 0;
        while (tokens.kind() == Kind.OPEN || tokens.kind() == Kind.NOT) {
            negated ^= tokens.kind() == Kind.NOT;
            tokens.next();
            if (++skipped > MAX_BEFORE) {
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
            default -> tokens.is(RETURNING);
        };
    }

    private Verdict comparison(ConstantOperand left, boolean not) {
        String operator =
                ByteText.utf8(tokens.bytes(), tokens.from(), tokens.end()).toLowerCase(Locale.ROOT);
        tokens.next();
        skip(Kind.OPEN);
        ConstantOperand right = operand();
        if (right == null || !left.isLiteral() && !endsHere() || left.isLiteral() != right.isLiteral()) {
            return Verdict.DEPENDS;
        }
        Verdict verdict = verdict(left.compare(operator, right), not);
        compared = left.isLiteral();
        idiom = left.isZeroOrOne() && right.isZeroOrOne();
        return verdict;
    }

    private Verdict between(ConstantOperand left, boolean not) {
        tokens.next();
        ConstantOperand low = operand();
        if (low == null || tokens.kind() != Kind.AND) {
            return Verdict.DEPENDS;
        }
        tokens.next();
        ConstantOperand high = operand();
        if (high == null || !left.isLiteral() || !low.isLiteral() || !high.isLiteral()) {
            return Verdict.DEPENDS;
        }
        compared = true;
        return verdict(between(left, low, high), not);
    }

    private static Truth between(ConstantOperand value, ConstantOperand low, ConstantOperand high) {
        Truth above = value.compare(">=", low);
        Truth below = value.compare("<=", high);
        if (above == Truth.FALSE || below == Truth.FALSE) {
            return Truth.FALSE;
        }
        return above == Truth.TRUE && below == Truth.TRUE ? Truth.TRUE : Truth.UNKNOWN;
    }

    /** Returns the verdict; a condition that cannot be computed here counts as true. */
    private Verdict verdict(Truth truth, boolean not) {
        Truth whole = negated != not ? truth.not() : truth;
        return whole == Truth.FALSE ? Verdict.FAILS : Verdict.HOLDS;
    }

    /**
     * Reads a name, a literal with its sign, or literals that are added and multiplied; returns null for anything
     * else.
     */
    private ConstantOperand operand() {
        if (tokens.kind() == Kind.NAME) {
            ConstantOperand name = ConstantOperand.of(tokens, false);
            tokens.next();
            return tokens.kind() == Kind.OPEN || tokens.kind() == Kind.ARITHMETIC ? null : name;
        }
        ConstantOperand first = signed();
        ConstantOperand sum = first;
        while (sum != null && tokens.kind() == Kind.ARITHMETIC) {
            tokens.next();
            sum = signed() == null ? null : ConstantOperand.UNKNOWN;
        }
        return sum;
    }

    private ConstantOperand signed() {
        boolean negative = false;
        while (tokens.kind() == Kind.ARITHMETIC) {
            negative ^= tokens.bytes()[tokens.from()] == '-';
            tokens.next();
        }
        boolean unknownParameter = tokens.kind() == Kind.PLACEHOLDER && !masked;
        if (!tokens.isLiteral() || unknownParameter) {
            return null;
        }
        ConstantOperand operand = ConstantOperand.of(tokens, negative);
        tokens.next();
        return operand;
    }
}
