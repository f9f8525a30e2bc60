package io.tailrace.detection.sigma.yaml;

import java.util.Iterator;
import java.util.Optional;
import java.util.function.Consumer;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;

/** Reads the maps of a YAML text. It constructs no objects that the text chooses, and depth and length are bounded. */
public final class YamlDocuments {

    /** Maximum size of a file in bytes or characters. */
    public static final int MAX_LENGTH = 4 << 20;

    private YamlDocuments() {}

    /**
     * Reads one document after another. If the consumer rejects one ({@link RuleCompilationException}), the others are
     * still read. A syntax error rejects the rest of the text.
     *
     * @param file name of the file, for errors
     */
    public static void read(String file, String yaml, Consumer<YamlMap> documents, Consumer<RuleError> errors) {
        LoadSettings settings = settings(file, yaml);
        Optional<RuleError> tooDeep = NestingDepth.excess(file, yaml, settings);
        if (tooDeep.isPresent()) {
            errors.accept(tooDeep.get());
            return;
        }
        Iterator<Node> nodes = new Compose(settings).composeAllFromString(yaml).iterator();
        try {
            while (nodes.hasNext()) {
                document(file, nodes.next(), documents, errors);
            }
        } catch (MarkedYamlEngineException e) {
            errors.accept(syntax(file, e));
        } catch (YamlEngineException e) {
            errors.accept(new RuleError(file, 1, 1, "invalid YAML: " + e.getMessage()));
        }
    }

    /**
     * Buffers the complete text, because SnakeYAML Engine 3.0.1 fails on a character outside the BMP that its buffer
     * splits.
     */
    private static LoadSettings settings(String file, String yaml) {
        return LoadSettings.builder()
                .setLabel(file)
                .setUseMarks(true)
                .setBufferSize(yaml.length() + 2)
                .setCodePointLimit(MAX_LENGTH)
                .build();
    }

    private static RuleError syntax(String file, MarkedYamlEngineException e) {
        int line = e.getProblemMark().map(Mark::getLine).orElse(0) + 1;
        int column = e.getProblemMark().map(Mark::getColumn).orElse(0) + 1;
        return new RuleError(file, line, column, "invalid YAML: " + e.getProblem());
    }

    private static void document(String file, Node node, Consumer<YamlMap> documents, Consumer<RuleError> errors) {
        if (isEmpty(node)) {
            return;
        }
        try {
            YamlTags.check(file, node);
            documents.accept(YamlMap.of(file, node, "a document"));
        } catch (RuleCompilationException e) {
            errors.accept(e.error());
        }
    }

    private static boolean isEmpty(Node node) {
        return node instanceof ScalarNode scalar && Scalar.of(scalar) instanceof Scalar.Null;
    }
}
