package io.tailrace.detection.match;

import com.google.re2j.Pattern;
import io.tailrace.detection.event.FieldValue;
import java.util.List;

/**
 * Matches if a part of the value matches a regular expression in RE2 syntax. Takes time linear in the length of the
 * value.
 */
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
