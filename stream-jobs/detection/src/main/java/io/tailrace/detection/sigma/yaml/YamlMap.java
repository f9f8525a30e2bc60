package io.tailrace.detection.sigma.yaml;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/** A mapping of a rule file, or of another file of a bundle, with the lines of its keys. */
public final class YamlMap {

    private static final String MERGE = "<<";

    private final String file;
    private final MappingNode node;
    private final Map<String, NodeTuple> entries = new LinkedHashMap<>();

    private YamlMap(String file, MappingNode node) {
        this.file = file;
        this.node = node;
        for (NodeTuple entry : node.getValue()) {
            String key = key(entry.getKeyNode());
            if (entries.put(key, entry) != null) {
                throw refusal(entry.getKeyNode(), "the key " + key + " is defined twice");
            }
        }
    }

    /** @param what name of the mapping, for errors */
    public static YamlMap of(String file, Node node, String what) {
        if (node instanceof MappingNode mapping) {
            return new YamlMap(file, mapping);
        }
        throw refusal(file, node, what + " is expected to be a map");
    }

    private String key(Node key) {
        if (!(key instanceof ScalarNode scalar)) {
            throw refusal(key, "a key is expected to be a text");
        }
        if (scalar.isPlain() && MERGE.equals(scalar.getValue())) {
            throw refusal(key, "merge keys (<<) are not supported");
        }
        return scalar.getValue();
    }

    public String file() {
        return file;
    }

    public Node node() {
        return node;
    }

    public Set<String> keys() {
        return entries.keySet();
    }

    public boolean has(String key) {
        return entries.containsKey(key);
    }

    public Optional<Node> get(String key) {
        return Optional.ofNullable(entries.get(key)).map(NodeTuple::getValueNode);
    }

    /** Returns the node of the key. */
    public Node keyNode(String key) {
        return entries.get(key).getKeyNode();
    }

    public Node require(String key, String what) {
        return get(key).orElseThrow(() -> refusal(node, what + " has no " + key));
    }

    public YamlMap map(String key, String what) {
        return of(file, require(key, what), key);
    }

    /** Returns the text of a scalar; empty if the key is absent or null. */
    public String text(String key) {
        return get(key).map(value -> text(key, value)).orElse("");
    }

    private String text(String key, Node value) {
        if (!(value instanceof ScalarNode scalar)) {
            throw refusal(value, key + " is expected to be a text");
        }
        return Scalar.of(scalar) instanceof Scalar.Null ? "" : scalar.getValue();
    }

    /** Returns the texts of a list, or a single scalar as a list. */
    public List<String> texts(String key) {
        List<String> texts = new ArrayList<>();
        for (Node value : list(key)) {
            String text = text(key, value);
            if (!text.isEmpty()) {
                texts.add(text);
            }
        }
        return texts;
    }

    /** Returns the nodes of a list, or a single node as a list; empty if the key is absent. */
    public List<Node> list(String key) {
        return get(key).map(value -> value instanceof SequenceNode sequence ? sequence.getValue() : List.of(value))
                .orElse(List.of());
    }

    public RuleCompilationException refusal(Node at, String reason) {
        return refusal(file, at, reason);
    }

    public static RuleCompilationException refusal(String file, Node at, String reason) {
        return at.getStartMark()
                .map(mark -> new RuleCompilationException(
                        new RuleError(file, mark.getLine() + 1, mark.getColumn() + 1, reason)))
                .orElseGet(() -> new RuleCompilationException(new RuleError(file, 1, 1, reason)));
    }
}
