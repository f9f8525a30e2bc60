package io.tailrace.flink.signing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.signing.HostKey;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.HashMap;
import java.util.Map;

/** The registered keys of hosts (schemas/host-keys.schema.json). */
final class HostKeys {

    /**
     * A registered key.
     *
     * @param replaces id of the key that it replaces; empty for none
     * @param revokedAt null if it is valid
     */
    record Registered(String host, HostKey key, String replaces, Instant revokedAt) {}

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Map<String, Registered> byId = new HashMap<>();

    /**
     * Reads the value of the topic. An entry that cannot be read is no key.
     *
     * @throws IllegalArgumentException if the value is not a JSON object
     */
    static HostKeys of(String json) {
        HostKeys keys = new HostKeys();
        try {
            JSON.readTree(json).properties().forEach(entry -> keys.add(entry.getKey(), entry.getValue()));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("the registered keys are not JSON", e);
        }
        return keys;
    }

    private void add(String id, JsonNode fields) {
        try {
            HostKey key = HostKey.of(fields.path("public_key").asText());
            String revokedAt = fields.path("revoked_at").asText("");
            Instant revoked =
                    isText(revokedAt) ? OffsetDateTime.parse(revokedAt).toInstant() : null;
            String replaces = fields.path("replaces").asText("");
            if (key.id().equals(id)) {
                byId.put(
                        id,
                        new Registered(fields.path("host").asText(), key, isText(replaces) ? replaces : "", revoked));
            }
        } catch (IllegalArgumentException | DateTimeParseException e) {
            byId.remove(id);
        }
    }

    /** Jackson reads null as the text null. */
    private static boolean isText(String value) {
        return !value.isEmpty() && !value.equals("null");
    }

    /** Returns null if the key is not registered. */
    Registered get(String id) {
        return byId.get(id);
    }
}
