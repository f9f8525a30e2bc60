package io.tailrace.plan;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** Plans of real servers and of other projects' tests, in a directory next to the repository. */
final class Corpora {

    private Corpora() {}

    /**
     * Returns all JSON documents below a directory of the corpora, by name. Skips the test if the directory is
     * missing.
     */
    static List<Path> documents(String directory) throws IOException {
        Path root = root().resolve(directory);
        Assumptions.assumeTrue(Files.isDirectory(root), "no corpora at " + root);
        try (Stream<Path> paths = Files.walk(root)) {
            return paths.filter(path -> path.toString().endsWith(".json"))
                    .filter(Files::isRegularFile)
                    .filter(path -> !path.getFileName().toString().matches("access_types.json|distinct_keys.json"))
                    .sorted()
                    .toList();
        }
    }

    /** Returns a file of the corpora, which may be missing. */
    static Path file(String name) {
        return root().resolve(name);
    }

    private static Path root() {
        String named = System.getenv("TAILRACE_CORPORA");
        return named != null ? Path.of(named) : Path.of("../../../shared/corpora");
    }
}
