package io.tailrace.detection.sigma.search;

import com.google.re2j.Pattern;
import io.tailrace.detection.match.ComparisonMatcher;
import io.tailrace.detection.match.DatePartMatcher;
import io.tailrace.detection.match.Expression.SameField.Relation;
import io.tailrace.detection.sigma.yaml.RuleCompilationException;
import io.tailrace.detection.sigma.yaml.Scalar;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Applies the modifiers of a field to its values, in their written order. */
final class ModifierChain {

    private final List<Modifier> modifiers;
    private final Map<String, List<String>> placeholders;
    private final Function<String, RuleCompilationException> refusal;

    /**
     * @param placeholders values by the names that {@code expand} replaces
     * @param refusal creates the error from a reason
     */
    ModifierChain(
            List<Modifier> modifiers,
            Map<String, List<String>> placeholders,
            Function<String, RuleCompilationException> refusal) {
        this.modifiers = modifiers;
        this.placeholders = placeholders;
        this.refusal = refusal;
    }

    boolean has(Modifier modifier) {
        return modifiers.contains(modifier);
    }

    /** Converts a value; returns several alternatives if a modifier produces more than one. */
    List<Operand> apply(Scalar value) {
        List<Operand> operands = List.of(operand(value));
        for (int i = 0; i < modifiers.size(); i++) {
            if (!modifiers.get(i).isOfList()) {
                operands = apply(modifiers.get(i), i == 0, operands);
            }
        }
        return operands;
    }

    private Operand operand(Scalar value) {
        if (value instanceof Scalar.Text text) {
            boolean raw = has(Modifier.RE) || has(Modifier.CIDR);
            return new Operand.Text(raw ? TextTokens.literal(text.written()) : TextTokens.of(text.written()));
        }
        if (value instanceof Scalar.Number number) {
            return new Operand.Number(number.value(), number.written());
        }
        return value instanceof Scalar.Bool bool ? new Operand.Bool(bool.value()) : new Operand.Null();
    }

    private List<Operand> apply(Modifier modifier, boolean first, List<Operand> operands) {
        List<Operand> changed = new ArrayList<>();
        for (Operand operand : operands) {
            changed.addAll(apply(modifier, first, operand));
        }
        return changed;
    }

    private List<Operand> apply(Modifier modifier, boolean first, Operand operand) {
        return switch (modifier) {
            case CONTAINS, STARTSWITH, ENDSWITH -> List.of(partly(modifier, operand));
            case WINDASH -> List.of(new Operand.Text(text(modifier, operand).withDashes()));
            case WIDE -> List.of(new Operand.Text(text(modifier, operand).encoded(StandardCharsets.UTF_16LE, false)));
            case UTF16BE -> List.of(
                    new Operand.Text(text(modifier, operand).encoded(StandardCharsets.UTF_16BE, false)));
            case UTF16 -> List.of(new Operand.Text(text(modifier, operand).encoded(StandardCharsets.UTF_16LE, true)));
            case BASE64 -> List.of(new Operand.Text(
                    withoutWildcards(modifier, text(modifier, operand)).base64()));
            case BASE64OFFSET -> texts(
                    withoutWildcards(modifier, text(modifier, operand)).base64Offsets());
            case EXPAND -> expanded(text(modifier, operand));
            case FIELDREF -> List.of(new Operand.FieldName(
                    withoutWildcards(modifier, text(modifier, operand)).text(), Relation.EQUALS));
            case EXISTS -> List.of(presence(first, operand));
            case CIDR -> List.of(new Operand.Cidr(unmodified(modifier, first, operand)));
            case RE -> List.of(new Operand.Regex(unmodified(modifier, first, operand), 0));
            case IGNORE_CASE -> List.of(flagged(modifier, operand, Pattern.CASE_INSENSITIVE));
            case MULTILINE -> List.of(flagged(modifier, operand, Pattern.MULTILINE));
            case DOT_ALL -> List.of(flagged(modifier, operand, Pattern.DOTALL));
            case LT, LTE, GT, GTE -> List.of(new Operand.Bound(
                    ComparisonMatcher.Operator.valueOf(modifier.name()),
                    number(modifier, operand).value()));
            case MINUTE, HOUR, DAY, WEEK, MONTH, YEAR -> List.of(
                    new Operand.Part(DatePartMatcher.Unit.valueOf(modifier.name()), whole(modifier, operand)));
            case ALL, NEQ, CASED -> throw new IllegalStateException(modifier + " is of the list");
        };
    }

    private static List<Operand> texts(List<TextTokens> texts) {
        return texts.stream().<Operand>map(Operand.Text::new).toList();
    }

    private Operand partly(Modifier modifier, Operand operand) {
        if (operand instanceof Operand.FieldName field) {
            return new Operand.FieldName(field.name(), relation(modifier));
        }
        TextTokens text = text(modifier, operand);
        TextTokens open = modifier == Modifier.STARTSWITH ? text : text.withPrefix();
        return new Operand.Text(modifier == Modifier.ENDSWITH ? open : open.withSuffix());
    }

    private static Relation relation(Modifier modifier) {
        return switch (modifier) {
            case STARTSWITH -> Relation.STARTS_WITH;
            case ENDSWITH -> Relation.ENDS_WITH;
            default -> Relation.CONTAINS;
        };
    }

    private TextTokens text(Modifier modifier, Operand operand) {
        if (operand instanceof Operand.Text text) {
            return text.tokens();
        }
        if (operand instanceof Operand.Number number) {
            return TextTokens.literal(number.written());
        }
        throw unfit(modifier, "a text", operand);
    }

    private Operand.Number number(Modifier modifier, Operand operand) {
        if (operand instanceof Operand.Number number) {
            return number;
        }
        throw unfit(modifier, "a number", operand);
    }

    private long whole(Modifier modifier, Operand operand) {
        try {
            return number(modifier, operand).value().longValueExact();
        } catch (ArithmeticException e) {
            throw unfit(modifier, "a whole number", operand);
        }
    }

    private TextTokens withoutWildcards(Modifier modifier, TextTokens text) {
        if (text.hasWildcards() || text.tokens().length == 0) {
            throw refusal.apply(
                    "modifier " + modifier.writtenName() + " expects a text without wildcards that is" + " not empty");
        }
        return text;
    }

    private String unmodified(Modifier modifier, boolean first, Operand operand) {
        if (!first) {
            throw refusal.apply("modifier " + modifier.writtenName() + " is expected to be the first one");
        }
        return text(modifier, operand).text();
    }

    private Operand presence(boolean first, Operand operand) {
        if (first && operand instanceof Operand.Bool bool) {
            return new Operand.Presence(bool.value());
        }
        throw first
                ? unfit(Modifier.EXISTS, "true or false", operand)
                : refusal.apply("modifier exists is expected to be the only one");
    }

    private Operand flagged(Modifier modifier, Operand operand, int flag) {
        if (operand instanceof Operand.Regex regex) {
            return new Operand.Regex(regex.source(), regex.flags() | flag);
        }
        throw refusal.apply("modifier " + modifier.writtenName() + " is expected behind re");
    }

    private List<Operand> expanded(TextTokens text) {
        List<Operand> expanded = texts(text.expanded(placeholders));
        if (expanded.isEmpty()) {
            String unfilled = text.placeholders().stream()
                    .filter(name -> !placeholders.containsKey(name))
                    .map(name -> '%' + name + '%')
                    .collect(Collectors.joining(", "));
            throw refusal.apply("no values are known for the placeholder " + unfilled + "; placeholders.yaml has "
                    + (placeholders.isEmpty() ? "none" : String.join(", ", placeholders.keySet())));
        }
        return expanded;
    }

    private RuleCompilationException unfit(Modifier modifier, String expected, Operand found) {
        return refusal.apply(
                "modifier " + modifier.writtenName() + " expects " + expected + ", found " + describe(found));
    }

    private static String describe(Operand operand) {
        if (operand instanceof Operand.Text text) {
            return text.tokens().hasWildcards()
                    ? "a text with wildcards"
                    : '"' + text.tokens().text() + '"';
        }
        if (operand instanceof Operand.Number number) {
            return number.written();
        }
        return operand instanceof Operand.Null
                ? "null"
                : operand.getClass().getSimpleName().toLowerCase(Locale.ROOT);
    }
}
