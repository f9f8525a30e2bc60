package io.tailrace.detection.coverage;

import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.match.Expression;
import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.rule.SigmaRule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Determines which rules can never fire on a log, or on all logs of a server, because their events lack a field or an
 * event class. The command line evaluates files and the detect job evaluates servers with this class.
 *
 * <p>A rule over single events needs one log that contains everything it uses. A correlation needs as many of its rules
 * as its condition counts, or all rules of one alternative of its expression, each of them in a log that also contains
 * the fields by which it is grouped; these may be different logs.
 */
public final class RuleCoverageEvaluator {

    private static final String EVENT_CLASS = DatabaseField.EVENT_CLASS.fieldName();

    /** The event classes that parsers assign: docs/TAXONOMY.md. */
    private static final List<String> EVENT_CLASSES =
            List.of("admin", "connection", "message", "query", "server", "table");

    private static final String THIS_LOG = "this log";

    private final Map<LogSource, ObservedFields> logs;
    private final boolean withDataClasses;
    /** Logs on which a rule can match, by the key of the rule. */
    private final Map<String, Set<LogSource>> able = new HashMap<>();

    private final Map<String, MissingRequirement> obstacles = new HashMap<>();

    /** Reasons of rules that correlations with an obstacle name, by the key of the correlation. */
    private final Map<String, String> rootReasons = new HashMap<>();

    private RuleCoverageEvaluator(Map<LogSource, ObservedFields> logs, boolean withDataClasses) {
        this.logs = logs;
        this.withDataClasses = withDataClasses;
    }

    /**
     * Returns the results for all rules that raise alerts themselves, correlations last.
     *
     * @param rules rules that were compiled together
     * @param withDataClasses whether data classes are configured, which rules may use
     * @param logs observed fields by log source: one log, or all logs of a server
     */
    public static List<RuleCoverageResult> answers(
            RuleSet rules, boolean withDataClasses, Map<LogSource, ObservedFields> logs) {
        RuleCoverageEvaluator coverage = new RuleCoverageEvaluator(logs, withDataClasses);
        rules.rules().forEach(coverage::evaluate);
        rules.correlations().forEach(coverage::evaluate);
        return rules.alerting().stream()
                .map(rule -> new RuleCoverageResult(rule, Optional.ofNullable(coverage.obstacles.get(rule.key()))))
                .toList();
    }

    private void evaluate(SigmaRule rule) {
        Map<LogSource, MissingRequirement> hindered = new LinkedHashMap<>();
        Set<LogSource> can = new LinkedHashSet<>();
        logs.forEach((source, contents) -> obstacle(rule, source, contents)
                .ifPresentOrElse(obstacle -> hindered.put(source, obstacle), () -> can.add(source)));
        able.put(rule.header().key(), can);
        if (can.isEmpty()) {
            obstacles.put(rule.header().key(), together(rule, hindered));
        }
    }

    /** Returns the smallest obstacle, with the reasons of all logs to which the rule applies. */
    private static MissingRequirement together(SigmaRule rule, Map<LogSource, MissingRequirement> hindered) {
        Map<String, MissingRequirement> fitting = new TreeMap<>();
        hindered.forEach((source, obstacle) -> {
            if (rule.source().covers(source)) {
                fitting.put(source.service(), obstacle);
            }
        });
        if (fitting.isEmpty()) {
            return MissingRequirement.because("it is for another kind of log");
        }
        MissingRequirement minimum = fitting.values().stream()
                .min(Comparator.comparingInt(MissingRequirement::size))
                .orElseThrow();
        if (hindered.size() == 1) {
            return minimum;
        }
        return minimum.with(fitting.entrySet().stream()
                .map(log -> log.getKey() + ": " + log.getValue().reason())
                .collect(Collectors.joining("; ")));
    }

    private Optional<MissingRequirement> obstacle(SigmaRule rule, LogSource source, ObservedFields log) {
        if (!rule.source().covers(source)) {
            return Optional.of(MissingRequirement.because("it is for another kind of log"));
        }
        if (isPossible(rule.condition(), log)) {
            return Optional.empty();
        }
        Missing missing = new Missing(new TreeSet<>(), new TreeSet<>());
        collectMissing(rule.condition(), log, missing);
        return Optional.of(
                missing.classes().isEmpty()
                        ? MissingRequirement.lacks(missing.fields(), THIS_LOG)
                        : otherClass(log, missing));
    }

    private static MissingRequirement otherClass(ObservedFields log, Missing missing) {
        String reason = "it matches other events; this log contains only events of the class "
                + String.join(", ", log.eventClasses());
        List<String> classes =
                missing.classes().stream().filter(name -> !name.isEmpty()).toList();
        return new MissingRequirement(reason, List.copyOf(missing.fields()), classes);
    }

    /** A correlation needs its fields and one of its rules, or as many rules as it counts. */
    private void evaluate(CorrelationRule rule) {
        Map<String, Set<LogSource>> usable = new LinkedHashMap<>();
        Set<String> missing = new TreeSet<>();
        for (String used : rule.counted()) {
            Set<String> fields = fieldsOf(rule, used);
            Set<LogSource> sources = able.getOrDefault(used, Set.of()).stream()
                    .filter(source -> missing(fields, source).isEmpty())
                    .collect(Collectors.toSet());
            usable.put(used, sources);
            if (sources.isEmpty()) {
                able.getOrDefault(used, Set.of()).forEach(source -> missing.addAll(missing(fields, source)));
            }
        }
        String key = rule.header().key();
        if (isPossible(rule, usable)) {
            able.put(key, usable.values().stream().flatMap(Set::stream).collect(Collectors.toSet()));
        } else {
            able.put(key, Set.of());
            obstacles.put(
                    key,
                    missing.isEmpty()
                            ? unable(rule)
                            : MissingRequirement.lacks(missing, logs.size() == 1 ? THIS_LOG : "the logs of its rules"));
        }
    }

    /** An expression over rules needs all rules of one alternative; other conditions need a number of rules. */
    private static boolean isPossible(CorrelationRule rule, Map<String, Set<LogSource>> usable) {
        List<List<Integer>> alternatives = rule.condition().alternatives();
        if (alternatives.isEmpty()) {
            long counting =
                    usable.values().stream().filter(logs -> !logs.isEmpty()).count();
            return counting >= needed(rule);
        }
        return alternatives.stream().anyMatch(alternative -> alternative.stream()
                .map(place -> usable.getOrDefault(rule.rules().get(place), Set.of()))
                .noneMatch(Set::isEmpty));
    }

    private static long needed(CorrelationRule rule) {
        boolean severalRules = rule.type().isTemporal() && rule.condition().isRising();
        return severalRules ? Math.max(1, rule.bound()) : 1;
    }

    /** Returns the fields by which a correlation groups matches of a rule, and the field whose values it counts. */
    private static Set<String> fieldsOf(CorrelationRule rule, String used) {
        Stream<String> groupBy =
                rule.groupBy().stream().filter(field -> !rule.optional().contains(field));
        return Stream.concat(groupBy, Stream.of(rule.field()).filter(field -> !field.isEmpty()))
                .map(field -> rule.fieldOf(used, field))
                .collect(Collectors.toSet());
    }

    private Set<String> missing(Set<String> wanted, LogSource source) {
        ObservedFields log = logs.get(source);
        return wanted.stream()
                .filter(field -> !log.mayHave(field, withDataClasses))
                .collect(Collectors.toSet());
    }

    /**
     * Returns why too few of its rules can match: the obstacle of the first rule that cannot. If that is a correlation, the
     * reason is that of the rule behind it, so that no text begins twice in the same way.
     */
    private MissingRequirement unable(CorrelationRule rule) {
        Optional<String> first =
                rule.counted().stream().filter(obstacles::containsKey).findFirst();
        MissingRequirement cause = first.map(obstacles::get).orElse(MissingRequirement.because("they are too few"));
        String reason = first.map(rootReasons::get).orElse(cause.reason());
        rootReasons.put(rule.header().key(), reason);
        if (rule.counted().size() == 1) {
            return cause.with("the rule that it counts cannot match: " + reason);
        }
        long able = rule.counted().stream()
                .filter(used -> !obstacles.containsKey(used))
                .count();
        String few = able == 0 ? "none" : "only " + able;
        return cause.with(few + " of the " + rule.counted().size() + " rules of this correlation can match: " + reason);
    }

    private boolean isPossible(Expression expression, ObservedFields log) {
        if (expression instanceof Expression.All all) {
            return all.parts().stream().allMatch(part -> isPossible(part, log));
        }
        if (expression instanceof Expression.AtLeast some) {
            return some.parts().stream().filter(part -> isPossible(part, log)).count() >= some.count();
        }
        if (expression instanceof Expression.Field field) {
            return EVENT_CLASS.equals(field.name())
                    ? matching(field, log.eventClasses()).findAny().isPresent()
                    : log.mayHave(field.name(), withDataClasses);
        }
        if (expression instanceof Expression.SameField same) {
            return log.mayHave(same.name(), withDataClasses) && log.mayHave(same.other(), withDataClasses);
        }
        return !(expression instanceof Expression.Exists exists)
                || !exists.expected()
                || log.mayHave(exists.name(), withDataClasses);
    }

    private static Stream<String> matching(Expression.Field eventClass, Iterable<String> classes) {
        List<String> found = new ArrayList<>();
        classes.forEach(name -> {
            if (eventClass.test().test(FieldValue.of(name))) {
                found.add(name);
            }
        });
        return found.stream();
    }

    /** The unmet requirements of an expression; an event class that no parser emits has the empty name. */
    private record Missing(Set<String> fields, Set<String> classes) {}

    private void collectMissing(Expression expression, ObservedFields log, Missing missing) {
        if (isPossible(expression, log)) {
            return;
        }
        if (expression instanceof Expression.All all) {
            all.parts().forEach(part -> collectMissing(part, log, missing));
        } else if (expression instanceof Expression.AtLeast some) {
            some.parts().forEach(part -> collectMissing(part, log, missing));
        } else if (expression instanceof Expression.Field field && EVENT_CLASS.equals(field.name())) {
            List<String> classes = matching(field, EVENT_CLASSES).toList();
            missing.classes().addAll(classes.isEmpty() ? List.of("") : classes);
        } else if (expression instanceof Expression.Field field) {
            missing.fields().add(field.name());
        } else if (expression instanceof Expression.Exists exists) {
            missing.fields().add(exists.name());
        } else if (expression instanceof Expression.SameField same) {
            missing.fields().addAll(lacking(log, same.name(), same.other()));
        }
    }

    private List<String> lacking(ObservedFields log, String... names) {
        return Stream.of(names)
                .filter(name -> !log.mayHave(name, withDataClasses))
                .toList();
    }
}
