package io.tailrace.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;

/** Provides one server of a kind for all test classes of a JVM. The first class that uses it starts it. */
abstract class SharedServer<S extends AutoCloseable> implements BeforeAllCallback {

    /** Starts a server whose data is in an empty directory. */
    interface Start<S> {
        S in(Path directory) throws Exception;
    }

    private final Class<S> kind;
    private final Start<S> start;
    private S server;

    SharedServer(Class<S> kind, Start<S> start) {
        this.kind = kind;
        this.start = start;
    }

    public final S server() {
        return server;
    }

    @Override
    public final void beforeAll(ExtensionContext context) {
        server = kind.cast(context.getRoot()
                .getStore(Namespace.create(SharedServer.class))
                .getOrComputeIfAbsent(kind, key -> running(), Running.class)
                .server);
    }

    private Running running() {
        try {
            Path directory = Files.createTempDirectory(kind.getSimpleName());
            return new Running(start.in(directory), directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** JUnit closes it after the last class. */
    private record Running(AutoCloseable server, Path directory) implements CloseableResource {

        @Override
        public void close() throws Exception {
            server.close();
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }
}
