package io.tailrace.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Locates the rest of the repository, and the software that the stack has installed in its cache. */
public final class Repository {

    /**
     * Ports above those that Linux gives to clients and to listeners without a port of their own: such a port stays free
     * until a server, which may take a minute to start, listens on it.
     */
    private static final int FIRST_PORT = 61_000;

    private static final int LAST_PORT = 65_535;

    private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

    private Repository() {}

    /** Returns the repository's root: the directory that contains {@code schemas} and {@code sql}. */
    public static Path root() {
        Path directory = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(directory.resolve("sql/migrations"))) {
            directory = directory.getParent();
            if (directory == null) {
                throw new IllegalStateException(
                        "sql/migrations is not above " + Path.of("").toAbsolutePath());
            }
        }
        return directory;
    }

    /** Returns the directory of a Maven module: the one that is being built, or its neighbour. */
    public static Path module(String name) {
        return Path.of("").toAbsolutePath().resolveSibling(name);
    }

    /** Returns a path below a component's entry in the cache; of several entries that of the newest. */
    public static Optional<Path> installed(String part, String below) {
        Path entries = cache().resolve(part);
        if (!Files.isDirectory(entries)) {
            return Optional.empty();
        }
        try (Stream<Path> found = Files.list(entries)) {
            return found.map(entry -> entry.resolve(below))
                    .filter(Files::exists)
                    .max(Repository::byAge);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int byAge(Path a, Path b) {
        return Long.compare(a.toFile().lastModified(), b.toFile().lastModified());
    }

    private static Path cache() {
        String own = System.getenv("TAILRACE_CACHE");
        if (own != null) {
            return Path.of(own);
        }
        String shared = System.getenv("XDG_CACHE_HOME");
        Path base = shared == null ? Path.of(System.getProperty("user.home"), ".cache") : Path.of(shared);
        return base.resolve("tailrace");
    }

    /** Returns a TCP port on which no process listened a moment ago. No port is returned twice. */
    public static int freePort() {
        int ports = LAST_PORT - FIRST_PORT + 1;
        int start = ThreadLocalRandom.current().nextInt(ports);
        return IntStream.range(0, ports)
                .map(i -> FIRST_PORT + (start + i) % ports)
                .filter(port -> isFree(port) && GIVEN.add(port))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no port from " + FIRST_PORT + " on is free"));
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port)) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
