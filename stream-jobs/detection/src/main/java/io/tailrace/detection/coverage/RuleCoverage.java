package io.tailrace.detection.coverage;

import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.match.Expression;
import io.tailrace.detection.sigma.CorrelationRule;
import io.tailrace.detection.sigma.RuleSet;
import io.tailrace.detection.sigma.SigmaRule;
import io.tailrace.detection.taxonomy.DatabaseField;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Which rules can never fire on a log, because its events lack a field or are of other classes. */
public final class RuleCoverage {

    private static final String EVENT_CLASS = DatabaseField.EVENT_CLASS.fieldName();

    private final LogSource source;
    private final Set<String> fields;
    private final Set<String> eventClasses;

    /**
     * @param source what the log is
     * @param fields all fields that some event of the log has
     * @param eventClasses all classes of its events
     */
    public RuleCoverage(LogSource source, Set<String> fields, Set<String> eventClasses) {
        this.source = source;
        this.fields = fields;
        this.eventClasses = eventClasses;
    }

    /** Why rules cannot fire, by the key of the rule; those that can are not in it. */
    public Map<String, String> obstacles(RuleSet rules) {
        Map<String, String> obstacles = new HashMap<>();
        for (SigmaRule rule : rules.rules()) {
            String obstacle = obstacle(rule);
            if (!obstacle.isEmpty()) {
                obstacles.put(rule.header().key(), obstacle);
            }
        }
        for (CorrelationRule rule : rules.correlations()) {
            String obstacle = obstacle(rule, obstacles);
            if (!obstacle.isEmpty()) {
                obstacles.put(rule.header().key(), obstacle);
            }
        }
        return obstacles;
    }

    private String obstacle(SigmaRule rule) {
        if (!rule.source().covers(source)) {
            return "it is for another kind of log";
        }
        if (isPossible(rule.condition())) {
            return "";
        }
        Set<String> missing = new TreeSet<>();
        collectMissing(rule.condition(), missing);
        return missing.contains(EVENT_CLASS)
                ? "it is about other events; this log has only those of the class "
                        + String.join(", ", new TreeSet<>(eventClasses))
                : lacks(missing);
    }

    /** A correlation needs its fields, and of its rules one, or as many as it counts. */
    private String obstacle(CorrelationRule rule, Map<String, String> obstacles) {
        List<String> able = rule.rules().stream()
                .filter(used -> !obstacles.containsKey(used))
                .toList();
        boolean temporal =
                rule.type() == CorrelationRule.Type.TEMPORAL || rule.type() == CorrelationRule.Type.TEMPORAL_ORDERED;
        long needed = temporal && rule.operator().isRising() ? rule.bound() : 1;
        if (able.size() < needed) {
            return unable(rule, able.size(), obstacles);
        }
        Set<String> missing = new TreeSet<>();
        for (String used : able) {
            rule.groupBy().forEach(field -> missing.add(rule.fieldOf(used, field)));
            if (!rule.field().isEmpty()) {
                missing.add(rule.fieldOf(used, rule.field()));
            }
        }
        missing.removeAll(fields);
        return missing.isEmpty() ? "" : lacks(missing);
    }

    /** Why too few of its rules can match: what the first that cannot is hindered by. */
    private static String unable(CorrelationRule rule, int able, Map<String, String> obstacles) {
        String cause = rule.rules().stream()
                .filter(obstacles::containsKey)
                .map(obstacles::get)
                .findFirst()
                .orElse("they are too few");
        if (rule.rules().size() == 1) {
            return "the rule that it counts cannot match: " + cause;
        }
        String few = able == 0 ? "none" : "only " + able;
        return few + " of the " + rule.rules().size() + " rules that it is made of can match: " + cause;
    }

    private static String lacks(Set<String> missing) {
        return "it needs " + String.join(" and ", missing) + ", which no event of this log has";
    }

    private boolean isPossible(Expression expression) {
        if (expression instanceof Expression.All all) {
            return all.parts().stream().allMatch(this::isPossible);
        }
        if (expression instanceof Expression.AtLeast some) {
            return some.parts().stream().filter(this::isPossible).count() >= some.count();
        }
        if (expression instanceof Expression.Field field) {
            return EVENT_CLASS.equals(field.name())
                    ? eventClasses.stream().map(FieldValue::of).anyMatch(field.test()::test)
                    : fields.contains(field.name());
        }
        if (expression instanceof Expression.SameField same) {
            return fields.contains(same.name()) && fields.contains(same.other());
        }
        return !(expression instanceof Expression.Exists exists)
                || !exists.expected()
                || fields.contains(exists.name());
    }

    private void collectMissing(Expression expression, Set<String> missing) {
        if (isPossible(expression)) {
            return;
        }
        if (expression instanceof Expression.All all) {
            all.parts().forEach(part -> collectMissing(part, missing));
        } else if (expression instanceof Expression.AtLeast some) {
            some.parts().forEach(part -> collectMissing(part, missing));
        } else if (expression instanceof Expression.Field field) {
            missing.add(field.name());
        } else if (expression instanceof Expression.Exists exists) {
            missing.add(exists.name());
        } else if (expression instanceof Expression.SameField same) {
            Set<String> both = new TreeSet<>(List.of(same.name(), same.other()));
            both.removeAll(fields);
            missing.addAll(both);
        }
    }
}
