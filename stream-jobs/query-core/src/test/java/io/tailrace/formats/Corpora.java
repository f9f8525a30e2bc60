package io.tailrace.formats;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * Logs of real servers, in a directory next to the repository or in TAILRACE_CORPORA. Tests are skipped if there are
 * none.
 */
final class Corpora {

    private Corpora() {}

    static Path directory(String name) {
        String configured = System.getenv("TAILRACE_CORPORA");
        Path root = configured == null ? Path.of("../../../shared/corpora") : Path.of(configured);
        Path directory = root.resolve(name);
        Assumptions.assumeTrue(Files.isDirectory(directory), "no corpora at " + directory + ": skipped");
        return directory;
    }

    static byte[] read(String name) {
        Path file =
                directory(name.substring(0, name.lastIndexOf('/'))).resolve(name.substring(name.lastIndexOf('/') + 1));
        return read(file);
    }

    static byte[] read(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the files below a directory whose names have one of these suffixes. */
    static List<Path> files(String name, String... suffixes) {
        try (Stream<Path> files = Files.walk(directory(name))) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> Stream.of(suffixes)
                            .anyMatch(suffix -> file.toString().endsWith(suffix)))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
