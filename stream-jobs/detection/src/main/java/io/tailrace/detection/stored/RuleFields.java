package io.tailrace.detection.stored;

import io.tailrace.detection.match.Expression;
import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.detection.sigma.rule.RuleException;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.rule.SigmaRule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The fields of events on which the result of a rule depends.
 *
 * @param names fields
 * @param every whether it depends on every field, as keywords do
 */
public record RuleFields(Set<String> names, boolean every) {

    public static final RuleFields NONE = new RuleFields(Set.of(), false);

    public RuleFields {
        names = Set.copyOf(names);
    }

    /** Returns the fields of both. */
    public RuleFields and(RuleFields other) {
        Set<String> all = new TreeSet<>(names);
        all.addAll(other.names);
        return new RuleFields(all, every || other.every);
    }

    /** Returns the fields of a condition. */
    public static RuleFields of(Expression expression) {
        Set<String> names = new TreeSet<>();
        boolean every = collect(expression, names);
        return new RuleFields(names, every);
    }

    /** Returns the fields of all rules and correlations and of their exceptions, by the key of each. */
    public static Map<String, RuleFields> of(RuleSet rules) {
        Map<String, RuleFields> excepted = new HashMap<>();
        for (RuleException exception : rules.exceptions().all()) {
            excepted.merge(exception.rule(), of(exception.selection()), RuleFields::and);
        }
        Map<String, RuleFields> fields = new HashMap<>();
        for (SigmaRule rule : rules.rules()) {
            String key = rule.header().key();
            fields.put(key, of(rule.condition()).and(excepted.getOrDefault(key, NONE)));
        }
        for (CorrelationRule rule : rules.correlations()) {
            String key = rule.header().key();
            fields.put(key, of(rule, fields).and(excepted.getOrDefault(key, NONE)));
        }
        return fields;
    }

    private static RuleFields of(CorrelationRule rule, Map<String, RuleFields> known) {
        RuleFields all = NONE;
        for (String used : rule.rules()) {
            all = all.and(known.getOrDefault(used, NONE)).and(new RuleFields(Set.copyOf(grouped(rule, used)), false));
        }
        return all;
    }

    private static List<String> grouped(CorrelationRule rule, String used) {
        List<String> names = new ArrayList<>(rule.groupBy());
        if (!rule.field().isEmpty()) {
            names.add(rule.field());
        }
        return names.stream().map(name -> rule.fieldOf(used, name)).distinct().toList();
    }

    /** Returns whether the condition depends on every field. */
    private static boolean collect(Expression expression, Set<String> names) {
        if (expression instanceof Expression.Field field) {
            names.add(field.name());
        } else if (expression instanceof Expression.Exists exists) {
            names.add(exists.name());
        } else if (expression instanceof Expression.SameField same) {
            names.addAll(List.of(same.name(), same.other()));
        }
        boolean every = expression instanceof Expression.Keyword;
        for (Expression part : parts(expression).toList()) {
            every |= collect(part, names);
        }
        return every;
    }

    private static Stream<Expression> parts(Expression expression) {
        if (expression instanceof Expression.All all) {
            return all.parts().stream();
        }
        if (expression instanceof Expression.AtLeast some) {
            return some.parts().stream();
        }
        return expression instanceof Expression.Not not ? Stream.of(not.part()) : Stream.empty();
    }
}
