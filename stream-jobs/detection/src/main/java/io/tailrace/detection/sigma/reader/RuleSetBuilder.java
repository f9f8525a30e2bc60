package io.tailrace.detection.sigma.reader;

import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.detection.sigma.rule.CorrelationRule.Type;
import io.tailrace.detection.sigma.rule.FieldMapping;
import io.tailrace.detection.sigma.rule.RuleExceptions;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.rule.SigmaRule;
import io.tailrace.detection.sigma.yaml.RuleCompilationException;
import io.tailrace.detection.sigma.yaml.RuleError;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Collects the rules of all documents, applies filters and resolves references. */
final class RuleSetBuilder {

    private final Map<String, SigmaRule> rules = new LinkedHashMap<>();
    private final Map<String, UnresolvedCorrelation> correlations = new LinkedHashMap<>();
    private final List<RuleFilter> filters = new ArrayList<>();
    private final Map<String, ExceptionCompiler.Draft> exceptions = new LinkedHashMap<>();
    /** Files that the user named one by one, whose deprecated rules are evaluated. */
    private final Set<String> namedFiles = new HashSet<>();

    private final Map<String, RuleHeader> usedNames = new HashMap<>();
    private final List<RuleError> errors = new ArrayList<>();
    private final List<RuleError> warnings = new ArrayList<>();
    private final FieldMapping fields;
    private final YieldingRules yielding = new YieldingRules();

    private final Map<String, CorrelationRule> resolved = new LinkedHashMap<>();
    /** Levels of correlations: 1 if it uses rules over single events only. */
    private final Map<String, Integer> levels = new HashMap<>();

    private final Set<String> refused = new HashSet<>();
    /** The first correlation with {@code generate: true}, by the rule that it uses. */
    private final Map<String, UnresolvedCorrelation> generating = new LinkedHashMap<>();
    /** The first correlation without it, by the rule that it uses. */
    private final Map<String, UnresolvedCorrelation> correlationOnly = new LinkedHashMap<>();

    RuleSetBuilder(FieldMapping fields) {
        this.fields = fields;
    }

    /** Returns the header of the rule, with a name if it needs one. */
    RuleHeader add(SigmaRule rule) {
        SigmaRule distinct = rule.called(distinct(rule.header()));
        claim(distinct.header());
        rules.put(distinct.header().key(), distinct);
        return distinct.header();
    }

    void add(UnresolvedCorrelation correlation) {
        UnresolvedCorrelation distinct = correlation.called(distinct(correlation.header()));
        claim(distinct.header());
        correlations.put(distinct.header().key(), distinct);
    }

    /**
     * Identifies a rule without id and name by its title. If another rule has the same title, the file name is added
     * without its directories, which differ between machines.
     */
    private RuleHeader distinct(RuleHeader header) {
        boolean isNamed = !header.id().isEmpty() || !header.name().isEmpty();
        if (isNamed || !usedNames.containsKey(header.title())) {
            return header;
        }
        String file = header.file().substring(header.file().lastIndexOf('/') + 1);
        return header.named(header.title() + " (" + file + ")");
    }

    /** Evaluates also the deprecated rules of a file. */
    void withWithdrawn(String file) {
        namedFiles.add(file);
    }

    /** Excludes from a rule the events that more specific rules match. */
    void addYielding(RuleHeader rule, List<String> references, RuleError place) {
        yielding.add(rule, references, place);
    }

    void add(RuleFilter filter) {
        filters.add(filter);
    }

    void add(ExceptionCompiler.Draft exception) {
        String title = exception.exception().title();
        ExceptionCompiler.Draft other = exceptions.putIfAbsent(title, exception);
        if (other != null) {
            RuleError first = other.exception().place();
            throw new RuleCompilationException(at(
                    exception.exception().place(),
                    "another exception is called " + title + " too: " + first.file() + ":" + first.line()
                            + "; give one of them another title"));
        }
    }

    void add(RuleError error) {
        errors.add(error);
    }

    /** Adds a warning for a document that is still compiled. */
    void warn(RuleError warning) {
        warnings.add(warning);
    }

    private void claim(RuleHeader header) {
        claim(header, header.key());
        if (!header.name().isEmpty() && !header.name().equals(header.key())) {
            claim(header, header.name());
        }
    }

    private void claim(RuleHeader header, String word) {
        RuleHeader other = usedNames.putIfAbsent(word, header);
        if (other != null) {
            throw new RuleCompilationException(new RuleError(
                    header.file(),
                    header.line(),
                    1,
                    "another rule is called " + word + " too: " + other.file() + ":" + other.line()
                            + "; give one of them another id, name or title"));
        }
    }

    RuleSet ruleSet() {
        filters.forEach(this::apply);
        for (UnresolvedCorrelation draft : correlations.values()) {
            resolve(draft, new ArrayList<>());
        }
        RuleExceptions compiled = new ExceptionResolver(rules, resolved, errors::add).all(exceptions.values());
        Set<String> withdrawn = new WithdrawnRules(namedFiles).keys(rules.values(), resolved.values(), warnings::add);
        rules.keySet().removeAll(withdrawn);
        resolved.keySet().removeAll(withdrawn);
        resolved.values().forEach(this::noteUse);
        generating.forEach(this::warnOfCorrelationOnly);
        return new RuleSet(
                yielding.applied(List.copyOf(rules.values()), name -> specific(name, withdrawn), errors::add).stream()
                        .map(rule -> alertsOnlyInCorrelation(rule.header()) ? rule.withoutAlerts() : rule)
                        .toList(),
                resolved.values().stream()
                        .map(rule -> alertsOnlyInCorrelation(rule.header()) ? rule.alerting(false) : rule)
                        .toList(),
                sorted(errors),
                sorted(warnings),
                compiled);
    }

    private void noteUse(CorrelationRule correlation) {
        UnresolvedCorrelation draft = correlations.get(correlation.header().key());
        Map<String, UnresolvedCorrelation> firstUsers = draft.generate() ? generating : correlationOnly;
        correlation.rules().forEach(used -> firstUsers.putIfAbsent(used, draft));
    }

    private static List<RuleError> sorted(List<RuleError> unsorted) {
        List<RuleError> sorted = new ArrayList<>(unsorted);
        sorted.sort(Comparator.comparing(RuleError::file).thenComparingInt(RuleError::line));
        return sorted;
    }

    /** Returns whether correlations use the rule and none of them has {@code generate: true}. */
    private boolean alertsOnlyInCorrelation(RuleHeader header) {
        return correlationOnly.containsKey(header.key()) && !generating.containsKey(header.key());
    }

    private void warnOfCorrelationOnly(String used, UnresolvedCorrelation withGenerate) {
        UnresolvedCorrelation withoutGenerate = correlationOnly.get(used);
        if (withoutGenerate != null) {
            warnings.add(at(
                    withoutGenerate.place(),
                    "the rule " + used
                            + " raises alerts itself although this correlation does not set generate: true, because "
                            + withGenerate.place().file() + ":"
                            + withGenerate.place().line() + " sets it"));
        }
    }

    /** A filter that names an unknown rule is an error, but still applies to the rules that exist. */
    private void apply(RuleFilter filter) {
        List<String> named = new ArrayList<>();
        for (String reference : filter.rules()) {
            List<String> meant = counted(reference);
            if (meant.isEmpty()) {
                errors.add(at(filter.place(), "there is no rule " + reference));
            }
            named.addAll(meant.isEmpty() ? List.of(reference) : meant);
        }
        RuleFilter resolved = filter.rules().isEmpty() ? filter : filter.of(named);
        rules.replaceAll((key, rule) -> resolved.isFor(rule) ? rule.with(filter.condition()) : rule);
    }

    /**
     * Returns the rules to which another one yields: none if the named rule is a canary, was withdrawn, or raises no alert
     * for each match; empty if there is no such rule.
     */
    private Optional<List<String>> specific(String reference, Set<String> withdrawn) {
        List<String> counted = counted(reference);
        RuleHeader named = usedNames.getOrDefault(reference, usedNames.get(reference.toLowerCase(Locale.ROOT)));
        if (named == null || counted.isEmpty() && !withdrawn.contains(named.key())) {
            return Optional.empty();
        }
        return Optional.of(withdrawn.contains(named.key()) || !reportsMatches(named) ? List.of() : counted);
    }

    /** Returns whether each match leads to an alert that is listed: its own, or that of the first match of a group. */
    private boolean reportsMatches(RuleHeader header) {
        if (!alertsOnlyInCorrelation(header)) {
            return !header.tags().contains(RuleHeader.CANARY_TAG);
        }
        return resolved.values().stream()
                .filter(correlation -> correlation.counted().contains(header.key()))
                .filter(correlation ->
                        correlation.reportsFirstMatches(correlation.counted().size()))
                .anyMatch(correlation -> reportsMatches(correlation.header()));
    }

    /**
     * Returns the rules that a filter refers to: a rule over single events, or the one whose first occurrences a
     * correlation reports.
     */
    private List<String> counted(String reference) {
        if (rules.values().stream().anyMatch(rule -> rule.header().isNamed(reference))) {
            return List.of(reference);
        }
        return correlations.values().stream()
                .filter(correlation -> correlation.header().isNamed(reference))
                .filter(correlation -> correlation.isFirstOccurrenceRule())
                .flatMap(correlation -> correlation.counted().stream())
                .toList();
    }

    /** @param path correlations on the way to this one */
    private Optional<RuleError> resolve(UnresolvedCorrelation draft, List<String> path) {
        String key = draft.header().key();
        if (resolved.containsKey(key)) {
            return Optional.empty();
        }
        if (refused.contains(key)) {
            return Optional.of(at(draft.place(), key + " was rejected"));
        }
        if (path.contains(key)) {
            return Optional.of(
                    at(draft.place(), "correlations form a cycle: " + String.join(" → ", path) + " → " + key));
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

    private Optional<RuleError> resolveReferences(UnresolvedCorrelation draft, List<String> path) {
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
            UnresolvedCorrelation draft, String reference, Map<String, String> keys, List<String> path) {
        for (SigmaRule rule : rules.values()) {
            if (rule.header().isNamed(reference)) {
                keys.put(reference, rule.header().key());
                return Optional.empty();
            }
        }
        for (UnresolvedCorrelation other : correlations.values()) {
            if (other.header().isNamed(reference)) {
                keys.put(reference, other.header().key());
                return resolve(other, path)
                        .map(cause -> at(draft.place(), "it uses " + reference + ", but " + cause.reason()));
            }
        }
        return Optional.of(at(draft.place(), "there is no rule " + reference + ", or it was rejected"));
    }

    private Optional<RuleError> accept(UnresolvedCorrelation draft, Map<String, String> keys) {
        List<String> rulesInOrder = List.copyOf(keys.values());
        Optional<String> unknown = aliasOfAnotherRule(draft, keys);
        if (unknown.isPresent()) {
            return Optional.of(at(draft.place(), unknown.get()));
        }
        boolean ordered = draft.rule().type() == Type.TEMPORAL_ORDERED;
        if (ordered && !draft.rule().condition().isRising()) {
            return Optional.of(at(draft.place(), "temporal_ordered is expected to have gt or gte as its condition"));
        }
        int level = 1 + maxLevel(rulesInOrder);
        if (level > CorrelationRule.MAX_LEVELS) {
            return Optional.of(at(
                    draft.place(),
                    "correlations may use correlations over at most " + CorrelationRule.MAX_LEVELS + " levels, found "
                            + level));
        }
        levels.put(draft.header().key(), level);
        CorrelationRule correlation = draft.resolved(keys, aliasesByKey(draft, keys));
        for (String used : rulesInOrder) {
            Optional<RuleError> error = sentence(correlation, used)
                    .or(() -> unknownNumber(correlation, used))
                    .map(reason -> at(draft.place(), reason));
            if (error.isPresent()) {
                return error;
            }
        }
        resolved.put(draft.header().key(), correlation);
        return Optional.empty();
    }

    private int maxLevel(List<String> used) {
        return used.stream().mapToInt(key -> levels.getOrDefault(key, 0)).max().orElse(0);
    }

    private static Optional<String> aliasOfAnotherRule(UnresolvedCorrelation draft, Map<String, String> keys) {
        for (Map.Entry<String, Map<String, String>> alias : draft.aliases().entrySet()) {
            for (String rule : alias.getValue().keySet()) {
                if (!keys.containsKey(rule)) {
                    return Optional.of("alias " + alias.getKey() + " is for " + rule + ", which is none of its rules");
                }
            }
        }
        return Optional.empty();
    }

    /** Returns for each alias its field by the key of the rule, where the draft has the rule's name. */
    private static Map<String, Map<String, String>> aliasesByKey(
            UnresolvedCorrelation draft, Map<String, String> keys) {
        Map<String, Map<String, String>> aliases = new HashMap<>();
        draft.aliases().forEach((alias, fieldsByName) -> {
            Map<String, String> fields = new HashMap<>();
            fieldsByName.forEach((rule, field) -> fields.put(keys.get(rule), field));
            aliases.put(alias, fields);
        });
        return aliases;
    }

    /**
     * Returns why the correlation cannot group the events of a rule: fields with sentences would become part of its
     * alerts.
     */
    private Optional<String> sentence(CorrelationRule correlation, String used) {
        SigmaRule rule = rules.get(used);
        return correlation.groupBy().stream()
                .map(field -> correlation.fieldOf(used, field))
                .filter(field -> rule != null && fields.isSentence(rule.source(), field))
                .findFirst()
                .map(field -> "group-by is expected to name fields that identify an entity, found " + field
                        + ", whose values are sentences; use kind, error_code or detail.NAME");
    }

    /** Returns why the correlation would never measure a number of a rule's events. */
    private Optional<String> unknownNumber(CorrelationRule correlation, String used) {
        SigmaRule rule = rules.get(used);
        String field = correlation.fieldOf(used, correlation.field());
        boolean known = rule == null
                || !correlation.type().isNumeric()
                || fields.resolve(rule.source(), field).isPresent();
        return known
                ? Optional.empty()
                : Optional.of("these logs have no field " + field + "; the nearest is " + fields.nearest(field));
    }

    private static RuleError at(RuleError place, String reason) {
        return new RuleError(place.file(), place.line(), place.column(), reason);
    }
}
