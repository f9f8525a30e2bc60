package io.tailrace.detection.sigma;

import io.tailrace.detection.match.Expression;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Rules that yield to more specific ones: {@code yields_to} excludes the events that one of these rules matches, so that
 * one statement does not raise two alerts that say the same. Tailrace's own extension of Sigma.
 */
final class YieldingRules {

    /** The key of a rule. */
    static final String KEY = "yields_to";

    /** @param place position of the names in the file, without a reason */
    private record Names(List<String> references, RuleError place) {}

    private final Map<String, Names> byRule = new HashMap<>();

    void add(RuleHeader rule, List<String> references, RuleError place) {
        byRule.put(rule.key(), new Names(references, place));
    }

    /**
     * Returns the rules, each without the events of the rules to which it yields. Canary rules do not count: their alerts
     * are not listed. An unknown name is an error, but the others still apply.
     *
     * @param resolver names of the rules over single events that a name means; empty if there is no such rule
     */
    List<SigmaRule> applied(
            List<SigmaRule> rules, Function<String, Optional<List<String>>> resolver, Consumer<RuleError> errors) {
        List<SigmaRule> applied = new ArrayList<>(rules.size());
        for (SigmaRule rule : rules) {
            Names names = byRule.get(rule.header().key());
            applied.add(names == null ? rule : without(rule, specific(rule, names, rules, resolver, errors)));
        }
        return applied;
    }

    private static SigmaRule without(SigmaRule rule, List<Expression> specific) {
        return specific.isEmpty() ? rule : rule.with(new Expression.Not(Expression.any(specific)));
    }

    private static List<Expression> specific(
            SigmaRule yielding,
            Names names,
            List<SigmaRule> rules,
            Function<String, Optional<List<String>>> resolver,
            Consumer<RuleError> errors) {
        List<Expression> conditions = new ArrayList<>();
        for (String reference : names.references()) {
            Optional<List<String>> meant = resolver.apply(reference);
            if (meant.isEmpty()) {
                errors.accept(new RuleError(
                        names.place().file(),
                        names.place().line(),
                        names.place().column(),
                        "there is no rule " + reference + " over single events"));
            }
            rules.stream()
                    .filter(rule -> meant.orElse(List.of()).stream().anyMatch(rule.header()::isNamed))
                    .filter(rule -> !rule.header().tags().contains(RuleHeader.CANARY_TAG))
                    .filter(rule -> rule.source().covers(yielding.source()))
                    .map(SigmaRule::condition)
                    .forEach(conditions::add);
        }
        return conditions;
    }
}
