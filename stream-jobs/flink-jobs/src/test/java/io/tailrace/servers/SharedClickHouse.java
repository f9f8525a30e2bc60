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

/**
 * Provides one ClickHouse for all test classes of a JVM, because its start and all migrations take seconds. A class may
 * kill it if it launches it again, and must query only rows that it can distinguish from those of other classes.
 */
public final class SharedClickHouse implements BeforeAllCallback {

    private static final Namespace NAMESPACE = Namespace.create(SharedClickHouse.class);

    private ClickHouseServer server;

    public ClickHouseServer server() {
        return server;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        server = context.getRoot()
                .getStore(NAMESPACE)
                .getOrComputeIfAbsent(Running.class, key -> Running.start(), Running.class)
                .server;
    }

    /** JUnit closes it after the last class. */
    private record Running(ClickHouseServer server, Path directory) implements CloseableResource {

        static Running start() {
            try {
                Path directory = Files.createTempDirectory("clickhouse");
                return new Running(ClickHouseServer.start(directory), directory);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }

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
