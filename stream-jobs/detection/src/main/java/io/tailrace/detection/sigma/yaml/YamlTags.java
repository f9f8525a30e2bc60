package io.tailrace.detection.sigma.yaml;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.resolver.JsonScalarResolver;

/** Rejects tags such as {@code !!binary} and {@code !mine}, which would otherwise be ignored silently. */
final class YamlTags {

    private static final JsonScalarResolver RESOLVER = new JsonScalarResolver();

    private YamlTags() {}

    /** Throws {@link RuleCompilationException} with the position of the first node that has a tag. */
    static void check(String file, Node document) {
        Set<Node> seen =
                Collections.newSetFromMap(new IdentityHashMap<>()); // anchors may refer to a node several times
        Deque<Node> open = new ArrayDeque<>();
        open.push(document);
        while (!open.isEmpty()) {
            Node node = open.pop();
            if (!seen.add(node)) {
                continue;
            }
            if (!node.getTag().equals(expected(node))) {
                throw YamlMap.refusal(
                        file,
                        node,
                        "tags are not supported, found " + node.getTag().getValue());
            }
            if (node instanceof SequenceNode sequence) {
                sequence.getValue().forEach(open::push);
            } else if (node instanceof MappingNode mapping) {
                for (NodeTuple entry : mapping.getValue()) {
                    open.push(entry.getValueNode());
                    open.push(entry.getKeyNode());
                }
            }
        }
    }

    /** Returns the tag of a node without an explicit tag. */
    private static Tag expected(Node node) {
        if (node instanceof ScalarNode scalar) {
            return RESOLVER.resolve(scalar.getValue(), scalar.isPlain());
        }
        return node instanceof MappingNode ? Tag.MAP : Tag.SEQ;
    }
}
