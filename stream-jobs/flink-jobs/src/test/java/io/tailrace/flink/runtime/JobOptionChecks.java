package io.tailrace.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.servers.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.stream.Stream;

/** What the keys of both jobs have in common, for the tests of their configuration. */
public final class JobOptionChecks {

    private JobOptionChecks() {}

    /** Returns the keys whose default is a whole number. */
    @SafeVarargs
    public static <K extends JobOption> Stream<K> numbers(K... keys) {
        return Arrays.stream(keys).filter(key -> key.defaultValue().orElse("").matches("[0-9]+"));
    }

    public static void assertDocumented(JobOption... keys) throws IOException {
        String documentation = Files.readString(Repository.root().resolve("docs/CONFIGURATION.md"));
        for (JobOption key : keys) {
            assertThat(documentation).contains("`" + key.key() + "`");
        }
    }
}
