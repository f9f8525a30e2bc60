package io.tailrace.detection.match;

import io.tailrace.detection.event.FieldValue;
import java.util.List;

/** What one value of a field must be. */
public sealed interface ValueMatcher
        permits WildcardMatcher,
                NumberMatcher,
                ComparisonMatcher,
                RegexMatcher,
                CidrMatcher,
                BooleanMatcher,
                DatePartMatcher {

    boolean test(FieldValue value);

    /** Texts of which every matching value holds one; none where nothing is known. */
    default List<Literal> literals() {
        return List.of();
    }

    /**
     * A text that a value may have to hold for a test to succeed.
     *
     * @param text folded; empty only where it is the whole
     * @param whole the value is this text and no more
     */
    record Literal(String text, boolean whole) {}
}
