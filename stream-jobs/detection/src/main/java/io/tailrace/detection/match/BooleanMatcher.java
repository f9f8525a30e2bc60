package io.tailrace.detection.match;

import io.tailrace.detection.event.FieldValue;

/** Matches a boolean value, written as a word or as 1 or 0. */
public record BooleanMatcher(boolean expected) implements ValueMatcher {

    @Override
    public boolean test(FieldValue value) {
        return value.folded().equals(expected ? "true" : "false")
                || value.text().equals(expected ? "1" : "0");
    }
}
