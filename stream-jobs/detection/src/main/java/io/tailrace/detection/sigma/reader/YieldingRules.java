package io.tailrace.detection.sigma.reader;

import io.tailrace.detection.match.Expression;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.detection.sigma.rule.SigmaRule;
import io.tailrace.detection.sigma.yaml.RuleError;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
    private record Names(List<String> references, RuleError place) {

        RuleError error(String reason) {
            return new RuleError(place.file(), place.line(), place.column(), reason);
        }
    }

    private final Map<String, Names> byRule = new HashMap<>();

    void add(RuleHeader rule, List<String> references, RuleError place) {
        byRule.put(rule.key(), new Names(references, place));
    }

    /**
     * Returns the rules, each without the events of the rules to which it yields. An unknown name is an error, but the
     * others still apply. Rules that yield to each other are an error too: none of them would report the common events.
     *
     * @param resolver names of the rules over single events that a name means and that report each match; empty if there
     *     is no such rule
     */
    List<SigmaRule> applied(
            List<SigmaRule> rules, Function<String, Optional<List<String>>> resolver, Consumer<RuleError> errors) {
        Map<String, List<SigmaRule>> specific = new HashMap<>();
        for (SigmaRule rule : rules) {
            Names names = byRule.get(rule.header().key());
            if (names != null) {
                specific.put(rule.header().key(), specific(rule, names, rules, resolver, errors));
            }
        }
        return rules.stream().map(rule -> without(rule, specific, errors)).toList();
    }

    private SigmaRule without(SigmaRule rule, Map<String, List<SigmaRule>> specific, Consumer<RuleError> errors) {
        String key = rule.header().key();
        List<Expression> conditions = new ArrayList<>();
        for (SigmaRule other : specific.getOrDefault(key, List.of())) {
            if (yieldsTo(other.header().key(), key, specific, new HashSet<>())) {
                errors.accept(byRule.get(key).error("the rule " + other.header().key() + " yields to this rule"));
            } else {
                conditions.add(other.condition());
            }
        }
        return conditions.isEmpty() ? rule : rule.with(new Expression.Not(Expression.any(conditions)));
    }

    /** Returns whether a rule is another one, or yields to it or to one that does. */
    private static boolean yieldsTo(
            String rule, String wanted, Map<String, List<SigmaRule>> specific, Set<String> visited) {
        return rule.equals(wanted)
                || visited.add(rule)
                        && specific.getOrDefault(rule, List.of()).stream()
                                .anyMatch(next -> yieldsTo(next.header().key(), wanted, specific, visited));
    }

    private static List<SigmaRule> specific(
            SigmaRule yielding,
            Names names,
            List<SigmaRule> rules,
            Function<String, Optional<List<String>>> resolver,
            Consumer<RuleError> errors) {
        List<SigmaRule> specific = new ArrayList<>();
        for (String reference : names.references()) {
            Optional<List<String>> meant = resolver.apply(reference);
            if (meant.isEmpty()) {
                errors.accept(names.error("there is no rule " + reference + " over single events"));
            }
            rules.stream()
                    .filter(rule -> meant.orElse(List.of()).stream().anyMatch(rule.header()::isNamed))
                    .filter(rule -> rule.source().covers(yielding.source()))
                    .forEach(specific::add);
        }
        return specific;
    }
}
