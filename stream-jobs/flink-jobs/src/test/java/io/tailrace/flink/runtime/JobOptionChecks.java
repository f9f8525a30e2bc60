package io.tailrace.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.servers.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/** What the keys of both jobs have in common, for the tests of their configuration. */
public final class JobOptionChecks {

    private JobOptionChecks() {}

    /** Returns the keys whose default is a whole number. */
    @SafeVarargs
    public static <K extends JobOption> Stream<K> numbers(K... keys) {
        return Arrays.stream(keys).filter(key -> key.defaultValue().orElse("").matches("[0-9]+"));
    }

    /** Returns the old and the new name of each of these keys that was renamed. */
    @SafeVarargs
    public static <K extends JobOption> Stream<Arguments> renamed(K... keys) {
        Set<String> names = Arrays.stream(keys).map(JobOption::key).collect(Collectors.toSet());
        return RenamedJobKeys.newKeys().entrySet().stream()
                .filter(each -> names.contains(each.getValue()))
                .map(each -> Arguments.of(each.getKey(), each.getValue()));
    }

    /** Asserts that an old key has the effect of the new one, gives a warning, and is documented. */
    public static <K extends Enum<K> & JobOption> void assertOldKeyWorks(
            Class<K> keys, Map<String, String> given, String oldKey, String newKey) throws IOException {
        List<String> warnings = new ArrayList<>();
        ConfigParser<K> values = ConfigParser.fromMap(keys, given, warnings::add);
        K option = Arrays.stream(keys.getEnumConstants())
                .filter(each -> each.key().equals(newKey))
                .findFirst()
                .orElseThrow();
        assertThat(values.text(option)).isEqualTo(given.get(oldKey));
        assertThat(warnings)
                .containsExactly(oldKey + " is now called " + newKey + "; release 0.3.0 removes the old name");
        assertThat(Files.readString(Repository.root().resolve("docs/CONFIGURATION.md")))
                .contains("| `" + oldKey + "` | `" + newKey + "` |");
    }

    /**
     * Asserts that docs/CONFIGURATION.md has a row with the key and the default of each option.
     *
     * @param section title of the section of the job
     */
    public static void assertDocumented(String section, JobOption... options) throws IOException {
        String manual = Files.readString(Repository.root().resolve("docs/CONFIGURATION.md"));
        assertThat(manual).contains("\n## " + section + "\n");
        String[] parts = manual.split("\n## " + section + "\n", 2);
        List<String[]> rows = parts[1].split("\n## ", 2)[0]
                .lines()
                .filter(line -> line.startsWith("| `"))
                .map(line -> line.split(" \\| ", 2))
                .toList();
        for (JobOption option : options) {
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
