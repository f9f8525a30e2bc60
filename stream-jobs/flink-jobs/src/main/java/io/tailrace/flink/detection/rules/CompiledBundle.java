package io.tailrace.flink.detection.rules;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.detection.bundle.RuleBundle;
import io.tailrace.detection.sigma.rule.FieldMapping;
import io.tailrace.detection.sigma.yaml.RuleError;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A compiled push of rules.
 *
 * @param id empty if the record cannot be parsed
 * @param refusal reasons of a rejection, one per line; empty if the push is accepted
 */
public record CompiledBundle(String id, String by, RuleBundle bundle, String refusal) {

    private static final int VERSION = 1;
    private static final int MAX_REASONS = 50;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final RuleBundle NOTHING = RuleBundle.of(Map.of(), FieldMapping.ANY);

    /** @param json format: schemas/rules.schema.json; empty: no rules */
    public static CompiledBundle of(String json) {
        if (json.isEmpty()) {
            return new CompiledBundle("", "", NOTHING, "");
        }
        try {
            return of(JSON.readTree(json));
        } catch (JsonProcessingException e) {
            return new CompiledBundle("", "", NOTHING, "invalid JSON: " + e.getOriginalMessage());
        }
    }

    private static CompiledBundle of(JsonNode push) {
        String id = push.path("push_id").asText();
        String by = push.path("pushed_by").asText();
        if (push.path("version").asInt() != VERSION) {
            return new CompiledBundle(
                    id, by, NOTHING, "expected version " + VERSION + ", found " + push.path("version"));
        }
        Map<String, String> files = new TreeMap<>();
        push.path("files")
                .properties()
                .forEach(file -> files.put(file.getKey(), file.getValue().asText()));
        RuleBundle bundle = RuleBundle.of(files, new DatabaseFieldMapping());
        return new CompiledBundle(id, by, bundle, bundle.isRefused() ? reasons(bundle.errors()) : "");
    }

    private static String reasons(List<RuleError> errors) {
        String first =
                errors.stream().limit(MAX_REASONS).map(RuleError::toString).collect(Collectors.joining("\n"));
        int more = errors.size() - MAX_REASONS;
        return more > 0 ? first + "\nand " + more + " more" : first;
    }

    boolean isRefused() {
        return !refusal.isEmpty();
    }
}
