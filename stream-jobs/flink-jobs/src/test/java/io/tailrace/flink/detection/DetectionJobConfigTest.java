package io.tailrace.flink.detection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tailrace.flink.runtime.ConfigurationException;
import io.tailrace.flink.runtime.JobOption;
import io.tailrace.flink.runtime.JobOptionChecks;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
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

    @ParameterizedTest
    @MethodSource("io.tailrace.flink.runtime.JobOptionChecks#invalidShared")
    void reportsInvalidValuesOfSharedKeys(String key, String value, String error) {
        assertThatThrownBy(() -> with(key, value))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(error);
    }

    @Test
    void anIdleJobTakesNoMoreCheckpointsThanOthers() {
        assertThat(with("checkpoint.interval.ms", "30000").idleCheckpointInterval())
                .isEqualTo(Duration.ofSeconds(60));
        assertThat(with("checkpoint.interval.ms", "90000").idleCheckpointInterval())
                .isEqualTo(Duration.ofSeconds(90));
    }

    static Stream<JobOption> numbers() {
        return JobOptionChecks.numbers(DetectionJobOptions.values());
    }

    @ParameterizedTest
    @MethodSource("numbers")
    void rejectsTextInPlaceOfANumberAtStart(JobOption key) {
        assertThatThrownBy(() -> with(key.key(), "many"), "%s: call its accessor in checkAll()", key.key())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(key.key());
    }

    @Test
    void everyKeyIsDocumented() throws Exception {
        JobOptionChecks.assertDocumented("The detect job", DetectionJobOptions.values());
    }

    static Stream<Arguments> renamedKeys() {
        return JobOptionChecks.renamed(DetectionJobOptions.values());
    }

    @Test
    void theKeysOfEarlierReleasesAreKnown() {
        assertThat(renamedKeys().map(each -> each.get()[0]))
                .containsExactlyInAnyOrder(
                        "actions.remembered.ms",
                        "alerts.group.ms",
                        "alerts.update.ms",
                        "duplicates.days",
                        "quiet.ms",
                        "topics.captures",
                        "topics.files");
    }

    @ParameterizedTest
    @MethodSource("renamedKeys")
    void anOldKeyWorksWithAWarning(String oldKey, String newKey) throws Exception {
        JobOptionChecks.assertOldKeyWorks(DetectionJobOptions.values(), oldKey, newKey);
    }

    @ParameterizedTest
    @MethodSource("renamedKeys")
    void rejectsAnOldKeyBesideTheNewOne(String oldKey, String newKey) {
        JobOptionChecks.assertBothAreRefused(DetectionJobOptions.values(), oldKey, newKey);
    }

    private static DetectionJobConfig with(String key, String value) {
        return DetectionJobConfig.fromMap(JobOptionChecks.given(key, value));
    }
}
