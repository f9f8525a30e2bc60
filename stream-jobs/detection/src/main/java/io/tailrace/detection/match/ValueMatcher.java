package io.tailrace.detection.match;

import io.tailrace.detection.event.FieldValue;
import java.util.List;

/** A test of one value of a field. */
public sealed interface ValueMatcher
        permits WildcardMatcher,
                NumberMatcher,
                ComparisonMatcher,
                RegexMatcher,
                CidrMatcher,
                BooleanMatcher,
                DatePartMatcher {

    boolean test(FieldValue value);

    /** Returns texts of which every matching value contains one; empty if none is known. */
    default List<Literal> literals() {
        return List.of();
    }

    /**
     * A text that a matching value may have to contain.
     *
     * @param text folded; empty only if {@code whole} is true
     * @param whole the value is exactly this text
     */
    record Literal(String text, boolean whole) {}
}
