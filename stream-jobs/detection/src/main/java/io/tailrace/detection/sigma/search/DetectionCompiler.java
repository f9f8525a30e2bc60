package io.tailrace.detection.sigma.search;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.match.BooleanMatcher;
import io.tailrace.detection.match.CidrMatcher;
import io.tailrace.detection.match.ComparisonMatcher;
import io.tailrace.detection.match.DatePartMatcher;
import io.tailrace.detection.match.Expression;
import io.tailrace.detection.match.NumberMatcher;
import io.tailrace.detection.match.RegexMatcher;
import io.tailrace.detection.match.ValueMatcher;
import io.tailrace.detection.match.WildcardMatcher;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.yaml.RuleCompilationException;
import io.tailrace.detection.sigma.yaml.RuleError;
import io.tailrace.detection.sigma.yaml.Scalar;
import io.tailrace.detection.sigma.yaml.YamlMap;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * Compiles the searches of a rule and the condition over them: Sigma's specification 2.1, "Detection". If the
 * specification is silent, pySigma 2 is the reference; docs/DETECTION.md lists the differences.
 */
public final class DetectionCompiler {

    private static final String CONDITION = "condition";
    /** Maximum number of values in one rule. Aliases of YAML can produce very many from few lines. */
    private static final int MAX_VALUES = 100_000;

    private static final int MAX_DEPTH = 20;
    private static final int ASCII = 128;

    private final String file;
    private final LogSource source;
    private final RuleContext context;
    private final Consumer<RuleError> warnings;
    private int values;

    /**
     * Creates a compiler for the searches of one rule.
     *
     * @param source logs whose fields the rule may use
     * @param warnings receives warnings about values with an unlikely meaning
     */
    public DetectionCompiler(String file, LogSource source, RuleContext context, Consumer<RuleError> warnings) {
        this.warnings = warnings;
        this.file = file;
        this.source = source;
        this.context = context;
    }

    /**
     * Compiles {@code detection} or {@code filter}.
     *
     * @param others keys that are neither searches nor the condition
     * @throws RuleCompilationException if it is not valid
     */
    public Expression read(YamlMap detection, Set<String> others) {
        Node condition = detection.require(CONDITION, "detection");
        Map<String, Expression> searches = new LinkedHashMap<>();
        for (String name : detection.keys()) {
            if ("timeframe".equals(name)) {
                throw detection.refusal(
                        detection.keyNode(name),
                        "timeframe belongs to aggregating conditions, which correlation rules have replaced");
            }
            if (!CONDITION.equals(name) && !others.contains(name)) {
                searches.put(name, search(detection.get(name).orElseThrow(), 0));
            }
        }
        if (searches.isEmpty()) {
            throw detection.refusal(detection.node(), "detection has no search");
        }
        return conditions(condition, detection, searches);
    }

    private Expression conditions(Node condition, YamlMap detection, Map<String, Expression> searches) {
        List<Expression> alternatives = new ArrayList<>();
        for (Node node : detection.list(CONDITION)) {
            if (!(node instanceof ScalarNode scalar)) {
                throw YamlMap.refusal(file, node, "a condition is expected to be a text");
            }
            alternatives.add(
                    new ConditionParser(scalar.getValue(), searches, reason -> YamlMap.refusal(file, node, reason))
                            .parse());
        }
        if (alternatives.isEmpty()) {
            throw YamlMap.refusal(file, condition, "the list of conditions is empty");
        }
        return Expression.any(alternatives);
    }

    /** Compiles a single search; throws {@link RuleCompilationException} if it is not valid. */
    public Expression search(Node node) {
        return search(node, 0);
    }

    /** Compiles a map (all entries must match) or a list (any entry must match). */
    private Expression search(Node node, int depth) {
        if (depth > MAX_DEPTH) {
            throw YamlMap.refusal(file, node, "a search is expected to be at most " + MAX_DEPTH + " lists deep");
        }
        if (node instanceof MappingNode mapping) {
            return fields(YamlMap.of(file, mapping, "a search"));
        }
        List<Node> nodes = node instanceof SequenceNode sequence ? sequence.getValue() : List.of(node);
        if (nodes.isEmpty()) {
            throw YamlMap.refusal(file, node, "a search is empty");
        }
        if (nodes.stream().allMatch(ScalarNode.class::isInstance)) {
            return item("", node, node);
        }
        List<Expression> alternatives = new ArrayList<>();
        for (Node alternative : nodes) {
            alternatives.add(search(alternative, depth + 1));
        }
        return Expression.any(alternatives);
    }

    private Expression fields(YamlMap map) {
        List<Expression> fields = new ArrayList<>();
        for (String key : map.keys()) {
            fields.add(item(key, map.keyNode(key), map.get(key).orElseThrow()));
        }
        if (fields.isEmpty()) {
            throw map.refusal(map.node(), "a search is empty");
        }
        return Expression.all(fields);
    }

    /** Compiles one field with its modifiers and values; keywords if it has no name. */
    private Expression item(String key, Node keyNode, Node valueNode) {
        String[] parts = key.split("\\|", -1);
        String field = parts[0].isEmpty() ? "" : fieldName(parts[0], keyNode);
        ModifierChain chain = chain(parts, keyNode);
        List<Expression> alternatives = new ArrayList<>();
        for (Node node : valueNode instanceof SequenceNode sequence ? sequence.getValue() : List.of(valueNode)) {
            alternatives.add(value(field, chain, node));
        }
        if (alternatives.isEmpty()) {
            throw YamlMap.refusal(
                    file, valueNode, "the list of values is empty; a field that is absent is null or |exists: false");
        }
        Expression linked = chain.has(Modifier.ALL) ? Expression.all(alternatives) : Expression.any(alternatives);
        return chain.has(Modifier.NEQ) ? new Expression.Not(linked) : linked;
    }

    private String fieldName(String name, Node node) {
        return context.fields()
                .resolve(source, name)
                .orElseThrow(() -> YamlMap.refusal(
                        file,
                        node,
                        "these logs have no field " + name + "; the nearest is "
                                + context.fields().nearest(name)));
    }

    private ModifierChain chain(String[] parts, Node keyNode) {
        List<Modifier> modifiers = new ArrayList<>();
        for (String name : Arrays.asList(parts).subList(1, parts.length)) {
            modifiers.add(Modifier.named(name)
                    .orElseThrow(() -> YamlMap.refusal(
                            file, keyNode, "unknown modifier " + name + "; known are " + Modifier.allNames())));
        }
        return new ModifierChain(modifiers, context.placeholders(), reason -> YamlMap.refusal(file, keyNode, reason));
    }

    private Expression value(String field, ModifierChain chain, Node node) {
        if (!(node instanceof ScalarNode scalar)) {
            throw YamlMap.refusal(file, node, "a value is expected to be a text, a number, true, false or null");
        }
        if (++values > MAX_VALUES) {
            throw YamlMap.refusal(file, node, "a rule is expected to have at most " + MAX_VALUES + " values");
        }
        Scalar read = Scalar.of(scalar);
        SqlPatternLint.of(field, chain, read)
                .ifPresent(doubt ->
                        warnings.accept(YamlMap.refusal(file, node, doubt).error()));
        List<Expression> alternatives = new ArrayList<>();
        for (Operand operand : chain.apply(read)) {
            alternatives.add(field.isEmpty() ? keyword(chain, operand, node) : field(field, chain, operand, node));
        }
        return Expression.any(alternatives);
    }

    private Expression field(String field, ModifierChain chain, Operand operand, Node node) {
        if (operand instanceof Operand.Null) {
            return new Expression.Exists(field, false);
        }
        if (operand instanceof Operand.Presence presence) {
            return new Expression.Exists(field, presence.expected());
        }
        if (operand instanceof Operand.FieldName other) {
            return new Expression.SameField(
                    field, fieldName(other.name(), node), other.relation(), chain.has(Modifier.CASED));
        }
        return new Expression.Field(field, test(chain, operand, node));
    }

    private Expression keyword(ModifierChain chain, Operand operand, Node node) {
        if (operand instanceof Operand.Text text) {
            Operand within = new Operand.Text(text.tokens().withPrefix().withSuffix());
            return new Expression.Keyword(test(chain, within, node));
        }
        if (operand instanceof Operand.Number number) {
            return keyword(chain, new Operand.Text(TextTokens.literal(number.written())), node);
        }
        if (operand instanceof Operand.Regex || operand instanceof Operand.Cidr) {
            return new Expression.Keyword(test(chain, operand, node));
        }
        throw YamlMap.refusal(file, node, "a keyword is expected to be a text, a number or a regular expression");
    }

    private ValueMatcher test(ModifierChain chain, Operand operand, Node node) {
        boolean cased = chain.has(Modifier.CASED);
        if (cased && !(operand instanceof Operand.Text)) {
            throw YamlMap.refusal(file, node, "modifier cased expects a text");
        }
        if (operand instanceof Operand.Text text) {
            return new WildcardMatcher(stored(text.tokens(), node), cased);
        }
        if (operand instanceof Operand.Number number) {
            return new NumberMatcher(number.value());
        }
        if (operand instanceof Operand.Bool bool) {
            return new BooleanMatcher(bool.value());
        }
        if (operand instanceof Operand.Bound bound) {
            return new ComparisonMatcher(bound.operator(), bound.value().doubleValue());
        }
        if (operand instanceof Operand.Part part) {
            return new DatePartMatcher(part.unit(), part.expected());
        }
        return operand instanceof Operand.Regex regex ? regex(regex, node) : network((Operand.Cidr) operand, node);
    }

    /**
     * Returns the tokens as an event contains them: if base64 does not follow, wide characters include their NUL bytes.
     */
    private int[] stored(TextTokens text, Node node) {
        if (text.encoding().equals(StandardCharsets.UTF_8)) {
            return text.tokens();
        }
        if (Arrays.stream(text.tokens()).anyMatch(token -> token >= ASCII)) {
            throw YamlMap.refusal(file, node, "wide texts are expected to be ASCII, unless base64 follows");
        }
        boolean littleEndian = text.encoding().equals(StandardCharsets.UTF_16LE);
        IntStream wide = Arrays.stream(text.tokens())
                .flatMap(token -> token < 0
                        ? IntStream.of(token)
                        : littleEndian ? IntStream.of(token, 0) : IntStream.of(0, token));
        return (text.mark() ? IntStream.concat(IntStream.of('\ufeff'), wide) : wide).toArray();
    }

    private ValueMatcher regex(Operand.Regex regex, Node node) {
        if (RegexSize.of(regex.source()) > RegexSize.MAX_SIZE) {
            throw YamlMap.refusal(
                    file,
                    node,
                    "the regular expression is nested too deeply, or its repetitions make it larger than "
                            + RegexSize.MAX_SIZE + " characters");
        }
        try {
            return new RegexMatcher(Pattern.compile(regex.source(), regex.flags()));
        } catch (PatternSyntaxException e) {
            throw YamlMap.refusal(file, node, unsupported(e));
        }
    }

    private static String unsupported(PatternSyntaxException e) {
        String what = "the regular expression is not valid in RE2: " + e.getDescription();
        boolean lookaround = e.getPattern() != null && e.getPattern().matches("(?s)\\(\\?<?[=!].*");
        return lookaround ? what + "; lookahead and lookbehind cannot be matched in linear time" : what;
    }

    private ValueMatcher network(Operand.Cidr cidr, Node node) {
        return CidrMatcher.of(cidr.network())
                .orElseThrow(() -> YamlMap.refusal(
                        file,
                        node,
                        "modifier cidr expects a network such as 10.0.0.0/8 or fe80::/10 without bits behind its"
                                + " prefix, found " + cidr.network()));
    }
}
