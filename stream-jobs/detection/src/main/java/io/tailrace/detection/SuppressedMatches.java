package io.tailrace.detection;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.sigma.rule.RuleException;
import io.tailrace.detection.sigma.rule.RuleExceptions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Applies exceptions, and counts the matches that each of them suppresses. Not thread-safe. */
final class SuppressedMatches {

    private final RuleExceptions exceptions;
    private final Map<String, Long> counts = new LinkedHashMap<>();

    SuppressedMatches(RuleExceptions exceptions) {
        this.exceptions = exceptions;
        exceptions.all().forEach(exception -> counts.put(exception.title(), 0L));
    }

    /** Returns whether an exception suppresses a match of a rule, or its count in a correlation. */
    boolean covers(String ruleKey, DetectionEvent event) {
        Optional<RuleException> covering = exceptions.covering(ruleKey, event);
        covering.ifPresent(exception -> counts.merge(exception.title(), 1L, Long::sum));
        return covering.isPresent();
    }

    /** Returns the counts by the titles of the exceptions. */
    Map<String, Long> counts() {
        return counts;
    }
}
