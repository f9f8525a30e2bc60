package io.tailrace.flink.detection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tailrace.flink.runtime.ConfigException;
import io.tailrace.servers.Repository;
import java.nio.file.Files;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class DetectConfigTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            latenes.ms | 1 | unknown key latenes.ms; the nearest known one is lateness.ms
            kafka.from | middle | kafka.from must be earliest or latest, not middle
            parallelism | 0 | parallelism must be a whole number from 1 to 128, not 0
            """)
    void saysWhatIsWrong(String key, String value, String complaint) {
        assertThatThrownBy(() -> with(key, value))
                .isInstanceOf(ConfigException.class)
                .hasMessage(complaint);
    }

    static Stream<DetectKey> numbers() {
        return Stream.of(DetectKey.values())
                .filter(key -> key.usual().orElse("").matches("[0-9]+"));
    }

    @ParameterizedTest
    @MethodSource("numbers")
    void rejectsTextInPlaceOfANumberAtStart(DetectKey key) {
        assertThatThrownBy(() -> with(key.key(), "many"))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining(key.key());
    }

    @Test
    void everyKeyIsDocumented() throws Exception {
        String documentation = Files.readString(Repository.root().resolve("docs/CONFIGURATION.md"));
        for (DetectKey key : DetectKey.values()) {
            assertThat(documentation).contains("`" + key.key() + "`");
        }
    }

    private static DetectConfig with(String key, String value) {
        Map<String, String> values = new TreeMap<>(Map.of(
                "kafka.bootstrap", "127.0.0.1:9092",
                "clickhouse.url", "http://127.0.0.1:8123",
                "checkpoint.dir", "/checkpoints"));
        values.put(key, value);
        return DetectConfig.fromMap(values);
    }
}
