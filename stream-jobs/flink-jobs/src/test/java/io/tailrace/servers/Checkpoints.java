package io.tailrace.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/** A directory of Flink's checkpoints. */
public final class Checkpoints {

    private Checkpoints() {}

    /** Returns the completed checkpoint with the highest id. */
    public static Optional<Path> newest(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return Optional.empty();
        }
        try (Stream<Path> files = Files.find(directory, 3, (path, attributes) -> path.getFileName()
                .toString()
                .equals("_metadata"))) {
            return files.map(Path::getParent).max(Comparator.comparingLong(Checkpoints::id));
        }
    }

    /**
     * Returns the condition that a checkpoint has begun and completed after its first call. One checkpoint runs at a time,
     * so this holds for the second one that completes. Its barriers follow the records that operators had emitted before.
     */
    public static Callable<Boolean> another(Path directory) {
        Set<Path> seen = new HashSet<>();
        return () -> {
            newest(directory).ifPresent(seen::add);
            return seen.size() > 2;
        };
    }

    /** Returns the condition that the newest checkpoint is the same for this time. */
    public static Callable<Boolean> noneFor(Path directory, Duration pause) {
        AtomicReference<Optional<Path>> newest = new AtomicReference<>(Optional.empty());
        AtomicLong since = new AtomicLong(System.nanoTime());
        return () -> {
            Optional<Path> found = newest(directory);
            if (!found.equals(newest.getAndSet(found))) {
                since.set(System.nanoTime());
            }
            return System.nanoTime() - since.get() >= pause.toNanos();
        };
    }

    private static long id(Path checkpoint) {
        return Long.parseLong(checkpoint.getFileName().toString().replaceAll("\\D", ""));
    }
}
