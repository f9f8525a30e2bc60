package io.tailrace.detection;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.testing.Contract;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class EntityKeyTest {

    private static String key(String... namesAndValues) {
        Map<String, String> entity = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            entity.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        return EntityKey.of(entity);
    }

    @ParameterizedTest
    @MethodSource("entities")
    void quotesWhatIsNotPlain(Map<String, Object> entity) {
        @SuppressWarnings("unchecked")
        Map<String, String> fields = (Map<String, String>) entity.get("entity");
        assertThat(EntityKey.of(fields)).isEqualTo(entity.get("key"));
    }

    static List<Map<String, Object>> entities() throws IOException {
        return Contract.cases("entity_key");
    }

    @Test
    void entitiesThatDifferHaveKeysThatDiffer() {
        assertThat(key("user", "a", "host", "b")).isNotEqualTo(key("user", "a host=b"));
        assertThat(key("user", "\"a\"")).isNotEqualTo(key("user", "a"));
    }
}
