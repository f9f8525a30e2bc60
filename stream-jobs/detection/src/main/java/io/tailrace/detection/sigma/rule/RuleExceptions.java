package io.tailrace.detection.sigma.rule;

import io.tailrace.detection.event.DetectionEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The exceptions of a rule set. */
public final class RuleExceptions {

    public static final RuleExceptions NONE = new RuleExceptions(List.of());

    private final List<RuleException> all;
    private final Map<String, List<RuleException>> byRule = new HashMap<>();

    /** @param exceptions in the order of files and lines */
    public RuleExceptions(List<RuleException> exceptions) {
        this.all = List.copyOf(exceptions);
        all.forEach(exception -> byRule.computeIfAbsent(exception.rule(), key -> new ArrayList<>())
                .add(exception));
    }

    public List<RuleException> all() {
        return all;
    }

    /** Returns those that have no effect on events of this time or later, microseconds since 1970 UTC. */
    public List<RuleException> expiredAt(long micros) {
        return all.stream().filter(exception -> exception.isExpiredAt(micros)).toList();
    }

    /**
     * Returns the first exception that suppresses the match of a rule, or the match that a correlation would count.
     *
     * @param ruleKey key of the rule or of the correlation
     * @param event that matched; for a correlation of correlations the fields of the alert that it would count
     */
    public Optional<RuleException> covering(String ruleKey, DetectionEvent event) {
        List<RuleException> exceptions = byRule.get(ruleKey);
        return exceptions == null
                ? Optional.empty()
                : exceptions.stream()
                        .filter(exception -> exception.covers(event))
                        .findFirst();
    }
}
