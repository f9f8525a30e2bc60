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
 * Provides one Kafka for all test classes of a JVM, because two JVMs format and start it. A class must read only topics
 * that no other class writes.
 */
public final class SharedKafka implements BeforeAllCallback {

    private static final Namespace NAMESPACE = Namespace.create(SharedKafka.class);

    private KafkaServer server;

    public KafkaServer server() {
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
    private record Running(KafkaServer server, Path directory) implements CloseableResource {

        static Running start() {
            try {
                Path directory = Files.createTempDirectory("kafka");
                return new Running(KafkaServer.start(directory), directory);
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
