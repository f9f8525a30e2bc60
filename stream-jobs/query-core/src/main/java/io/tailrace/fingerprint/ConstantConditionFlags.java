package io.tailrace.fingerprint;

import io.tailrace.fingerprint.ConditionTokens.Kind;
import io.tailrace.fingerprint.ConstantOperand.Truth;
import io.tailrace.lexer.ByteText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Finds conditions that do not depend on data, as who injects into a statement writes them. Their literals are masked
 * in fingerprints, so that {@code 1=1} and {@code 1=0} look the same there. Not thread-safe.
 */
final class ConstantConditionFlags {

    /** {@code OR 1=1}, {@code OR 'a' LIKE 'a'}, {@code OR id=id}: every row matches. */
    static final String TAUTOLOGY = "tautology";
    /**
     * {@code AND 5=5}, {@code AND 5=6}, {@code OR 5=6}: literals compared with literals behind another condition. Not
     * {@code 1=0}, {@code 1=1} and their like, by which frameworks write that nothing or everything matches.
     */
    static final String CONSTANT_CONDITION = "constant_condition";

    /** The statement's own WHERE holds nothing but what is true whatever the row holds: {@code WHERE 1=1}. */
    static final String EVERY_ROW = "every_row";

    private static final byte[] WHERE = ByteText.ascii("where");
    private static final byte[] RETURNING = ByteText.ascii("returning");

    /** Parentheses and negations before an operand that are read. */
    private static final int MAX_BEFORE = 64;

    /** Whether a condition is true, whatever the row holds. */
    private enum Verdict {
        DEPENDS,
        HOLDS,
        FAILS
    }

    private final ConditionTokens tokens;
    /** Question marks stand for literals, as in a masked text; elsewhere for parameters, of which nothing is known. */
    private boolean masked;

    private boolean tautology;
    private boolean constant;
    private boolean everyRow;
    private boolean negated;
    /** The condition that was read last compares literals with literals. */
    private boolean compared;
    /** It is one by which people and frameworks write that nothing, or everything, matches. */
    private boolean idiom;
    /** The condition stands behind {@code ||} and that behind a name: most likely a text is appended to it. */
    private boolean mayConcatenate;

    ConstantConditionFlags(SqlMode mode) {
        tokens = new ConditionTokens(mode);
    }

    /** Whether a statement with this masked text may have any. */
    boolean arePossible(byte[] maskedText, int length) {
        masked = true;
        read(maskedText, 0, length);
        return tautology || constant || everyRow;
    }

    /** The flags of a statement. */
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
                    judge(joined, condition());
                }
                tokens.back(operand);
            }
        }
    }

    /** Reads what AND joins behind WHERE, until one may not hold. */
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

    /** @param joined what stands before the condition that was read */
    private void judge(Kind joined, Verdict verdict) {
        if (verdict != Verdict.DEPENDS) {
            boolean holds = verdict == Verdict.HOLDS;
            tautology |= joined == Kind.OR && holds;
            constant |= compared && !idiom && (joined == Kind.AND || !holds);
        }
    }

    /** Reads what follows OR, AND or WHERE. */
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

    /** What cannot be computed here counts as true. */
    private Verdict verdict(Truth truth, boolean not) {
        Truth whole = negated != not ? truth.not() : truth;
        return whole == Truth.FALSE ? Verdict.FAILS : Verdict.HOLDS;
    }

    /** A name, a literal with its sign, or literals that are added and multiplied; null where it is none of these. */
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
