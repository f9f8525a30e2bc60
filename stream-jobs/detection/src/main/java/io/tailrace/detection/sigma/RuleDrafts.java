package io.tailrace.detection.sigma;

import io.tailrace.detection.sigma.CorrelationRule.Type;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The rules of all documents while they are put together: filters applied, references resolved. */
final class RuleDrafts {

    private final Map<String, SigmaRule> rules = new LinkedHashMap<>();
    private final Map<String, CorrelationDraft> correlations = new LinkedHashMap<>();
    private final List<RuleFilter> filters = new ArrayList<>();
    private final Map<String, RuleHeader> taken = new HashMap<>();
    private final List<RuleError> errors = new ArrayList<>();

    private final Map<String, CorrelationRule> resolved = new LinkedHashMap<>();
    /** Of correlations: 1 where it uses rules over single events only. */
    private final Map<String, Integer> levels = new HashMap<>();

    private final Set<String> refused = new HashSet<>();
    private final Set<String> silenced = new HashSet<>();

    void add(SigmaRule rule) {
        claim(rule.header());
        rules.put(rule.header().key(), rule);
    }

    void add(CorrelationDraft correlation) {
        claim(correlation.header());
        correlations.put(correlation.header().key(), correlation);
    }

    void add(RuleFilter filter) {
        filters.add(filter);
    }

    void add(RuleError error) {
        errors.add(error);
    }

    private void claim(RuleHeader header) {
        claim(header, header.key());
        if (!header.name().isEmpty() && !header.name().equals(header.key())) {
            claim(header, header.name());
        }
    }

    private void claim(RuleHeader header, String word) {
        RuleHeader other = taken.putIfAbsent(word, header);
        if (other != null) {
            throw new RuleRefused(new RuleError(
                    header.file(),
                    header.line(),
                    1,
                    "another rule is called " + word + " too: " + other.file() + ":" + other.line()));
        }
    }

    RuleSet ruleSet() {
        filters.forEach(this::apply);
        for (CorrelationDraft draft : correlations.values()) {
            resolve(draft, new ArrayList<>());
        }
        List<RuleError> sorted = new ArrayList<>(errors);
        sorted.sort(Comparator.comparing(RuleError::file).thenComparingInt(RuleError::line));
        return new RuleSet(
                rules.values().stream()
                        .map(rule -> silenced.contains(rule.header().key()) ? rule.withoutAlerts() : rule)
                        .toList(),
                resolved.values().stream()
                        .map(rule -> silenced.contains(rule.header().key()) ? rule.withoutAlerts() : rule)
                        .toList(),
                sorted);
    }

    /** A filter that names a rule which is not there is a mistake, but what it filters is known: the others. */
    private void apply(RuleFilter filter) {
        for (String reference : filter.rules()) {
            if (rules.values().stream().noneMatch(rule -> rule.header().isNamed(reference))) {
                errors.add(at(filter.place(), "there is no rule " + reference));
            }
        }
        rules.replaceAll((key, rule) -> filter.isFor(rule) ? rule.with(filter.condition()) : rule);
    }

    /** @param path the correlations on the way to this one */
    private Optional<RuleError> resolve(CorrelationDraft draft, List<String> path) {
        String key = draft.header().key();
        if (resolved.containsKey(key)) {
            return Optional.empty();
        }
        if (refused.contains(key)) {
            return Optional.of(at(draft.place(), key + " was refused"));
        }
        if (path.contains(key)) {
            return Optional.of(
                    at(draft.place(), "correlations form a circle: " + String.join(" → ", path) + " → " + key));
        }
        path.add(key);
        Optional<RuleError> error = resolveReferences(draft, path);
        path.remove(path.size() - 1);
        error.ifPresent(found -> refuse(key, found));
        return error;
    }

    private void refuse(String key, RuleError error) {
        if (refused.add(key)) {
            errors.add(error);
        }
    }

    private Optional<RuleError> resolveReferences(CorrelationDraft draft, List<String> path) {
        Map<String, String> keys = new LinkedHashMap<>();
        for (String reference : draft.references()) {
            Optional<RuleError> error = resolveReference(draft, reference, keys, path);
            if (error.isPresent()) {
                return error;
            }
        }
        return accept(draft, keys);
    }

    private Optional<RuleError> resolveReference(
            CorrelationDraft draft, String reference, Map<String, String> keys, List<String> path) {
        for (SigmaRule rule : rules.values()) {
            if (rule.header().isNamed(reference)) {
                keys.put(reference, rule.header().key());
                return Optional.empty();
            }
        }
        for (CorrelationDraft other : correlations.values()) {
            if (other.header().isNamed(reference)) {
                keys.put(reference, other.header().key());
                return resolve(other, path)
                        .map(cause -> at(draft.place(), "it uses " + reference + ", but " + cause.reason()));
            }
        }
        return Optional.of(at(draft.place(), "there is no rule " + reference + ", or it was refused"));
    }

    private Optional<RuleError> accept(CorrelationDraft draft, Map<String, String> keys) {
        List<String> rulesInOrder = List.copyOf(keys.values());
        Map<String, Map<String, String>> aliases = new HashMap<>();
        for (Map.Entry<String, Map<String, String>> alias : draft.aliases().entrySet()) {
            Map<String, String> fields = new HashMap<>();
            for (Map.Entry<String, String> field : alias.getValue().entrySet()) {
                if (!keys.containsKey(field.getKey())) {
                    return Optional.of(at(
                            draft.place(),
                            "alias " + alias.getKey() + " is for " + field.getKey() + ", which is none of its rules"));
                }
                fields.put(keys.get(field.getKey()), field.getValue());
            }
            aliases.put(alias.getKey(), fields);
        }
        boolean ordered = draft.rule().type() == Type.TEMPORAL_ORDERED;
        if (ordered && !draft.rule().operator().isRising()) {
            return Optional.of(at(draft.place(), "temporal_ordered is expected to have gt or gte as its condition"));
        }
        int level = 1
                + rulesInOrder.stream()
                        .mapToInt(used -> levels.getOrDefault(used, 0))
                        .max()
                        .orElse(0);
        if (level > CorrelationRule.MOST_LEVELS) {
            return Optional.of(at(
                    draft.place(),
                    "correlations may use correlations over at most " + CorrelationRule.MOST_LEVELS + " levels, found "
                            + level));
        }
        levels.put(draft.header().key(), level);
        resolved.put(draft.header().key(), draft.resolved(rulesInOrder, aliases));
        if (!draft.generate()) {
            silenced.addAll(rulesInOrder);
        }
        return Optional.empty();
    }

    private static RuleError at(RuleError place, String reason) {
        return new RuleError(place.file(), place.line(), place.column(), reason);
    }
}
