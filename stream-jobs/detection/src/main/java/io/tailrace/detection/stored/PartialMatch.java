package io.tailrace.detection.stored;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.match.Expression;
import java.util.List;
import java.util.Set;

/**
 * Evaluates conditions on events of which only some fields are known, in three-valued logic. A condition that is false
 * here is false for every event that has the same values of the known fields, whatever its other fields contain.
 */
public final class PartialMatch {

    private enum Truth {
        FALSE,
        UNKNOWN,
        TRUE;

        static Truth of(boolean value) {
            return value ? TRUE : FALSE;
        }
    }

    private final Set<String> known;

    /** @param known fields whose values, or absence, the events have */
    public PartialMatch(Set<String> known) {
        this.known = Set.copyOf(known);
    }

    /** Returns whether an event with these values of the known fields may match. */
    public boolean mayMatch(Expression condition, DetectionEvent event) {
        return evaluate(condition, event) != Truth.FALSE;
    }

    private Truth evaluate(Expression expression, DetectionEvent event) {
        if (expression instanceof Expression.All all) {
            return atLeast(all.parts().size(), all.parts(), event);
        }
        if (expression instanceof Expression.AtLeast some) {
            return atLeast(some.count(), some.parts(), event);
        }
        if (expression instanceof Expression.Not not) {
            Truth part = evaluate(not.part(), event);
            return part == Truth.UNKNOWN ? part : Truth.of(part == Truth.FALSE);
        }
        return isKnown(expression) ? Truth.of(expression.matches(event)) : Truth.UNKNOWN;
    }

    private Truth atLeast(int count, List<Expression> parts, DetectionEvent event) {
        int certain = 0;
        int possible = 0;
        for (Expression part : parts) {
            Truth truth = evaluate(part, event);
            certain += truth == Truth.TRUE ? 1 : 0;
            possible += truth == Truth.FALSE ? 0 : 1;
        }
        if (certain >= count) {
            return Truth.TRUE;
        }
        return possible >= count ? Truth.UNKNOWN : Truth.FALSE;
    }

    private boolean isKnown(Expression expression) {
        if (expression instanceof Expression.Field field) {
            return known.contains(field.name());
        }
        if (expression instanceof Expression.Exists exists) {
            return known.contains(exists.name());
        }
        return expression instanceof Expression.SameField same
                && known.contains(same.name())
                && known.contains(same.other());
    }
}
