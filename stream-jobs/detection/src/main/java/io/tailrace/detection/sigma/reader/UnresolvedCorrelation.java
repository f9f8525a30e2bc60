package io.tailrace.detection.sigma.reader;

import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.detection.sigma.rule.CorrelationRule.Known;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.detection.sigma.yaml.RuleError;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A correlation whose references are not resolved yet.
 *
 * @param rule the correlation without rules and aliases; {@code known} has ids or names of rules, as written
 * @param references ids or names of rules, as written, and at the end those of {@code known}
 * @param aliases alias to field by the rule's id or name, as written
 * @param generate whether the rules that it uses also raise alerts themselves
 * @param place position at which it names its rules, without a reason
 */
record UnresolvedCorrelation(
        CorrelationRule rule,
        List<String> references,
        Map<String, Map<String, String>> aliases,
        boolean generate,
        RuleError place) {

    RuleHeader header() {
        return rule.header();
    }

    /** Returns whether one match of one rule suffices: matches of a group are reported once per timespan. */
    boolean isFirstOccurrenceRule() {
        return rule.reportsFirstMatches(counted().size());
    }

    /** Returns the references to the rules whose matches count. */
    List<String> counted() {
        return references.stream()
                .filter(reference -> !rule.known().rules().contains(reference))
                .toList();
    }

    UnresolvedCorrelation called(RuleHeader newHeader) {
        CorrelationRule renamed = new CorrelationRule(
                newHeader,
                rule.type(),
                rule.rules(),
                rule.groupBy(),
                rule.optional(),
                rule.timespanMicros(),
                rule.aliases(),
                rule.condition(),
                rule.repeatLevel(),
                rule.changeMicros(),
                rule.known(),
                rule.learning(),
                rule.alerts());
        return new UnresolvedCorrelation(renamed, references, aliases, generate, place);
    }

    /**
     * Returns the rule with keys in place of references.
     *
     * @param keys of the rules, by the reference
     */
    CorrelationRule resolved(Map<String, String> keys, Map<String, Map<String, String>> aliasFields) {
        return new CorrelationRule(
                rule.header(),
                rule.type(),
                List.copyOf(keys.values()),
                rule.groupBy(),
                rule.optional(),
                rule.timespanMicros(),
                aliasFields,
                rule.condition(),
                rule.repeatLevel(),
                rule.changeMicros(),
                new Known(
                        resolved(keys, rule.known().rules()),
                        rule.known().afterMicros(),
                        rule.known().only(),
                        rule.known().days(),
                        resolved(keys, rule.known().except())),
                rule.learning(),
                true);
    }

    private static Set<String> resolved(Map<String, String> keys, Set<String> references) {
        return references.stream().map(keys::get).collect(Collectors.toUnmodifiableSet());
    }
}
