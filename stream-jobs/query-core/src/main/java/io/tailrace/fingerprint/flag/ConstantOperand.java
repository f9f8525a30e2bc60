package io.tailrace.fingerprint.flag;

import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import io.tailrace.lexer.ByteText;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An operand of a condition: a literal, a name, or an expression of literals, whose value is not computed.
 *
 * @param kind {@code CODED} if the value is not known
 * @param text a number's digits with its sign, a text without its quotes, or a name
 */
record ConstantOperand(Kind kind, String text) {

    /** Maximum length of texts that are compared, bytes. */
    private static final int MAX_LENGTH = 1024;

    private static final Pattern NUMBER =
            Pattern.compile("\\s*([+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d{1,4})?).*");

    static final ConstantOperand UNKNOWN = new ConstantOperand(Kind.CODED, "");

    /** Creates an operand from a token. */
    static ConstantOperand of(ConditionTokens token, boolean negative) {
        int quotes = token.kind() == Kind.TEXT ? 1 : 0;
        int length = token.end() - token.from();
        if (length > MAX_LENGTH || length < 2 * quotes) {
            return UNKNOWN;
        }
        String text = ByteText.utf8(token.bytes(), token.from() + quotes, token.end() - quotes);
        boolean escaped = quotes > 0 && (text.indexOf('\\') >= 0 || text.indexOf('\'') >= 0 || text.indexOf('"') >= 0);
        return escaped ? UNKNOWN : new ConstantOperand(token.kind(), negative ? "-" + text : text);
    }

    boolean isLiteral() {
        return kind != Kind.NAME;
    }

    /** Returns whether the literal is 0, 1 or a truth value, with which people and frameworks express never and always. */
    boolean isZeroOrOne() {
        return kind == Kind.TRUE || kind == Kind.FALSE || kind == Kind.NUMBER && (text.equals("0") || text.equals("1"));
    }

    /** Returns whether the literal is 0 or an empty text, with which templates compare a parameter. */
    boolean isNothing() {
        return kind == Kind.TEXT ? text.isEmpty() : kind == Kind.NUMBER && text.equals("0");
    }

    /** Returns whether the literal is a number up to another. */
    boolean isAtMost(double limit) {
        return kind == Kind.NUMBER && number() <= limit;
    }

    /** Returns whether the literal is another number or a greater one. */
    boolean isAtLeast(double limit) {
        return kind == Kind.NUMBER && number() >= limit;
    }

    /** Returns whether the literal alone is true. */
    Truth truth() {
        return switch (kind) {
            case TRUE -> Truth.TRUE;
            case FALSE, NULL -> Truth.FALSE;
            case NUMBER, TEXT -> Truth.of(number() != 0);
            default -> Truth.UNKNOWN;
        };
    }

    /** Returns whether the comparison is true; names are either the same or unknown. */
    Truth compare(String operator, ConstantOperand other) {
        if (!isLiteral() || !other.isLiteral()) {
            boolean same = kind == other.kind && text.equalsIgnoreCase(other.text);
            return same && isReflexive(operator) ? Truth.TRUE : Truth.FALSE;
        }
        if (kind == Kind.NULL || other.kind == Kind.NULL) {
            return Truth.of(operator.equals("<=>") && kind == other.kind);
        }
        if (!isKnown() || !other.isKnown() || operator.equals("rlike") || operator.equals("regexp")) {
            return Truth.UNKNOWN;
        }
        if (operator.equals("like")) {
            return like(other);
        }
        return Truth.of(holds(operator, order(other)));
    }

    /** Returns whether the literal is between two others. */
    Truth between(ConstantOperand low, ConstantOperand high) {
        Truth above = compare(">=", low);
        Truth below = compare("<=", high);
        if (above == Truth.FALSE || below == Truth.FALSE) {
            return Truth.FALSE;
        }
        return above == Truth.TRUE && below == Truth.TRUE ? Truth.TRUE : Truth.UNKNOWN;
    }

    /** Returns whether a value compared with itself by this operator is always true, except for NULL. */
    private static boolean isReflexive(String operator) {
        return switch (operator) {
            case "=", "<=>", "<=", ">=", "like" -> true;
            default -> false;
        };
    }

    private boolean isKnown() {
        return switch (kind) {
            case NUMBER, TEXT, TRUE, FALSE -> true;
            default -> false;
        };
    }

    private Truth like(ConstantOperand pattern) {
        return Truth.of(matches(text.toLowerCase(Locale.ROOT), pattern.text.toLowerCase(Locale.ROOT)));
    }

    /** Compares a text with a pattern of {@code %} and {@code _}; neither contains a backslash. */
    private static boolean matches(String text, String pattern) {
        int at = 0;
        int read = 0;
        int wild = -1;
        int resumed = 0;
        while (at < text.length()) {
            char wanted = read < pattern.length() ? pattern.charAt(read) : 0;
            if (wanted == '%') {
                wild = read++;
                resumed = at;
            } else if (read < pattern.length() && (wanted == '_' || wanted == text.charAt(at))) {
                at++;
                read++;
            } else if (wild >= 0) {
                read = wild + 1;
                at = ++resumed;
            } else {
                return false;
            }
        }
        return pattern.substring(read).chars().allMatch(c -> c == '%');
    }

    /** Compares like MySQL: two texts case-insensitively, everything else as numbers. */
    private int order(ConstantOperand other) {
        return kind == Kind.TEXT && other.kind == Kind.TEXT
                ? text.toLowerCase(Locale.ROOT).compareTo(other.text.toLowerCase(Locale.ROOT))
                : Double.compare(number(), other.number());
    }

    private static boolean holds(String operator, int order) {
        return switch (operator) {
            case "=", "<=>" -> order == 0;
            case "<>", "!=" -> order != 0;
            case "<" -> order < 0;
            case "<=" -> order <= 0;
            case ">" -> order > 0;
            case ">=" -> order >= 0;
            default -> true;
        };
    }

    /** Returns the number at the start of the text, or 0. */
    private double number() {
        if (kind == Kind.TRUE) {
            return 1;
        }
        Matcher number = NUMBER.matcher(text);
        return number.lookingAt() ? Double.parseDouble(number.group(1)) + 0.0 : 0;
    }

    /** The value of a condition that is evaluated without data. */
    enum Truth {
        TRUE,
        FALSE,
        UNKNOWN;

        static Truth of(boolean value) {
            return value ? TRUE : FALSE;
        }

        Truth not() {
            return this == UNKNOWN ? UNKNOWN : of(this == FALSE);
        }
    }
}
