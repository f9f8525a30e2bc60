package io.tailrace.detection.sigma;

import java.util.List;

/**
 * Rules that were compiled together, and why others were refused.
 *
 * @param rules over single events
 * @param correlations in such an order that each follows those it uses
 * @param errors in the order of files and lines
 * @param warnings of rules that were compiled and may not do what was meant, in the same order
 */
public record RuleSet(
        List<SigmaRule> rules, List<CorrelationRule> correlations, List<RuleError> errors, List<RuleError> warnings) {

    public RuleSet {
        rules = List.copyOf(rules);
        correlations = List.copyOf(correlations);
        errors = List.copyOf(errors);
        warnings = List.copyOf(warnings);
    }
}
