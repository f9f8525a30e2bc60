package io.tailrace.detection.sigma;

import io.tailrace.detection.sigma.CorrelationRule.Operator;
import io.tailrace.detection.sigma.CorrelationRule.Type;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;

/** Compiles a correlation: Sigma's correlation rules specification 2.1. */
final class CorrelationCompiler {

    private static final Set<String> KEYS =
            Set.of("type", "rules", "group-by", "optional", "timespan", "aliases", "condition", "generate");
    private static final Set<String> AGGREGATES = Set.of("value_sum", "value_avg", "value_percentile", "value_median");
    /** Maximum bound, because state stores that many matches of a group. */
    private static final long MAX_BOUND = 500_000;

    private final RuleHeader header;
    private final YamlMap map;

    CorrelationCompiler(YamlMap document, RuleHeader header) {
        this.header = header;
        this.map = document.map("correlation", "a correlation");
    }

    UnresolvedCorrelation read() {
        refuseUnknownKeys();
        Type type = type();
        List<String> references = references();
        Condition condition = condition(type, references.size());
        CorrelationRule rule = new CorrelationRule(
                header,
                type,
                List.of(),
                map.texts("group-by"),
                optional(),
                timespan(),
                Map.of(),
                condition.operator,
                condition.bound,
                condition.field,
                true);
        RuleError place = map.refusal(map.get("rules").orElseThrow(), "").error();
        return new UnresolvedCorrelation(rule, references, aliases(), generate(), place);
    }

    private void refuseUnknownKeys() {
        for (String key : map.keys()) {
            if (!KEYS.contains(key)) {
                throw map.refusal(
                        map.keyNode(key),
                        "a correlation has no " + key + "; it has "
                                + KEYS.stream().sorted().collect(Collectors.joining(", ")));
            }
        }
    }

    private Type type() {
        Node node = map.require("type", "a correlation");
        String written = map.text("type");
        if (AGGREGATES.contains(written)) {
            throw map.refusal(
                    node, "correlations of type " + written + " are not supported yet; supported are " + types());
        }
        return Arrays.stream(Type.values())
                .filter(type -> type.name().toLowerCase(Locale.ROOT).equals(written))
                .findFirst()
                .orElseThrow(() -> map.refusal(
                        node, "a correlation's type is expected to be one of " + types() + ", found " + written));
    }

    private static String types() {
        return Arrays.stream(Type.values())
                .map(type -> type.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
    }

    private List<String> references() {
        Node node = map.require("rules", "a correlation");
        List<String> references = map.texts("rules");
        if (references.isEmpty()) {
            throw map.refusal(node, "a correlation names no rules");
        }
        if (references.size() != Set.copyOf(references).size()) {
            throw map.refusal(node, "a correlation names a rule twice");
        }
        return references;
    }

    private long timespan() {
        Node node = map.require("timespan", "a correlation");
        String written = map.text("timespan");
        return Timespan.micros(written).orElseThrow(() -> map.refusal(node, Timespan.EXPECTED + ", found " + written));
    }

    /** An extension that Sigma does not define. */
    private Set<String> optional() {
        List<String> groupBy = map.texts("group-by");
        List<String> optional = map.texts("optional");
        if (!groupBy.containsAll(optional)) {
            throw map.refusal(
                    map.get("optional").orElseThrow(),
                    "optional is expected to name fields of group-by, found " + String.join(", ", optional));
        }
        return Set.copyOf(optional);
    }

    private boolean generate() {
        if (!map.has("generate")) {
            return false;
        }
        Node node = map.get("generate").orElseThrow();
        if (node instanceof ScalarNode scalar && Scalar.of(scalar) instanceof Scalar.Bool bool) {
            return bool.value();
        }
        throw map.refusal(node, "generate is expected to be true or false");
    }

    private Map<String, Map<String, String>> aliases() {
        Map<String, Map<String, String>> aliases = new LinkedHashMap<>();
        if (map.has("aliases")) {
            YamlMap written = map.map("aliases", "a correlation");
            for (String alias : written.keys()) {
                YamlMap fields = written.map(alias, "aliases");
                Map<String, String> byRule = new LinkedHashMap<>();
                fields.keys().forEach(rule -> byRule.put(rule, fields.text(rule)));
                aliases.put(alias, byRule);
            }
        }
        return aliases;
    }

    private record Condition(Operator operator, long bound, String field) {}

    private Condition condition(Type type, int rules) {
        boolean temporal = type == Type.TEMPORAL || type == Type.TEMPORAL_ORDERED;
        if (temporal && !map.has("condition")) {
            return new Condition(Operator.GTE, rules, "");
        }
        Node node = map.require("condition", "a correlation");
        if (node instanceof ScalarNode) {
            throw map.refusal(
                    node,
                    "conditions over rules' names are not supported; expected a map such as gte: 5, found "
                            + ((ScalarNode) node).getValue());
        }
        return condition(map.map("condition", "a correlation"), type);
    }

    private Condition condition(YamlMap condition, Type type) {
        Operator operator = null;
        for (String key : condition.keys()) {
            if ("field".equals(key)) {
                continue;
            }
            Operator found = operator(condition, key);
            if (operator != null) {
                throw condition.refusal(condition.keyNode(key), "a condition is expected to have one bound");
            }
            operator = found;
        }
        if (operator == null) {
            throw condition.refusal(condition.node(), "a condition is expected to have one of " + operators());
        }
        return new Condition(
                operator, bound(condition, operator.name().toLowerCase(Locale.ROOT)), field(condition, type));
    }

    private static Operator operator(YamlMap condition, String key) {
        return Arrays.stream(Operator.values())
                .filter(known -> known.name().toLowerCase(Locale.ROOT).equals(key))
                .findFirst()
                .orElseThrow(() -> condition.refusal(
                        condition.keyNode(key), "a condition has " + operators() + " and field, found " + key));
    }

    private static String operators() {
        return "gt, gte, lt, lte, eq, neq";
    }

    private static long bound(YamlMap condition, String key) {
        Node node = condition.get(key).orElseThrow();
        if (node instanceof ScalarNode scalar && Scalar.of(scalar) instanceof Scalar.Number number) {
            try {
                return checked(condition, node, number.value().longValueExact());
            } catch (ArithmeticException e) {
                throw condition.refusal(node, "a count is expected to be a whole number, found " + number.written());
            }
        }
        throw condition.refusal(node, "a count is expected to be a whole number");
    }

    private static long checked(YamlMap condition, Node node, long bound) {
        if (bound < 0 || bound > MAX_BOUND) {
            throw condition.refusal(node, "a count is expected to be from 0 to " + MAX_BOUND + ", found " + bound);
        }
        return bound;
    }

    private static String field(YamlMap condition, Type type) {
        List<String> fields = condition.texts("field");
        if (type == Type.VALUE_COUNT && fields.size() != 1) {
            throw condition.refusal(condition.node(), "value_count is expected to name one field");
        }
        if (type != Type.VALUE_COUNT && !fields.isEmpty()) {
            throw condition.refusal(condition.keyNode("field"), "only value_count counts a field");
        }
        return fields.isEmpty() ? "" : fields.get(0);
    }
}
