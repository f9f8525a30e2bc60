package io.tailrace.detection.sigma;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Optional;
import java.util.stream.Stream;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;

/**
 * Compiles files of Sigma rules. A document that cannot be compiled is refused with its place and a reason, and the
 * others go on; one with a syntax error takes the rest of its file with it.
 */
public final class RuleSetReader {

    private static final int LONGEST_FILE = 4 << 20;

    private final RuleContext context;
    private final RuleDrafts drafts = new RuleDrafts();

    public RuleSetReader(RuleContext context) {
        this.context = context;
    }

    public RuleSetReader() {
        this(RuleContext.NONE);
    }

    /** Reads a file, or all files below a directory whose names end with .yml or .yaml, in the order of their names. */
    public RuleSetReader path(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            try (Stream<Path> files = Files.walk(path)) {
                for (Path file : files.filter(RuleSetReader::isRules).sorted().toList()) {
                    file(file);
                }
            }
        } else {
            file(path);
        }
        return this;
    }

    private static boolean isRules(Path file) {
        String name = file.getFileName().toString();
        return Files.isRegularFile(file) && (name.endsWith(".yml") || name.endsWith(".yaml"));
    }

    private void file(Path file) throws IOException {
        if (Files.size(file) > LONGEST_FILE) {
            drafts.add(new RuleError(file.toString(), 1, 1, "expected a file of at most " + LONGEST_FILE + " bytes"));
            return;
        }
        byte[] bytes = Files.readAllBytes(file);
        try {
            text(
                    file.toString(),
                    StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(ByteBuffer.wrap(bytes))
                            .toString());
        } catch (CharacterCodingException e) {
            drafts.add(new RuleError(file.toString(), 1, 1, "expected UTF-8"));
        }
    }

    /** Reads the documents of a text. */
    public RuleSetReader text(String file, String yaml) {
        Optional<RuleError> tooDeep = NestingDepth.excess(file, yaml, settings(file, yaml));
        if (tooDeep.isPresent()) {
            drafts.add(tooDeep.get());
            return this;
        }
        Iterator<Node> documents =
                new Compose(settings(file, yaml)).composeAllFromString(yaml).iterator();
        try {
            while (documents.hasNext()) {
                document(file, documents.next());
            }
        } catch (MarkedYamlEngineException e) {
            drafts.add(syntax(file, e));
        } catch (YamlEngineException e) {
            drafts.add(new RuleError(file, 1, 1, "this is no YAML: " + e.getMessage()));
        }
        return this;
    }

    /** SnakeYAML Engine 3.0.1 fails on a character outside the BMP that its buffer would cut: it holds the whole text. */
    private static LoadSettings settings(String file, String yaml) {
        return LoadSettings.builder()
                .setLabel(file)
                .setUseMarks(true)
                .setBufferSize(yaml.length() + 2)
                .setCodePointLimit(LONGEST_FILE)
                .build();
    }

    private static RuleError syntax(String file, MarkedYamlEngineException e) {
        int line = e.getProblemMark().map(Mark::getLine).orElse(0) + 1;
        int column = e.getProblemMark().map(Mark::getColumn).orElse(0) + 1;
        return new RuleError(file, line, column, "this is no YAML: " + e.getProblem());
    }

    private void document(String file, Node node) {
        if (isEmpty(node)) {
            return;
        }
        try {
            new RuleDocument(YamlMap.of(file, node, "a document"), context).read(drafts);
        } catch (RuleRefused e) {
            drafts.add(e.error());
        }
    }

    private static boolean isEmpty(Node node) {
        return node instanceof ScalarNode scalar && Scalar.of(scalar) instanceof Scalar.Null;
    }

    /** All that was read, with correlations and filters applied. */
    public RuleSet ruleSet() {
        return drafts.ruleSet();
    }
}
