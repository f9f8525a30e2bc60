package io.tailrace.flink.detection.alerts;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.servers.Repository;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AlertLinkBuilderTest {

    @Test
    void linksAreThoseOfTheContract() throws Exception {
        JsonNode cases = new ObjectMapper()
                .readTree(Repository.root()
                        .resolve("schemas/links/alert_links.json")
                        .toFile());
        assertThat(cases).isNotEmpty();
        for (JsonNode expected : cases) {
            Map<String, String> entity = new LinkedHashMap<>();
            expected.get("entity")
                    .properties()
                    .forEach(
                            field -> entity.put(field.getKey(), field.getValue().asText()));
            assertThat(AlertLinkBuilder.of(
                            entity,
                            expected.get("rule_title").asText(),
                            expected.get("window_from").asLong(),
                            expected.get("event_time").asLong()))
                    .isEqualTo(expected.get("link_path").asText());
        }
    }
}
