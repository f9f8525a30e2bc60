package io.tailrace.detection.sigma.yaml;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Optional;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.nodes.ScalarNode;

/**
 * A single value of a rule. Plain scalars have their meaning in YAML 1.1, as in pySigma: yes, no, on and off are
 * booleans, 0x1f and 017 are numbers. Dates and numbers to base 60 are texts.
 */
public sealed interface Scalar {

    /** Limits the length of texts that are parsed as numbers. */
    int MAX_NUMBER_LENGTH = 40;

    Pattern NULL = Pattern.compile("|~|null|Null|NULL");
    Pattern TRUE = Pattern.compile("yes|Yes|YES|true|True|TRUE|on|On|ON");
    Pattern FALSE = Pattern.compile("no|No|NO|false|False|FALSE|off|Off|OFF");
    Pattern DECIMAL = Pattern.compile("[-+]?(0|[1-9][0-9_]*)");
    Pattern OCTAL = Pattern.compile("[-+]?0[0-7_]+");
    Pattern HEXADECIMAL = Pattern.compile("[-+]?0x[0-9a-fA-F_]+");
    Pattern BINARY = Pattern.compile("[-+]?0b[01_]+");
    Pattern FRACTION = Pattern.compile("[-+]?([0-9][0-9_]*\\.[0-9_]*|\\.[0-9][0-9_]*)([eE][-+][0-9]{1,2})?");

    /** Returns the value as it is written. */
    String written();

    /** A text. */
    record Text(String written) implements Scalar {}

    /** A number. */
    record Number(String written, BigDecimal value) implements Scalar {}

    /** True or false. */
    record Bool(String written, boolean value) implements Scalar {}

    /** No value. */
    record Null(String written) implements Scalar {}

    static Scalar of(ScalarNode node) {
        String written = node.getValue();
        return node.isPlain() ? ofPlain(written) : new Text(written);
    }

    private static Scalar ofPlain(String written) {
        if (NULL.matcher(written).matches()) {
            return new Null(written);
        }
        if (TRUE.matcher(written).matches()) {
            return new Bool(written, true);
        }
        if (FALSE.matcher(written).matches()) {
            return new Bool(written, false);
        }
        return number(written).<Scalar>map(value -> new Number(written, value)).orElseGet(() -> new Text(written));
    }

    private static Optional<BigDecimal> number(String written) {
        if (written.length() > MAX_NUMBER_LENGTH) {
            return Optional.empty();
        }
        String digits = written.replace("_", "");
        if (DECIMAL.matcher(written).matches() || FRACTION.matcher(written).matches()) {
            return Optional.of(new BigDecimal(digits));
        }
        if (HEXADECIMAL.matcher(written).matches()) {
            return Optional.of(whole(digits, "0x", 16));
        }
        if (BINARY.matcher(written).matches()) {
            return Optional.of(whole(digits, "0b", 2));
        }
        return OCTAL.matcher(written).matches() ? Optional.of(whole(digits, "0", 8)) : Optional.empty();
    }

    private static BigDecimal whole(String digits, String prefix, int radix) {
        return new BigDecimal(new BigInteger(digits.replaceFirst(prefix, ""), radix));
    }
}
