package io.tailrace.detection.sigma.reader;

import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.detection.sigma.rule.SigmaRule;
import io.tailrace.detection.sigma.yaml.RuleError;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Finds the deprecated and unsupported rules that are not evaluated: those that nothing names. */
final class WithdrawnRules {

    private final Set<String> namedFiles;

    /** @param namedFiles files whose rules are evaluated whatever their status is */
    WithdrawnRules(Set<String> namedFiles) {
        this.namedFiles = namedFiles;
    }

    /**
     * Returns the keys of the rules that are not evaluated. A rule that an evaluated correlation uses is evaluated.
     *
     * @param correlations in an order in which each follows those that it uses
     */
    Set<String> keys(
            Collection<SigmaRule> rules, Collection<CorrelationRule> correlations, Consumer<RuleError> warnings) {
        Set<String> used = new HashSet<>();
        Set<String> withdrawn = new HashSet<>();
        List<CorrelationRule> users = List.copyOf(correlations);
        for (int i = users.size() - 1; i >= 0; i--) {
            RuleHeader header = users.get(i).header();
            if (isEvaluated(header, used)) {
                used.addAll(users.get(i).rules());
            } else {
                withdrawn.add(header.key());
            }
        }
        rules.stream()
                .map(SigmaRule::header)
                .filter(header -> !isEvaluated(header, used))
                .forEach(header -> withdrawn.add(header.key()));
        Stream.concat(rules.stream().map(SigmaRule::header), users.stream().map(CorrelationRule::header))
                .filter(header -> withdrawn.contains(header.key()))
                .forEach(header -> warnings.accept(warning(header)));
        return withdrawn;
    }

    private boolean isEvaluated(RuleHeader header, Set<String> used) {
        return !header.isWithdrawn() || used.contains(header.key()) || namedFiles.contains(header.file());
    }

    private static RuleError warning(RuleHeader header) {
        return new RuleError(
                header.file(),
                header.line(),
                1,
                "the rule " + header.key() + " is " + header.status()
                        + " and not evaluated, because no correlation uses" + " it");
    }
}
