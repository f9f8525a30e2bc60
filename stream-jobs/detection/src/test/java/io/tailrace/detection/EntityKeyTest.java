package io.tailrace.detection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EntityKeyTest {

    private static String key(String... namesAndValues) {
        Map<String, String> entity = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            entity.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        return EntityKey.of(entity);
    }

    @Test
    void plainValuesStayAsTheyAre() {
        assertThat(key("user", "app", "src_ip", "10.0.0.9")).isEqualTo("user=app src_ip=10.0.0.9");
        assertThat(key("table", "shop.o'brien", "host", "fe80::1%eth0", "user", "日本"))
                .isEqualTo("table=shop.o'brien host=fe80::1%eth0 user=日本");
        assertThat(key()).isEmpty();
    }

    @Test
    void othersStandInQuotes() {
        assertThat(key("user", "a host=b")).isEqualTo("user=\"a host=b\"");
        assertThat(key("user", "a\"b\\c")).isEqualTo("user=\"a\\\"b\\\\c\"");
        assertThat(key("user", "")).isEqualTo("user=\"\"");
        assertThat(key("user", "a\nb")).isEqualTo("user=\"a\\u000ab\"");
        assertThat(key("tag.x y", "1")).isEqualTo("\"tag.x y\"=1");
    }

    @Test
    void entitiesThatDifferHaveKeysThatDiffer() {
        assertThat(key("user", "a", "host", "b")).isNotEqualTo(key("user", "a host=b"));
        assertThat(key("user", "\"a\"")).isNotEqualTo(key("user", "a"));
    }
}
