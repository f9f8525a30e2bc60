package io.tailrace.fingerprint.flag;

import io.tailrace.fingerprint.flag.ConstantOperand.Truth;
import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import io.tailrace.flag.EventFlag;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Detects conditions that do not depend on data, as they occur in SQL injections. Their literals are masked in
 * fingerprints, so that {@code 1=1} and {@code 1=0} have the same one. Not thread-safe.
 */
public final class ConstantConditionFlags {

    private static final byte[] WHERE = ByteText.ascii("where");
    private static final byte[] RETURNING = ByteText.ascii("returning");
    private static final byte[] UPDATE = ByteText.ascii("update");
    private static final byte[] DELETE = ByteText.ascii("delete");
    private static final byte[] FROM = ByteText.ascii("from");
    private static final byte[] IN = ByteText.ascii("in");
    private static final byte[] IS = ByteText.ascii("is");
    private static final byte[] OR = ByteText.ascii("or");
    private static final byte[] CASE = ByteText.ascii("case");

    /** Maximum number of parentheses and negations that are read before an operand. */
    private static final int MAX_BEFORE = 64;

    private static final int MAX_VALUES = 256;

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
    private boolean open; // a tautology is not part of an optional filter
    private boolean constant;
    private boolean everyRow;
    private boolean optional;
    private boolean negated;
    /** The latest condition compares literals with literals. */
    private boolean compared;
    /** The latest condition is one with which people and frameworks express that nothing, or everything, matches. */
    private boolean idiom;
    /** The condition follows {@code ||}, which follows a name: most likely a text is appended to the name. */
    private boolean mayConcatenate;
    /** The statement changes the rows that its WHERE selects. */
    private boolean changesRows;
    /** Number of parentheses that the conditions before the current token leave open. */
    private int unclosed;

    private final OperandReader operands;
    private final KeyCondition keys;
    private final OptionalFilter filter;
    /** Where the condition before the current OR begins, if it and those before it are in parentheses; -1: they are not. */
    private int grouped;

    public ConstantConditionFlags(SqlMode mode) {
        tokens = new ConditionTokens(mode);
        operands = new OperandReader(tokens);
        keys = new KeyCondition(tokens, operands);
        filter = new OptionalFilter(tokens, operands);
    }

    /** Returns whether a statement with this masked text may have any flag. */
    public boolean arePossible(byte[] maskedText, int length) {
        masked = true;
        read(maskedText, 0, length);
        return tautology || constant || everyRow || optional;
    }

    /** Returns the flags of a statement. */
    public List<String> of(byte[] bytes, int from, int to) {
        masked = false;
        read(bytes, from, to);
        List<String> flags = new ArrayList<>(0);
        if (tautology) {
            EventFlag.TAUTOLOGY.addTo(flags);
        }
        if (constant) {
            EventFlag.CONSTANT_CONDITION.addTo(flags);
        }
        if (optional && !open) {
            EventFlag.OPTIONAL_FILTER.addTo(flags);
        }
        if (everyRow) {
            EventFlag.EVERY_ROW.addTo(flags);
        }
        return flags;
    }

    private void read(byte[] bytes, int from, int to) {
        tautology = false;
        open = false;
        constant = false;
        everyRow = false;
        optional = false;
        grouped = -1;
        int depth = 0;
        tokens.start(bytes, from, to);
        changesRows = tokens.is(UPDATE) || tokens.is(DELETE);
        keys.reset();
        Kind before = Kind.END;
        while (tokens.kind() != Kind.END) {
            Kind joined = tokens.kind();
            depth += joined == Kind.OPEN ? 1 : joined == Kind.CLOSE ? -1 : 0;
            boolean isWhere = depth == 0 && tokens.is(WHERE);
            boolean begins = before == Kind.STOP || before == Kind.CLOSE && depth == 0; // SET STATEMENT … FOR, ;, WITH
            changesRows |= begins && (tokens.is(UPDATE) || tokens.is(DELETE));
            boolean beforeTable = depth == 0 && (tokens.is(UPDATE) || tokens.is(FROM));
            boolean pipes = tokens.isPipes();
            mayConcatenate = pipes && (before == Kind.NAME || before == Kind.CLOSE);
            boolean opens = joined == Kind.OPEN && before != Kind.NAME;
            before = joined;
            tokens.next();
            if (beforeTable) {
                keys.readTable();
            }
            if (isWhere || joined == Kind.OR || joined == Kind.AND) {
                int operand = tokens.from();
                if (isWhere) {
                    everyRow |= holdsAlways();
                } else {
                    addFlags(joined, condition(), operand);
                }
                tokens.back(operand);
            }
            grouped = beginsAt(joined, opens);
        }
    }

    /** Returns where the condition begins that is in parentheses and to which the current token belongs, or -1. */
    private int beginsAt(Kind before, boolean opens) {
        if (opens || before == Kind.OR && grouped >= 0) {
            return tokens.from();
        }
        return before == Kind.AND || before == Kind.WHERE ? -1 : grouped;
    }

    /** Reads what OR joins after WHERE, outside of parentheses, up to the first operand that holds for every row. */
    private boolean holdsAlways() {
        while (!operandHolds()) {
            int depth = unclosed;
            while (depth > 0 || !endsWhere() && !isOr()) {
                if (tokens.kind() == Kind.END || tokens.is(CASE)) {
                    return false;
                }
                depth += parentheses();
                tokens.next();
            }
            if (!isOr()) {
                return false;
            }
            tokens.next();
        }
        return true;
    }

    /** Reads the conditions that AND joins, up to the first one that may not hold, to whose beginning it returns. */
    private boolean operandHolds() {
        unclosed = 0;
        int operand = tokens.from();
        while (selectsEvery()) {
            skip(Kind.CLOSE);
            unclosed += parenthesesBefore(operand, tokens.from());
            if (tokens.kind() != Kind.AND) {
                return isOr() ? unclosed == 0 : endsWhere() && tokens.kind() != Kind.CLOSE;
            }
            tokens.next();
            operand = tokens.from();
        }
        tokens.back(operand);
        return false;
    }

    /** Returns how many parentheses the tokens in a range leave open. */
    private int parenthesesBefore(int first, int next) {
        int open = 0;
        tokens.back(first);
        while (tokens.from() < next) {
            open += parentheses();
            tokens.next();
        }
        return open;
    }

    private int parentheses() {
        return tokens.kind() == Kind.OPEN ? 1 : tokens.kind() == Kind.CLOSE ? -1 : 0;
    }

    /** Excludes {@code ||}, which may concatenate, and XOR, which is false for two conditions that hold. */
    private boolean isOr() {
        return tokens.is(OR);
    }

    private boolean endsWhere() {
        return switch (tokens.kind()) {
            case END, STOP, CLOSE, WHERE -> true;
            default -> tokens.is(RETURNING);
        };
    }

    private boolean selectsEvery() {
        int operand = tokens.from();
        if (changesRows && keys.selectsEveryRow(masked)) {
            return true;
        }
        tokens.back(operand);
        return condition() == Verdict.HOLDS;
    }

    /**
     * Records the flags of a condition.
     *
     * @param joined the token before the condition
     * @param operand where the condition begins
     */
    private void addFlags(Kind joined, Verdict verdict, int operand) {
        if (verdict != Verdict.DEPENDS) {
            if (joined == Kind.OR && verdict == Verdict.HOLDS) {
                boolean ofFilter = compared && filter.isChoiceOfAll(masked) && endsFilter();
                tautology = true;
                optional |= ofFilter;
                open |= !ofFilter;
            } else if (compared && !idiom) {
                boolean probe = !masked && filter.isProbe();
                boolean ofFilter = !probe && (joined == Kind.AND ? beginsFilter(operand) : endsFilter());
                optional |= ofFilter;
                constant |= !ofFilter;
            }
        }
    }

    /** Returns whether OR and the comparison of a column follow the comparison of literals, in the same parentheses. */
    private boolean beginsFilter(int operand) {
        skip(Kind.CLOSE);
        boolean inside = isOr() && parenthesesBefore(operand, tokens.from()) > 0;
        return inside && next() && filter.isOfColumn(masked);
    }

    /** Returns whether the comparison of a column precedes OR and the comparison of literals, in the same parentheses. */
    private boolean endsFilter() {
        if (grouped < 0 || tokens.kind() != Kind.CLOSE) {
            return false;
        }
        tokens.back(grouped);
        return filter.isOfColumn(masked) && isOr();
    }

    /** Reads the condition after OR, AND or WHERE. */
    private Verdict condition() {
        negated = false;
        compared = false;
        idiom = false;
        int opened = skipBefore();
        boolean text = tokens.kind() == Kind.TEXT;
        ConstantOperand left = opened >= 0 ? operands.operand(masked) : null;
        if (left == null || text && (mayConcatenate || tokens.isPipes())) {
            return Verdict.DEPENDS;
        }
        for (; tokens.kind() == Kind.CLOSE; tokens.next()) {
            if (opened-- == 0 && left.isLiteral()) {
                return verdict(left.truth(), false); // (SELECT … OR TRUE) AS t
            }
        }
        boolean not = tokens.kind() == Kind.NOT;
        if (not) {
            tokens.next();
        }
        return switch (tokens.kind()) {
            case COMPARISON, LIKE -> comparison(left, not);
            case BETWEEN -> between(left, not);
            case NAME -> listed(left, not);
            default -> left.isLiteral() && endsHere() ? verdict(left.truth(), false) : Verdict.DEPENDS;
        };
    }

    /** Reads {@code 1 IN (1, 2)} and {@code 1 IS NOT NULL}, which hold; others count as depending on data. */
    private Verdict listed(ConstantOperand left, boolean not) {
        idiom = true;
        if (!left.isLiteral() || not) {
            return Verdict.DEPENDS;
        }
        if (tokens.is(IS)) {
            return next() && is(left) && endsHere() && tokens.kind() != Kind.AND ? Verdict.HOLDS : Verdict.DEPENDS;
        }
        if (!tokens.is(IN)) {
            return tokens.is(RETURNING) ? verdict(left.truth(), false) : Verdict.DEPENDS;
        }
        tokens.next();
        boolean holds = false;
        for (int i = 0; i < MAX_VALUES && !holds && (tokens.kind() == Kind.OPEN || tokens.isComma()); i++) {
            tokens.next();
            ConstantOperand value = operands.signed(masked);
            holds = value != null && left.compare("=", value) != Truth.FALSE;
        }
        for (int i = 0; i < MAX_VALUES && holds && tokens.kind() != Kind.CLOSE; i++) {
            tokens.next();
        }
        skip(Kind.CLOSE);
        return holds ? Verdict.HOLDS : Verdict.DEPENDS;
    }

    /** Reads {@code NOT NULL}, {@code TRUE} and {@code NOT FALSE} after a literal and IS. */
    private boolean is(ConstantOperand left) {
        boolean negative = tokens.kind() == Kind.NOT && next();
        Kind wanted = tokens.kind();
        tokens.next();
        if (masked && wanted == Kind.PLACEHOLDER) {
            return true;
        }
        return switch (wanted) {
            case NULL -> negative && left.kind() != Kind.NULL;
            case TRUE -> left.truth() == Truth.TRUE != negative;
            case FALSE -> left.truth() == Truth.FALSE != negative;
            default -> false;
        };
    }

    private boolean next() {
        tokens.next();
        return true;
    }

    /** Skips parentheses and negations and returns the number of parentheses, or -1 if there are too many. */
    private int skipBefore() {
        int opened = 0;
        for (int skipped = 0; tokens.kind() == Kind.OPEN || tokens.kind() == Kind.NOT; skipped++) {
            if (skipped == MAX_BEFORE) {
                return -1;
            }
            opened += tokens.kind() == Kind.OPEN ? 1 : 0;
            negated ^= tokens.kind() == Kind.NOT;
            tokens.next();
        }
        return opened;
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
        ConstantOperand right = operands.operand(masked);
        if (right == null || !left.isLiteral() && !endsHere() || left.isLiteral() != right.isLiteral()) {
            return Verdict.DEPENDS;
        }
        Verdict verdict = verdict(left.compare(operator, right), not);
        compared = left.isLiteral();
        filter.compares(left, right);
        boolean given = (operator.equals("<>") || operator.equals("!=")) && (left.isNothing() || right.isNothing());
        idiom = given || left.isZeroOrOne() && right.isZeroOrOne(); // a template asks whether its parameter is given
        return verdict;
    }

    private Verdict between(ConstantOperand left, boolean not) {
        tokens.next();
        ConstantOperand low = operands.operand(masked);
        if (low == null || tokens.kind() != Kind.AND) {
            return Verdict.DEPENDS;
        }
        tokens.next();
        ConstantOperand high = operands.operand(masked);
        if (high == null || !left.isLiteral() || !low.isLiteral() || !high.isLiteral()) {
            return Verdict.DEPENDS;
        }
        compared = true;
        return verdict(left.between(low, high), not);
    }

    /** Returns the verdict; a condition that cannot be computed here counts as true. */
    private Verdict verdict(Truth truth, boolean not) {
        Truth whole = negated != not ? truth.not() : truth;
        return whole == Truth.FALSE ? Verdict.FAILS : Verdict.HOLDS;
    }
}
