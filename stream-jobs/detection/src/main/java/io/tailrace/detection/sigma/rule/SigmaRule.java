package io.tailrace.detection.sigma.rule;

import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.match.Expression;
import java.util.List;

/**
 * A rule over single events.
 *
 * @param source logs to which it applies
 * @param condition condition on an event, filters included
 * @param alerts whether a match raises an alert; false if only correlations use the rule
 */
public record SigmaRule(RuleHeader header, LogSource source, Expression condition, boolean alerts) {

    /** Returns a copy that raises no alerts itself. */
    public SigmaRule withoutAlerts() {
        return new SigmaRule(header, source, condition, false);
    }

    /** Returns a copy with another header. */
    public SigmaRule called(RuleHeader newHeader) {
        return new SigmaRule(newHeader, source, condition, alerts);
    }

    /** Returns a copy whose events must also meet a filter. */
    public SigmaRule with(Expression filter) {
        return new SigmaRule(header, source, Expression.all(List.of(condition, filter)), alerts);
    }
}
