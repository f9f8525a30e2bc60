package io.tailrace.flink.normalize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tailrace.flink.runtime.ConfigurationException;
import io.tailrace.flink.runtime.JobOption;
import io.tailrace.flink.runtime.JobOptionChecks;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class NormalizeJobConfigTest {

    @TempDir
    Path directory;

    @Test
    void readsAFileAndLetsTheCommandLineWin() throws Exception {
        Path file = Files.writeString(
                directory.resolve("normalize.yaml"),
                """
                # the stack writes this
                kafka.bootstrap: 127.0.0.1:9092
                clickhouse.url: "http://127.0.0.1:8123/"

                checkpoint.dir: file:/var/checkpoints
                parallelism: 2
                topics.events:
                kafka.properties.security.protocol: SASL_SSL
                """);
        NormalizeJobConfig config = NormalizeJobConfig.fromArguments("--parallelism", "8", "--config", file.toString());
        assertThat(config.kafka().bootstrap()).isEqualTo("127.0.0.1:9092");
        assertThat(config.clickHouse().url()).hasToString("http://127.0.0.1:8123");
        assertThat(config.jobSettings().checkpointDirectory()).isEqualTo("file:/var/checkpoints");
        assertThat(config.parallelism()).isEqualTo(8);
        assertThat(config.eventsTopic()).isEmpty();
        assertThat(config.kafka().given()).containsEntry("security.protocol", "SASL_SSL");
        assertThat(config.restorePath()).isEmpty();
    }

    @Test
    void aPathBecomesAUri() {
        assertThat(with("checkpoint.dir", "/var/checkpoints").jobSettings().checkpointDirectory())
                .isEqualTo("file:///var/checkpoints");
        assertThat(with("checkpoint.dir", "s3://bucket/checkpoints")
                        .jobSettings()
                        .checkpointDirectory())
                .isEqualTo("s3://bucket/checkpoints");
    }

    @Test
    void anIdleJobTakesNoMoreCheckpointsThanOthers() {
        assertThat(with("checkpoint.interval.ms", "1000").idleCheckpointInterval())
                .isEqualTo(Duration.ofSeconds(5));
        assertThat(with("checkpoint.interval.ms", "10000").idleCheckpointInterval())
                .isEqualTo(Duration.ofSeconds(10));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            checkpoint.intervall | 1 | unknown key checkpoint.intervall; the nearest known one is checkpoint.interval.ms
            clickhouse.usr | a | unknown key clickhouse.usr; the nearest known one is clickhouse.user
            parallelism | 0 | parallelism must be a whole number from 1 to 1024, not 0
            parallelism | many | parallelism must be a whole number from 1 to 1024, not many
            topics.lines | ( | topics.lines is not a regular expression
            innodb.log.capacity | db-1=1G | innodb.log.capacity: db-1=1G is not INSTANCE=BYTES
            """)
    void reportsInvalidValues(String key, String value, String error) {
        assertThatThrownBy(() -> with(key, value))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(error);
    }

    @Test
    void namesAMissingKey() {
        assertThatThrownBy(() -> NormalizeJobConfig.fromMap(Map.of())).hasMessage("key kafka.bootstrap is missing");
    }

    @ParameterizedTest
    @MethodSource("io.tailrace.flink.runtime.JobOptionChecks#invalidShared")
    void reportsInvalidValuesOfSharedKeys(String key, String value, String error) {
        assertThatThrownBy(() -> with(key, value))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(error);
    }

    static Stream<JobOption> numbers() {
        return JobOptionChecks.numbers(NormalizeJobOptions.values());
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
        JobOptionChecks.assertDocumented("The normalize job", NormalizeJobOptions.values());
    }

    static Stream<Arguments> renamedKeys() {
        return JobOptionChecks.renamed(NormalizeJobOptions.values());
    }

    @Test
    void theKeysOfEarlierReleasesAreKnown() {
        assertThat(renamedKeys().map(each -> each.get()[0])).containsExactlyInAnyOrder("clickhouse.pending.mib");
    }

    @ParameterizedTest
    @MethodSource("renamedKeys")
    void anOldKeyWorksWithAWarning(String oldKey, String newKey) throws Exception {
        JobOptionChecks.assertOldKeyWorks(NormalizeJobOptions.values(), oldKey, newKey);
    }

    @ParameterizedTest
    @MethodSource("renamedKeys")
    void rejectsAnOldKeyBesideTheNewOne(String oldKey, String newKey) {
        JobOptionChecks.assertBothAreRefused(NormalizeJobOptions.values(), oldKey, newKey);
    }

    private static NormalizeJobConfig with(String key, String value) {
        return NormalizeJobConfig.fromMap(JobOptionChecks.given(key, value));
    }
}
