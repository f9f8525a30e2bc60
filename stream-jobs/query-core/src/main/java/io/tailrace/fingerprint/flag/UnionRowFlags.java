package io.tailrace.fingerprint.flag;

import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import io.tailrace.flag.EventFlag;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlMode;
import java.util.regex.Pattern;

/**
 * Detects rows of literals that a UNION appends for people: {@code UNION SELECT 0, 'All'} for a list to choose from. Rows
 * with which injections find the number of columns contain numbers and NULL. Not thread-safe.
 */
public final class UnionRowFlags implements LiteralFlag {

    private static final byte[] UNION = ByteText.ascii("union");
    private static final byte[] SELECT = ByteText.ascii("select");
    private static final byte[] ALL = ByteText.ascii("all");
    private static final byte[] DISTINCT = ByteText.ascii("distinct");
    private static final byte[] DISTINCTROW = ByteText.ascii("distinctrow");
    private static final byte[] FROM = ByteText.ascii("from");
    private static final byte[] DUAL = ByteText.ascii("dual");
    private static final byte[] AS = ByteText.ascii("as");

    /** Length of a text that is inspected, bytes. */
    private static final int MAX_LENGTH = 256;
    /** A word, an abbreviation such as {@code n/a} and {@code k. A.}, or punctuation such as {@code ---}. */
    private static final Pattern LABEL =
            Pattern.compile("(?s).*\\p{L}{3}.*|\\p{L}{1,2}([/.] ?\\p{L}{1,2})+\\.?|[^\\p{L}\\p{N}]+");
    /** What an injection returns to the application: a path, markup, a template, a hash. */
    private static final Pattern PAYLOAD = Pattern.compile(
            "(?is).*(\\.\\./|</|<\\?|<(a|body|form|iframe|img|input|object|script|svg)[ />]|\\$\\{|\\{\\{|;base64|://).*|/.+/.+|\\$[0-9a-z]+\\$.+"
                    + "|(?=.*[0-9])(?=.*[a-f])\\*?[0-9a-f]{16,}");

    private final ConditionTokens tokens;
    private boolean masked;

    public UnionRowFlags(SqlMode mode) {
        tokens = new ConditionTokens(mode);
    }

    @Override
    public EventFlag flag() {
        return EventFlag.UNION_WITH_LABEL;
    }

    @Override
    public boolean isIn(byte[] bytes, int from, int to, boolean masked) {
        this.masked = masked;
        boolean labelled = false;
        tokens.start(bytes, from, to);
        while (tokens.kind() != Kind.END) {
            boolean union = tokens.is(UNION);
            tokens.next();
            if (union && beginsWithLiteral()) {
                if (!isLabelledRow()) {
                    return false;
                }
                labelled = true;
            }
        }
        return labelled;
    }

    /** Reads up to the first item after UNION; returns whether it is a literal. */
    private boolean beginsWithLiteral() {
        while (tokens.is(ALL) || tokens.is(DISTINCT) || tokens.is(DISTINCTROW) || tokens.kind() == Kind.OPEN) {
            tokens.next();
        }
        if (!tokens.is(SELECT)) {
            return false;
        }
        tokens.next();
        return tokens.isLiteral() || tokens.kind() == Kind.ARITHMETIC;
    }

    /** Reads the items after SELECT; returns whether all are literals and one of them is a label. */
    private boolean isLabelledRow() {
        boolean labelled = false;
        boolean more = true;
        while (more) {
            while (tokens.kind() == Kind.ARITHMETIC) {
                tokens.next();
            }
            if (!tokens.isLiteral()) {
                return false;
            }
            if (isPayload()) {
                return false;
            }
            labelled |= isLabel();
            tokens.next();
            skipAlias();
            more = tokens.isComma();
            if (more) {
                tokens.next();
            }
        }
        return labelled && rowEnds();
    }

    private void skipAlias() {
        if (tokens.is(AS)) {
            tokens.next();
        }
        boolean alias = tokens.kind() == Kind.NAME || tokens.kind() == Kind.TEXT;
        if (alias && !tokens.is(FROM)) {
            tokens.next();
        }
    }

    private boolean rowEnds() {
        if (tokens.is(FROM)) {
            tokens.next();
            return tokens.is(DUAL);
        }
        return tokens.kind() == Kind.END || tokens.kind() == Kind.CLOSE || tokens.kind() == Kind.STOP;
    }

    private boolean isLabel() {
        if (tokens.kind() != Kind.TEXT) {
            return tokens.kind() == Kind.PLACEHOLDER;
        }
        return masked || LABEL.matcher(text()).matches();
    }

    private boolean isPayload() {
        return !masked && tokens.kind() == Kind.TEXT && PAYLOAD.matcher(text()).matches();
    }

    private String text() {
        int from = tokens.from() + 1;
        int to = Math.min(Math.max(from, tokens.end() - 1), from + MAX_LENGTH);
        return ByteText.utf8(tokens.bytes(), from, to);
    }
}
