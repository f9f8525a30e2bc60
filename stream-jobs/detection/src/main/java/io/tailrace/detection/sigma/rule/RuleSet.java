package io.tailrace.detection.sigma.rule;

import io.tailrace.detection.sigma.yaml.RuleError;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Rules that were compiled together, and the reasons why others were rejected.
 *
 * @param rules rules over single events
 * @param correlations in an order in which each follows those that it uses
 * @param errors in the order of files and lines
 * @param warnings about compiled rules that may not have the intended meaning, in the same order
 * @param exceptions of the compiled rules
 */
public record RuleSet(
        List<SigmaRule> rules,
        List<CorrelationRule> correlations,
        List<RuleError> errors,
        List<RuleError> warnings,
        RuleExceptions exceptions) {

    public RuleSet {
        rules = List.copyOf(rules);
        correlations = List.copyOf(correlations);
        errors = List.copyOf(errors);
        warnings = List.copyOf(warnings);
    }

    /** Creates a rule set without exceptions. */
    public RuleSet(
            List<SigmaRule> rules,
            List<CorrelationRule> correlations,
            List<RuleError> errors,
            List<RuleError> warnings) {
        this(rules, correlations, errors, warnings, RuleExceptions.NONE);
    }

    /** Returns the rules and correlations that raise alerts. The others are only used by correlations. */
    public List<RuleHeader> alerting() {
        return Stream.concat(
                        rules.stream().filter(SigmaRule::alerts).map(SigmaRule::header),
                        correlations.stream().filter(CorrelationRule::alerts).map(CorrelationRule::header))
                .toList();
    }

    /** Returns the same rules, but correlations with these names raise no alerts. */
    public RuleSet withoutAlertsOf(Set<String> names) {
        List<CorrelationRule> fewer = correlations.stream()
                .map(rule -> names.contains(rule.header().name()) ? rule.alerting(false) : rule)
                .toList();
        return new RuleSet(rules, fewer, errors, warnings, exceptions);
    }
}
