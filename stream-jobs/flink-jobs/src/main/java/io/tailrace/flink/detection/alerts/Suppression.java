package io.tailrace.flink.detection.alerts;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.event.Alert;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HashMap;
import java.util.Map;

/**
 * Alerts that nobody wants to be woken by for a while: they are kept, and marked.
 *
 * @param rule id of the rule; empty: any
 * @param entity fields of the alert's entity with the values that they must have; none: any
 */
record Suppression(String rule, Map<String, String> entity, Instant until) {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** One that covers nothing: of a record that cannot be read, which must not hide an alert. */
    private static final Suppression NOTHING = new Suppression("", Map.of(), Instant.MIN);

    /** @param json as schemas/rules.schema.json describes it */
    static Suppression of(String json) {
        try {
            JsonNode silence = JSON.readTree(json);
            Map<String, String> entity = new HashMap<>();
            silence.path("entity")
                    .properties()
                    .forEach(
                            field -> entity.put(field.getKey(), field.getValue().asText()));
            Instant until = OffsetDateTime.parse(silence.path("until").asText()).toInstant();
            return new Suppression(silence.path("rule").asText(), entity, until);
        } catch (JsonProcessingException | DateTimeException e) {
            return NOTHING;
        }
    }

    /** Entities of correlations are without case. */
    boolean covers(Alert alert, Instant now) {
        return now.isBefore(until)
                && (rule.isEmpty() || rule.equals(alert.getRuleId()))
                && entity.entrySet().stream().allMatch(field -> field.getValue()
                        .equalsIgnoreCase(alert.getEntity().get(field.getKey())));
    }
}
