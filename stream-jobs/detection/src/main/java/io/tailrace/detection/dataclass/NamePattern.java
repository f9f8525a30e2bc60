package io.tailrace.detection.dataclass;

import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.match.WildcardMatcher;

/** A name pattern with {@code *} (any characters, or none) and {@code ?} (one character), which ignores case. */
final class NamePattern {

    private final String written;
    private final WildcardMatcher pattern;

    NamePattern(String written) {
        this.written = written;
        this.pattern = new WildcardMatcher(
                written.chars()
                        .map(c -> c == '*' ? WildcardMatcher.ANY : c == '?' ? WildcardMatcher.ONE : c)
                        .toArray(),
                false);
    }

    boolean matches(FieldValue name) {
        return pattern.test(name);
    }

    boolean hasWildcards() {
        return written.indexOf('*') >= 0 || written.indexOf('?') >= 0;
    }

    String written() {
        return written;
    }
}
