package io.tailrace.detection.match;

import io.tailrace.detection.event.FieldValue;

/** The value is true or false, written so or as 1 or 0. */
public record BooleanMatcher(boolean expected) implements ValueMatcher {

    @Override
    public boolean test(FieldValue value) {
        return value.folded().equals(expected ? "true" : "false")
                || value.text().equals(expected ? "1" : "0");
    }
}
