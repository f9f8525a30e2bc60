package io.tailrace.flink.detection.rules;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.detection.bundle.RuleBundle;
import io.tailrace.detection.sigma.rule.FieldMapping;
import io.tailrace.detection.sigma.yaml.RuleError;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import java.util.LinkedHashMap;
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
    private static final FieldMapping FIELDS = new DatabaseFieldMapping();
    /** An operator that is late may still ask for the push before the newest. */
    private static final int KEPT = 2;
    /** Recent pushes by their JSON, the last one that was asked for at the end. */
    private static final Map<String, Kept> RECENT = new LinkedHashMap<>(KEPT, 0.75F, true);

    /**
     * Compiles a push. The operators of a job that run in the same JVM share rules and data classes: a push of hundreds
     * of rules takes half a second, and nine operators need it.
     *
     * @param json format: schemas/rules.schema.json; empty: no rules
     */
    public static CompiledBundle of(String json) {
        if (json.isEmpty()) {
            return new CompiledBundle("", "", NOTHING, "");
        }
        try {
            return kept(json).withOwnDetectors();
        } catch (JsonProcessingException e) {
            return new CompiledBundle("", "", NOTHING, "invalid JSON: " + e.getOriginalMessage());
        }
    }

    /** The lock makes operators that ask at the same time wait for the first one. */
    private static Kept kept(String json) throws JsonProcessingException {
        synchronized (RECENT) {
            Kept kept = RECENT.get(json);
            if (kept == null) {
                JsonNode push = JSON.readTree(json);
                Map<String, String> files = files(push);
                kept = new Kept(of(push, files), files);
                RECENT.put(json, kept);
                if (RECENT.size() > KEPT) {
                    RECENT.remove(RECENT.keySet().iterator().next());
                }
            }
            return kept;
        }
    }

    private static Map<String, String> files(JsonNode push) {
        Map<String, String> files = new TreeMap<>();
        push.path("files")
                .properties()
                .forEach(file -> files.put(file.getKey(), file.getValue().asText()));
        return files;
    }

    private static CompiledBundle of(JsonNode push, Map<String, String> files) {
        String id = push.path("push_id").asText();
        String by = push.path("pushed_by").asText();
        if (push.path("version").asInt() != VERSION) {
            return new CompiledBundle(
                    id, by, NOTHING, "expected version " + VERSION + ", found " + push.path("version"));
        }
        RuleBundle bundle = RuleBundle.of(files, FIELDS);
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

    /** A push that was compiled, and the files that it consists of. */
    private record Kept(CompiledBundle compiled, Map<String, String> files) {

        CompiledBundle withOwnDetectors() {
            RuleBundle own = compiled.bundle.withOwnDetectors(files, FIELDS);
            return new CompiledBundle(compiled.id, compiled.by, own, compiled.refusal);
        }
    }
}
