package io.tailrace.cli.output;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tailrace.detection.sigma.rule.RuleHeader;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A layer of MITRE's ATT&amp;CK Navigator, layer format 4.5. */
public final class NavigatorLayer {

    /** The version of the enterprise matrix from which the rules take their tags. */
    private static final String ATTACK = "17";

    private static final String FORMAT = "4.5";
    private static final Pattern TECHNIQUE = Pattern.compile("attack\\.t\\d{4}(\\.\\d{3})?");
    private static final ObjectMapper JSON = new ObjectMapper();

    private NavigatorLayer() {}

    /**
     * Returns the layer of these rules as JSON: one entry for each technique, with the titles of its rules.
     *
     * @param byLevel the score is the highest level of the rules, from 1 to 5; otherwise their number
     */
    public static String of(List<RuleHeader> rules, boolean byLevel) {
        Map<String, List<RuleHeader>> byTechnique = byTechnique(rules);
        ObjectNode layer = JSON.createObjectNode();
        layer.put("name", "Tailrace rules");
        layer.putObject("versions").put("attack", ATTACK).put("layer", FORMAT);
        layer.put("domain", "enterprise-attack");
        layer.put("description", rules.size() + " rules, correlations and detectors that raise alerts");
        ArrayNode techniques = layer.putArray("techniques");
        byTechnique.forEach((id, its) -> techniques.add(technique(id, its, byLevel)));
        int most = byTechnique.values().stream()
                .mapToInt(its -> score(its, byLevel))
                .max()
                .orElse(1);
        ObjectNode gradient = layer.putObject("gradient");
        Stream.of("#ffffff", "#0072b2").forEach(gradient.putArray("colors")::add);
        gradient.put("minValue", 0).put("maxValue", most);
        return text(layer);
    }

    private static Map<String, List<RuleHeader>> byTechnique(List<RuleHeader> rules) {
        Map<String, List<RuleHeader>> result = new TreeMap<>();
        for (RuleHeader rule : rules) {
            rule.tags().stream()
                    .map(tag -> tag.toLowerCase(Locale.ROOT))
                    .filter(tag -> TECHNIQUE.matcher(tag).matches())
                    .map(tag -> tag.substring("attack.".length()).toUpperCase(Locale.ROOT))
                    .distinct()
                    .forEach(id ->
                            result.computeIfAbsent(id, any -> new ArrayList<>()).add(rule));
        }
        return result;
    }

    private static int score(List<RuleHeader> rules, boolean byLevel) {
        return byLevel
                ? 1
                        + rules.stream()
                                .mapToInt(rule -> rule.level().ordinal())
                                .max()
                                .orElseThrow()
                : rules.size();
    }

    private static ObjectNode technique(String id, List<RuleHeader> rules, boolean byLevel) {
        List<String> titles = rules.stream().map(RuleHeader::title).sorted().toList();
        return JSON.createObjectNode()
                .put("techniqueID", id)
                .put("score", score(rules, byLevel))
                .put("comment", String.join("\n", titles))
                .put("enabled", true)
                .put("showSubtechniques", true);
    }

    private static String text(ObjectNode layer) {
        try {
            return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(layer);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }
}
