package io.tailrace.detection.sigma.reader;

import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.match.Expression;
import io.tailrace.detection.match.ValueMatcher;
import java.util.List;
import java.util.stream.Stream;

/**
 * Decides whether a selection accepts events whatever their values are. A test of a value counts as unlimited if values
 * that nobody has in mind pass it: a text of no language, two addresses, or both a very small and a very large number.
 */
final class SelectionBreadth {

    private static final List<List<FieldValue>> UNLIKELY = List.of(
            List.of(FieldValue.of("qzjxvkwqjzx")),
            List.of(FieldValue.of("203.0.113.77"), FieldValue.of("10.213.97.5")),
            List.of(FieldValue.of("2001:db8::7:91"), FieldValue.of("fd00:17::3")),
            List.of(FieldValue.of(0.0), FieldValue.of(9e14)));

    private SelectionBreadth() {}

    static boolean isUnlimited(Expression expression) {
        if (expression instanceof Expression.All all) {
            return all.parts().stream().allMatch(SelectionBreadth::isUnlimited);
        }
        if (expression instanceof Expression.AtLeast some) {
            return unlimited(some.parts()).count() >= some.count();
        }
        if (expression instanceof Expression.Not not) {
            return !isUnlimited(not.part());
        }
        if (expression instanceof Expression.Field field) {
            return isUnlimited(field.test());
        }
        if (expression instanceof Expression.Keyword keyword) {
            return isUnlimited(keyword.test());
        }
        return expression instanceof Expression.Exists exists && exists.expected();
    }

    private static Stream<Expression> unlimited(List<Expression> parts) {
        return parts.stream().filter(SelectionBreadth::isUnlimited);
    }

    private static boolean isUnlimited(ValueMatcher test) {
        return UNLIKELY.stream().anyMatch(values -> values.stream().allMatch(test::test));
    }
}
