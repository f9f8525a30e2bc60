package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.framing.LogFormat;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The golden inputs of each format: {@code golden/<format>/<case>/input.log}. */
public final class GoldenInputs {

    static final Path GOLDEN = Path.of("src/test/resources/golden");

    private GoldenInputs() {}

    /** Returns the directories of a format's cases in alphabetical order. Fails if the format has none. */
    public static List<Path> cases(LogFormat format) {
        Path directory = GOLDEN.resolve(format.name());
        assertThat(directory)
                .as("golden inputs of " + format.name() + ": add CASE/input.log, see CONTRIBUTING.md, Add a log format")
                .isDirectory();
        return directories(directory);
    }

    static List<Path> directories(Path parent) {
        try (Stream<Path> children = Files.list(parent)) {
            return children.filter(Files::isDirectory).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
