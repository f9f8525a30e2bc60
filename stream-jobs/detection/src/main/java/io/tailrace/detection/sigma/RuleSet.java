package io.tailrace.detection.sigma;

import java.util.List;

/**
 * Rules that were compiled together, and why others were refused.
 *
 * @param rules over single events
 * @param correlations in such an order that each follows those it uses
 * @param errors in the order of files and lines
 */
public record RuleSet(List<SigmaRule> rules, List<CorrelationRule> correlations, List<RuleError> errors) {

    public RuleSet {
        rules = List.copyOf(rules);
        correlations = List.copyOf(correlations);
        errors = List.copyOf(errors);
    }
}
