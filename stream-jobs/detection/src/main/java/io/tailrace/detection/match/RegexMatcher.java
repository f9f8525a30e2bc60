package io.tailrace.detection.match;

import com.google.re2j.Pattern;
import io.tailrace.detection.event.FieldValue;
import java.util.List;

/**
 * Matches if a part of the value matches a regular expression in RE2 syntax. Takes time linear in the length of the
 * value. Thread-safe.
 *
 * <p>The results of recent texts are stored, because statements without literals repeat, and an expression takes
 * microseconds for one. Texts are compared, not hashes. Memory: at most {@value #PLACES} texts of {@value #MAX_LENGTH}
 * characters.
 */
public final class RegexMatcher implements ValueMatcher {

    private static final int PLACES = 64;
    /** Longer texts are rare, and would need much memory. */
    private static final int MAX_LENGTH = 512;

    private final Pattern pattern;
    /** Without a lock: results are immutable, and one that another thread does not see is only computed again. */
    private final Result[] recent = new Result[PLACES];

    public RegexMatcher(Pattern pattern) {
        this.pattern = pattern;
    }

    @Override
    public boolean test(FieldValue value) {
        String text = value.text();
        if (text.length() > MAX_LENGTH) {
            return isMatch(text);
        }
        int hash = text.hashCode();
        int place = (hash ^ hash >>> Short.SIZE) & PLACES - 1;
        Result known = recent[place];
        if (known != null && known.text.equals(text)) {
            return known.isMatch;
        }
        boolean isMatch = isMatch(text);
        recent[place] = new Result(text, isMatch);
        return isMatch;
    }

    private boolean isMatch(String text) {
        return pattern.matcher(text).find();
    }

    @Override
    public List<Literal> literals() {
        return RequiredLiterals.of(pattern.pattern()).stream()
                .map(text -> new Literal(text, false))
                .toList();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RegexMatcher that && pattern.equals(that.pattern);
    }

    @Override
    public int hashCode() {
        return pattern.hashCode();
    }

    private record Result(String text, boolean isMatch) {}
}
