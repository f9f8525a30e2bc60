package io.tailrace.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tailrace.servers.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/** What the keys of both jobs have in common, for the tests of their configuration. */
public final class JobOptionChecks {

    private JobOptionChecks() {}

    /** Returns values for the keys that a job requires, and one more. */
    public static Map<String, String> given(String key, String value) {
        Map<String, String> values = new TreeMap<>(Map.of(
                "kafka.bootstrap", "127.0.0.1:9092",
                "clickhouse.url", "http://127.0.0.1:8123",
                "checkpoint.dir", "/checkpoints"));
        values.put(key, value);
        return values;
    }

    /** Returns invalid values of the keys that both jobs have with the same default, and the message of each. */
    public static Stream<Arguments> invalidShared() {
        return Stream.of(
                Arguments.of("kafka.bootstrap", "", "key kafka.bootstrap must not be empty"),
                Arguments.of(
                        "clickhouse.url",
                        "localhost:8123",
                        "clickhouse.url must be like http://127.0.0.1:8123, not localhost:8123"),
                Arguments.of("clickhouse.user", "", "key clickhouse.user must not be empty"),
                Arguments.of("clickhouse.database", "", "key clickhouse.database must not be empty"),
                Arguments.of("pseudonym.vault-key-file", "/vault.pem", "pseudonym.key-file"),
                Arguments.of("state.backend", "heap", "state.backend must be hashmap or rocksdb, not heap"));
    }

    /** Returns the keys of a job whose default is a whole number. */
    public static Stream<JobOption> numbers(JobOption... ofJob) {
        return SharedJobOptions.with(ofJob).stream()
                .filter(key -> key.defaultValue().orElse("").matches("[0-9]+"));
    }

    /** Returns the old and the new name of each key of a job that was renamed. */
    public static Stream<Arguments> renamed(JobOption... ofJob) {
        Set<String> names =
                SharedJobOptions.with(ofJob).stream().map(JobOption::key).collect(Collectors.toSet());
        return RenamedJobKeys.newKeys().entrySet().stream()
                .filter(each -> names.contains(each.getValue()))
                .map(each -> Arguments.of(each.getKey(), each.getValue()));
    }

    /** Asserts that an old key has the effect of the new one, gives a warning, and is documented. */
    public static void assertOldKeyWorks(JobOption[] ofJob, String oldKey, String newKey) throws IOException {
        List<String> warnings = new ArrayList<>();
        ConfigParser values = ConfigParser.fromMap(ofJob, given(oldKey, "77"), warnings::add);
        JobOption option = SharedJobOptions.with(ofJob).stream()
                .filter(each -> each.key().equals(newKey))
                .findFirst()
                .orElseThrow();
        assertThat(values.text(option)).isEqualTo("77");
        assertThat(warnings)
                .containsExactly(oldKey + " is now called " + newKey + "; release 0.3.0 removes the old name");
        assertThat(Files.readString(Repository.root().resolve("docs/CONFIGURATION.md")))
                .contains("| `" + oldKey + "` | `" + newKey + "` |");
    }

    /** Asserts that an old key beside the new one is refused. */
    public static void assertBothAreRefused(JobOption[] ofJob, String oldKey, String newKey) {
        Map<String, String> both = given(oldKey, "77");
        both.put(newKey, "77");
        assertThatThrownBy(() -> ConfigParser.fromMap(ofJob, both))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage(oldKey + " is the old name of " + newKey + ", and both are given: remove " + oldKey);
    }

    /**
     * Asserts that docs/CONFIGURATION.md has a row with the key and the default of each option of a job.
     *
     * @param section title of the section of the job
     */
    public static void assertDocumented(String section, JobOption... ofJob) throws IOException {
        String manual = Files.readString(Repository.root().resolve("docs/CONFIGURATION.md"));
        assertThat(manual).contains("\n## " + section + "\n");
        String[] parts = manual.split("\n## " + section + "\n", 2);
        List<String[]> rows = parts[1].split("\n## ", 2)[0]
                .lines()
                .filter(line -> line.startsWith("| `"))
                .map(line -> line.split(" \\| ", 2))
                .toList();
        for (JobOption option : SharedJobOptions.with(ofJob)) {
            assertThat(rows)
                    .as("rows of docs/CONFIGURATION.md, \"%s\": the key %s", section, option.key())
                    .filteredOn(row -> row[0].contains('`' + option.key() + '`'))
                    .singleElement()
                    .satisfies(row -> assertThat(row[1])
                            .as("default of %s in docs/CONFIGURATION.md, \"%s\"", option.key(), section)
                            .matches(cells -> states(cells, option), "begins with " + written(option)));
        }
    }

    /** @param cells default and meaning of a row, which may refer to the other job */
    private static boolean states(String cells, JobOption option) {
        return cells.contains("as above") || cells.split(" \\|", 2)[0].contains(written(option));
    }

    /** Returns the default as the manual writes it. */
    private static String written(JobOption option) {
        return option.defaultValue()
                .map(value -> value.isEmpty() ? "empty" : '`' + value + '`')
                .orElse("required");
    }
}
