package io.tailrace.fingerprint.flag;

import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import io.tailrace.lexer.ByteText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Reads operands of conditions that do not depend on data. */
final class OperandReader {

    private static final byte[] SELECT = ByteText.ascii("select");
    /** Maximum depth of functions in arguments, and number of arguments. */
    private static final int MAX_NESTED = 4;

    private static final int MAX_ARGUMENTS = 256;

    /** Functions whose value depends on their arguments only. */
    private static final Set<String> PURE = Set.of(
            "abs",
            "ascii",
            "bin",
            "bit_count",
            "bit_length",
            "ceil",
            "ceiling",
            "char",
            "char_length",
            "character_length",
            "coalesce",
            "concat",
            "concat_ws",
            "conv",
            "crc32",
            "elt",
            "exp",
            "field",
            "find_in_set",
            "floor",
            "from_base64",
            "greatest",
            "hex",
            "if",
            "ifnull",
            "inet_aton",
            "inet_ntoa",
            "instr",
            "interval",
            "is_ipv4",
            "is_ipv6",
            "is_uuid",
            "isnull",
            "json_depth",
            "json_length",
            "json_quote",
            "json_type",
            "json_unquote",
            "json_valid",
            "lcase",
            "least",
            "left",
            "length",
            "ln",
            "locate",
            "log",
            "log10",
            "log2",
            "lower",
            "lpad",
            "ltrim",
            "md5",
            "mid",
            "mod",
            "nullif",
            "oct",
            "octet_length",
            "ord",
            "pi",
            "pow",
            "power",
            "quote",
            "repeat",
            "replace",
            "reverse",
            "right",
            "round",
            "rpad",
            "rtrim",
            "sha",
            "sha1",
            "sha2",
            "sign",
            "soundex",
            "space",
            "sqrt",
            "strcmp",
            "substr",
            "substring",
            "to_base64",
            "trim",
            "truncate",
            "ucase",
            "unhex",
            "upper");

    /** Length up to which texts are joined, in characters, so that the time grows linearly with a statement. */
    private static final int MAX_JOINED = 1024;

    private final ConditionTokens tokens;
    /** Number of functions around the operand that is read. */
    private int nested;

    OperandReader(ConditionTokens tokens) {
        this.tokens = tokens;
    }

    /**
     * Reads a name, a literal with its sign, or literals that are added and multiplied; returns null for anything
     * else. {@code (SELECT 1)} and a function of literals count as literals.
     *
     * @param masked question marks represent literals
     */
    ConstantOperand operand(boolean masked) {
        if (tokens.is(SELECT)) {
            tokens.next();
            ConstantOperand selected = value(masked);
            return tokens.kind() == Kind.CLOSE ? selected : null; // no table follows
        }
        return value(masked);
    }

    private ConstantOperand value(boolean masked) {
        skipCharacterSet();
        if (tokens.kind() == Kind.NAME) {
            ConstantOperand name = ConstantOperand.of(tokens, false);
            tokens.next();
            return tokens.kind() == Kind.OPEN ? function(name, masked) : tokens.kind() == Kind.ARITHMETIC ? null : name;
        }
        ConstantOperand first = signed(masked);
        ConstantOperand sum = first;
        while (sum != null && tokens.kind() == Kind.ARITHMETIC) {
            tokens.next();
            sum = signed(masked) == null ? null : ConstantOperand.UNKNOWN;
        }
        return sum;
    }

    /** Reads the arguments of a function of literals; returns null if its value is not constant. */
    private ConstantOperand function(ConstantOperand name, boolean masked) {
        if (nested >= MAX_NESTED || !PURE.contains(name.text().toLowerCase(Locale.ROOT))) {
            return null;
        }
        nested++;
        List<ConstantOperand> values = arguments(masked);
        nested--;
        return values == null ? null : PureFunction.value(name.text().toLowerCase(Locale.ROOT), values);
    }

    /** Reads arguments; returns null if one is not constant or the parenthesis is not closed. */
    private List<ConstantOperand> arguments(boolean masked) {
        List<ConstantOperand> values = new ArrayList<>();
        for (int i = 0; i < MAX_ARGUMENTS && (tokens.kind() == Kind.OPEN || tokens.isComma()); i++) {
            tokens.next();
            ConstantOperand argument = tokens.kind() == Kind.CLOSE ? ConstantOperand.UNKNOWN : operand(masked);
            if (argument == null || !argument.isLiteral()) {
                return null;
            }
            values.add(argument);
        }
        boolean closed = tokens.kind() == Kind.CLOSE;
        tokens.next();
        return closed ? values : null;
    }

    ConstantOperand signed(boolean masked) {
        boolean negative = false;
        boolean inverted = false;
        while (tokens.kind() == Kind.ARITHMETIC || isTilde()) {
            inverted |= isTilde();
            negative ^= tokens.bytes()[tokens.from()] == '-';
            tokens.next();
        }
        boolean unknownParameter = tokens.kind() == Kind.PLACEHOLDER && !masked;
        if (!tokens.isLiteral() || unknownParameter) {
            return null;
        }
        ConstantOperand operand = inverted ? ConstantOperand.UNKNOWN : ConstantOperand.of(tokens, negative);
        boolean mayContinue = tokens.kind() == Kind.TEXT || tokens.kind() == Kind.PLACEHOLDER;
        tokens.next();
        return mayContinue ? joined(operand) : operand;
    }

    /** Reads the texts after a text: the server joins {@code 'a' 'b'} to one. */
    private ConstantOperand joined(ConstantOperand first) {
        ConstantOperand all = first;
        while (tokens.kind() == Kind.TEXT || tokens.kind() == Kind.PLACEHOLDER) {
            ConstantOperand next = ConstantOperand.of(tokens, false);
            boolean texts = all.kind() == Kind.TEXT
                    && next.kind() == Kind.TEXT
                    && all.text().length() < MAX_JOINED;
            all = texts ? new ConstantOperand(Kind.TEXT, all.text() + next.text()) : ConstantOperand.UNKNOWN;
            tokens.next();
        }
        return all;
    }

    /** Passes over the name of a character set before a literal: {@code _utf8mb4 'a'}. */
    private void skipCharacterSet() {
        int from = tokens.from();
        if (tokens.kind() == Kind.NAME && tokens.bytes()[from] == '_') {
            tokens.next();
            boolean text = tokens.kind() == Kind.TEXT || tokens.kind() == Kind.CODED;
            if (!text && tokens.kind() != Kind.PLACEHOLDER) {
                tokens.back(from);
            }
        }
    }

    private boolean isTilde() {
        return tokens.kind() == Kind.OTHER && tokens.bytes()[tokens.from()] == '~';
    }
}
