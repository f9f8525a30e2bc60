package io.tailrace.detection.bundle;

import io.tailrace.detection.sigma.yaml.RuleError;
import io.tailrace.detection.sigma.yaml.YamlDocuments;
import io.tailrace.detection.sigma.yaml.YamlMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.snakeyaml.engine.v2.nodes.Node;

/**
 * Reads the file that defines the values of {@code %name%} in rules whose fields have the modifier {@code expand}. The
 * file is one map of names to texts or lists of texts, which may contain wildcards.
 */
public final class PlaceholderFile {

    private PlaceholderFile() {}

    /**
     * Reads the file.
     *
     * @param file name of the file, for errors
     * @param errors receives the reasons of a rejection
     * @return texts by names; empty if the file is empty or rejected
     */
    public static Map<String, List<String>> read(String file, String yaml, Consumer<RuleError> errors) {
        Map<String, List<String>> values = new LinkedHashMap<>();
        YamlDocuments.read(file, yaml, document -> values.putAll(values(document)), errors);
        return values;
    }

    private static Map<String, List<String>> values(YamlMap document) {
        Map<String, List<String>> values = new LinkedHashMap<>();
        for (String name : document.keys()) {
            Node node = document.get(name).orElseThrow();
            List<String> texts = document.texts(name);
            if (name.isEmpty() || name.indexOf('%') >= 0) {
                throw document.refusal(
                        document.keyNode(name),
                        "a placeholder's name is expected without percent signs, found " + name);
            }
            if (texts.isEmpty()) {
                throw document.refusal(node, "the placeholder " + name + " has no values");
            }
            values.put(name, texts);
        }
        return values;
    }
}
