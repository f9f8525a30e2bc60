package io.tailrace.detection.sigma.reader;

import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.match.Expression;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.detection.sigma.rule.SigmaRule;
import io.tailrace.detection.sigma.yaml.RuleError;
import java.util.List;

/**
 * A condition that is added to other rules.
 *
 * @param source only rules for these logs are filtered
 * @param rules ids or names of the rules; empty: all of the log source
 * @param place position of the names in the file, without a reason
 */
record RuleFilter(RuleHeader header, LogSource source, List<String> rules, Expression condition, RuleError place) {

    RuleFilter of(List<String> others) {
        return new RuleFilter(header, source, others, condition, place);
    }

    boolean isFor(SigmaRule rule) {
        return source.covers(rule.source())
                && (rules.isEmpty() || rules.stream().anyMatch(rule.header()::isNamed));
    }
}
