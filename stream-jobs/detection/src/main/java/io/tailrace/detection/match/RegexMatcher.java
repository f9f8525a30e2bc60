package io.tailrace.detection.match;

import com.google.re2j.Pattern;
import io.tailrace.detection.event.FieldValue;
import java.util.List;

/** A part of the value matches a regular expression of RE2's syntax, in time linear in the value's length. */
public record RegexMatcher(Pattern pattern) implements ValueMatcher {

    @Override
    public boolean test(FieldValue value) {
        return pattern.matcher(value.text()).find();
    }

    @Override
    public List<Literal> literals() {
        return RequiredLiterals.of(pattern.pattern()).stream()
                .map(text -> new Literal(text, false))
                .toList();
    }
}
