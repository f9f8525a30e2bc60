package io.tailrace.fingerprint.flag;

import io.tailrace.fingerprint.flag.ConstantOperand.Truth;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Computes functions of literals with which reports test whether a parameter is given. */
final class PureFunction {

    private PureFunction() {}

    /**
     * Returns the value of a function, {@link ConstantOperand#UNKNOWN} if it is not computed.
     *
     * @param name in lower case
     * @param values its arguments, literals
     */
    static ConstantOperand value(String name, List<ConstantOperand> values) {
        boolean known = !values.isEmpty() && values.stream().allMatch(PureFunction::isKnown);
        if (!known) {
            return ConstantOperand.UNKNOWN;
        }
        ConstantOperand first = values.get(0);
        return switch (name) {
            case "coalesce", "ifnull" -> firstGiven(values);
            case "isnull" -> number(first.kind() == Kind.NULL ? 1 : 0);
            case "nullif" -> values.size() == 2 ? nullIf(first, values.get(1)) : ConstantOperand.UNKNOWN;
            case "length", "octet_length", "char_length", "character_length" -> length(first);
            case "trim", "ltrim", "rtrim" -> trimmed(name, first);
            case "lower", "upper", "lcase", "ucase" -> first; // texts are compared without regard to case
            default -> ConstantOperand.UNKNOWN;
        };
    }

    private static boolean isKnown(ConstantOperand value) {
        return switch (value.kind()) {
            case NULL, NUMBER, TEXT -> true;
            default -> false;
        };
    }

    private static ConstantOperand firstGiven(List<ConstantOperand> values) {
        return values.stream()
                .filter(value -> value.kind() != Kind.NULL)
                .findFirst()
                .orElse(values.get(0));
    }

    private static ConstantOperand nullIf(ConstantOperand value, ConstantOperand other) {
        Truth same = value.compare("=", other);
        boolean absent = value.kind() == Kind.NULL || other.kind() == Kind.NULL;
        if (same == Truth.UNKNOWN && !absent) {
            return ConstantOperand.UNKNOWN;
        }
        return same == Truth.TRUE ? new ConstantOperand(Kind.NULL, "null") : value;
    }

    private static ConstantOperand length(ConstantOperand value) {
        if (value.kind() == Kind.NULL) {
            return value;
        }
        boolean ascii = StandardCharsets.US_ASCII.newEncoder().canEncode(value.text());
        return ascii ? number(value.text().length()) : ConstantOperand.UNKNOWN;
    }

    private static ConstantOperand trimmed(String name, ConstantOperand value) {
        if (value.kind() != Kind.TEXT) {
            return value;
        }
        String text = value.text();
        text = name.equals("rtrim") ? text : text.stripLeading();
        text = name.equals("ltrim") ? text : text.stripTrailing();
        return new ConstantOperand(Kind.TEXT, text);
    }

    /** The sign distinguishes a computed 0 or 1 from one that people write for never and always. */
    private static ConstantOperand number(int number) {
        return new ConstantOperand(Kind.NUMBER, "+" + number);
    }
}
