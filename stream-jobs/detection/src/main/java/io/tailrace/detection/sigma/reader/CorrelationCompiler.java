package io.tailrace.detection.sigma.reader;

import io.tailrace.detection.sigma.rule.CorrelationCondition;
import io.tailrace.detection.sigma.rule.CorrelationCondition.Bound;
import io.tailrace.detection.sigma.rule.CorrelationCondition.Operator;
import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.detection.sigma.rule.CorrelationRule.Known;
import io.tailrace.detection.sigma.rule.CorrelationRule.Type;
import io.tailrace.detection.sigma.rule.Level;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.detection.sigma.rule.Timespan;
import io.tailrace.detection.sigma.yaml.RuleError;
import io.tailrace.detection.sigma.yaml.Scalar;
import io.tailrace.detection.sigma.yaml.YamlMap;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;

/** Compiles a correlation: Sigma's correlation rules specification 2.1. */
final class CorrelationCompiler {

    private static final String REPEAT_LEVEL = "repeat_level";
    private static final String ONE_CHANGE = "one_change";
    private static final String KNOWN_BY = "known_by";
    private static final String KNOWN_AFTER = "known_after";
    private static final String KNOWN_ONLY = "known_only";
    private static final String KNOWN_DAYS = "known_days";
    private static final String KNOWN_EXCEPT = "known_except";
    /** The state has a match of each day. */
    private static final int MAX_DAYS = 30;

    private static final Set<String> KEYS = Set.of(
            "type",
            "rules",
            "group-by",
            "optional",
            "timespan",
            "aliases",
            "condition",
            "generate",
            REPEAT_LEVEL,
            ONE_CHANGE,
            KNOWN_BY,
            KNOWN_AFTER,
            KNOWN_ONLY,
            KNOWN_DAYS,
            KNOWN_EXCEPT,
            LearningReader.LEARNING,
            LearningReader.ONLY);
    /** Maximum bound, because state stores that many matches of a group. */
    private static final BigDecimal MAX_BOUND = BigDecimal.valueOf(500_000);

    private static final String COUNT = "a count is expected to be a whole number";
    private static final String FIELD = "field";
    private static final String PERCENTILE = "percentile";
    private static final double MEDIAN = 50;

    private final RuleHeader header;
    private final YamlMap map;

    CorrelationCompiler(YamlMap document, RuleHeader header) {
        this.header = header;
        this.map = document.map("correlation", "a correlation");
    }

    UnresolvedCorrelation read() {
        refuseUnknownKeys();
        Type type = type();
        List<Set<String>> alternatives = alternatives(type);
        List<String> references = references(alternatives);
        CorrelationRule rule = new CorrelationRule(
                header,
                type,
                List.of(),
                map.texts("group-by"),
                optional(),
                timespan("timespan"),
                Map.of(),
                alternatives.isEmpty()
                        ? condition(type, references.size())
                        : CorrelationCondition.of(map.text("condition"), indexes(alternatives, references)),
                Level.of(map, REPEAT_LEVEL),
                map.has(ONE_CHANGE) ? timespan(ONE_CHANGE) : 0,
                known(references),
                LearningReader.read(map),
                true);
        refuseMisplaced(rule, references.size());
        RuleError place = map.refusal(
                        map.get(map.has("rules") ? "rules" : "condition").orElseThrow(), "")
                .error();
        List<String> used = Stream.concat(references.stream(), rule.known().rules().stream())
                .toList();
        return new UnresolvedCorrelation(rule, used, aliases(), isTrue("generate"), place);
    }

    private void refuseMisplaced(CorrelationRule rule, int references) {
        for (String key : List.of(REPEAT_LEVEL, LearningReader.LEARNING)) {
            if (map.has(key) && !rule.reportsFirstMatches(references)) {
                throw map.refusal(map.keyNode(key), "only a correlation over one rule with gte: 1 has a " + key);
            }
        }
        if (rule.isOfValues() && (rule.repeatLevel().isEmpty() || rule.type() != Type.VALUE_COUNT)) {
            String key = map.has(ONE_CHANGE) ? ONE_CHANGE : KNOWN_BY;
            throw map.refusal(map.keyNode(key), "only a value_count with a repeat_level has " + key);
        }
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

    /** Returns the sets of rules of a condition that is an expression over rules; none if it is none. */
    private List<Set<String>> alternatives(Type type) {
        Optional<Node> node = map.get("condition").filter(ScalarNode.class::isInstance);
        if (node.isEmpty()) {
            return List.of();
        }
        if (!type.isTemporal()) {
            throw map.refusal(
                    node.get(),
                    "only temporal and temporal_ordered have conditions over rules; expected a map such as gte: 5, found "
                            + map.text("condition"));
        }
        return new RuleExpression(map.text("condition"), reason -> map.refusal(node.get(), reason)).alternatives();
    }

    private static List<List<Integer>> indexes(List<Set<String>> alternatives, List<String> references) {
        return alternatives.stream()
                .map(rules -> rules.stream().map(references::indexOf).sorted().toList())
                .toList();
    }

    /** Returns the rules as written; those of an expression if there is no list. */
    private List<String> references(List<Set<String>> alternatives) {
        Set<String> named = new LinkedHashSet<>();
        alternatives.forEach(named::addAll);
        if (!map.has("rules") && !named.isEmpty()) {
            return List.copyOf(named);
        }
        List<String> references = references();
        if (!named.isEmpty() && !named.equals(Set.copyOf(references))) {
            throw map.refusal(
                    map.get("condition").orElseThrow(),
                    "the condition is expected to name each rule of rules and no other one");
        }
        return references;
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

    /** An extension that Sigma does not define. */
    private Known known(List<String> references) {
        if (!map.has(KNOWN_BY)) {
            for (String key : List.of(KNOWN_AFTER, KNOWN_ONLY, KNOWN_DAYS, KNOWN_EXCEPT)) {
                if (map.has(key)) {
                    throw map.refusal(map.keyNode(key), "only a correlation with known_by has " + key);
                }
            }
            return Known.NONE;
        }
        List<String> rules = rulesOf(KNOWN_BY, references);
        List<String> except = map.has(KNOWN_EXCEPT) ? rulesOf(KNOWN_EXCEPT, references) : List.of();
        if (!except.isEmpty() && (!isTrue(KNOWN_ONLY) || except.stream().anyMatch(rules::contains))) {
            throw map.refusal(
                    map.keyNode(KNOWN_EXCEPT),
                    "known_except is expected with known_only, and to name rules that known_by does not name");
        }
        Set<String> all = Stream.concat(rules.stream(), except.stream()).collect(Collectors.toUnmodifiableSet());
        return new Known(all, timespan(KNOWN_AFTER), isTrue(KNOWN_ONLY), days(), Set.copyOf(except));
    }

    private List<String> rulesOf(String key, List<String> references) {
        List<String> rules = map.texts(key);
        if (rules.isEmpty()
                || rules.size() != Set.copyOf(rules).size()
                || rules.stream().anyMatch(references::contains)) {
            throw map.refusal(
                    map.keyNode(key),
                    key + " is expected to name rules that the correlation does not count, found "
                            + String.join(", ", rules));
        }
        return rules;
    }

    private int days() {
        if (!map.has(KNOWN_DAYS)) {
            return 1;
        }
        String written = map.text(KNOWN_DAYS);
        if (written.matches("[0-9]{1,2}")) {
            int days = Integer.parseInt(written);
            if (days >= 2 && days <= MAX_DAYS) {
                return days;
            }
        }
        throw map.refusal(
                map.keyNode(KNOWN_DAYS),
                KNOWN_DAYS + " is expected to be a number from 2 to " + MAX_DAYS + ", found " + written);
    }

    private long timespan(String key) {
        Node node = map.require(key, "a correlation");
        String written = map.text(key);
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

    private boolean isTrue(String key) {
        if (!map.has(key)) {
            return false;
        }
        Node node = map.get(key).orElseThrow();
        if (node instanceof ScalarNode scalar && Scalar.of(scalar) instanceof Scalar.Bool bool) {
            return bool.value();
        }
        throw map.refusal(node, key + " is expected to be true or false");
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

    private CorrelationCondition condition(Type type, int rules) {
        if (type.isTemporal() && !map.has("condition")) {
            return CorrelationCondition.of(Operator.GTE, rules);
        }
        map.require("condition", "a correlation");
        YamlMap condition = map.map("condition", "a correlation");
        return new CorrelationCondition(
                bounds(condition, type), field(condition, type), percentile(condition, type), "", List.of());
    }

    /** Several bounds are a range: all of them must be met. */
    private static List<Bound> bounds(YamlMap condition, Type type) {
        List<Bound> bounds = condition.keys().stream()
                .filter(key -> !FIELD.equals(key) && !PERCENTILE.equals(key))
                .map(key -> new Bound(operator(condition, key), bound(condition, key, type)))
                .toList();
        if (bounds.isEmpty()) {
            throw condition.refusal(
                    condition.node(), "a condition is expected to have one of " + CorrelationCondition.operators());
        }
        return bounds;
    }

    private static Operator operator(YamlMap condition, String key) {
        return Arrays.stream(Operator.values())
                .filter(known -> known.name().toLowerCase(Locale.ROOT).equals(key))
                .findFirst()
                .orElseThrow(() -> condition.refusal(
                        condition.keyNode(key),
                        "a condition has " + CorrelationCondition.operators() + ", field and percentile, found "
                                + key));
    }

    private static double bound(YamlMap condition, String key, Type type) {
        Node node = condition.get(key).orElseThrow();
        BigDecimal bound = number(condition, node, type.isNumeric() ? "a bound is expected to be a number" : COUNT);
        if (type.isNumeric()) {
            return bound.doubleValue();
        }
        if (bound.stripTrailingZeros().scale() > 0) {
            throw condition.refusal(node, COUNT + ", found " + bound);
        }
        if (bound.signum() < 0 || bound.compareTo(MAX_BOUND) > 0) {
            throw condition.refusal(node, "a count is expected to be from 0 to " + MAX_BOUND + ", found " + bound);
        }
        return bound.doubleValue();
    }

    private static BigDecimal number(YamlMap condition, Node node, String expected) {
        if (node instanceof ScalarNode scalar && Scalar.of(scalar) instanceof Scalar.Number number) {
            return number.value();
        }
        throw condition.refusal(node, expected);
    }

    private static String field(YamlMap condition, Type type) {
        List<String> fields = condition.texts(FIELD);
        boolean needed = type == Type.VALUE_COUNT || type.isNumeric();
        if (needed && fields.size() != 1) {
            throw condition.refusal(
                    condition.node(), type.name().toLowerCase(Locale.ROOT) + " is expected to name one field");
        }
        if (!needed && !fields.isEmpty()) {
            throw condition.refusal(condition.keyNode(FIELD), "only correlations of values have a field");
        }
        return fields.isEmpty() ? "" : fields.get(0);
    }

    /** The specification's example has no percentile; pySigma requires the key too. */
    private static double percentile(YamlMap condition, Type type) {
        Optional<Node> node = condition.get(PERCENTILE);
        if (type != Type.VALUE_PERCENTILE) {
            if (node.isPresent()) {
                throw condition.refusal(condition.keyNode(PERCENTILE), "only value_percentile has a percentile");
            }
            return MEDIAN;
        }
        String expected = "value_percentile is expected to have a percentile from 0 to 100, such as percentile: 95";
        double percentile =
                number(condition, node.orElse(condition.node()), expected).doubleValue();
        if (percentile < 0 || percentile > 100) {
            throw condition.refusal(node.orElseThrow(), expected);
        }
        return percentile;
    }
}
