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
 * Marks alerts that shall cause no notification for a while. The alerts are still stored.
 *
 * @param rule id of the rule; empty: any
 * @param entity required values of the alert's entity fields; empty: any entity
 */
record Suppression(String rule, Map<String, String> entity, Instant until) {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Covers nothing. It replaces a record that cannot be read, which must not hide an alert. */
    private static final Suppression NOTHING = new Suppression("", Map.of(), Instant.MIN);

    /** @param json format: schemas/rules.schema.json */
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

    /** Entities of correlations are case-folded. */
    boolean covers(Alert alert, Instant now) {
        return now.isBefore(until)
                && (rule.isEmpty() || rule.equals(alert.getRuleId()))
                && entity.entrySet().stream().allMatch(field -> field.getValue()
                        .equalsIgnoreCase(alert.getEntity().get(field.getKey())));
    }
}
