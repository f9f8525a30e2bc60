package io.tailrace.flink.detection;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tailrace.flink.runtime.ConfigurationException;
import io.tailrace.flink.runtime.JobOptionChecks;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class DetectionJobConfigTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            latenes.ms | 1 | unknown key latenes.ms; the nearest known one is lateness.ms
            kafka.from | middle | kafka.from must be earliest or latest, not middle
            parallelism | 0 | parallelism must be a whole number from 1 to 128, not 0
            """)
    void reportsInvalidValues(String key, String value, String error) {
        assertThatThrownBy(() -> with(key, value))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage(error);
    }

    static Stream<DetectionJobOptions> numbers() {
        return JobOptionChecks.numbers(DetectionJobOptions.values());
    }

    @ParameterizedTest
    @MethodSource("numbers")
    void rejectsTextInPlaceOfANumberAtStart(DetectionJobOptions key) {
        assertThatThrownBy(() -> with(key.key(), "many"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(key.key());
    }

    @Test
    void everyKeyIsDocumented() throws Exception {
        JobOptionChecks.assertDocumented(DetectionJobOptions.values());
    }

    private static DetectionJobConfig with(String key, String value) {
        Map<String, String> values = new TreeMap<>(Map.of(
                "kafka.bootstrap", "127.0.0.1:9092",
                "clickhouse.url", "http://127.0.0.1:8123",
                "checkpoint.dir", "/checkpoints"));
        values.put(key, value);
        return DetectionJobConfig.fromMap(values);
    }
}
