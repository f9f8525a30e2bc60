package io.tailrace.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * Runs a real ClickHouse with the stack's own configuration, users and migrations, on a free port and in a directory of
 * its own. All passwords are {@value #PASSWORD}. Tests are skipped if the stack has not installed ClickHouse.
 */
public final class ClickHouseServer implements AutoCloseable {

    public static final String PASSWORD = "test";
    private static final String LIBRARY = "node_modules/@chdb/lib-linux-x64-gnu/libchdb.so";
    private static final Duration START_TIME = Duration.ofSeconds(300);
    /** Many times what a migration takes on a busy machine: only a failing test reaches it. */
    private static final Duration QUERY_TIME = Duration.ofSeconds(300);
    /** Rows of savepoints that are years old stay. */
    private static final String RETENTION_DAYS = "10000";

    private static final String MEMORY_BYTES = Long.toString(2L << 30);

    private final Path directory;
    private final Path library;
    private final int port = Repository.freePort();
    private final int nativePort = Repository.freePort();
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private Process process;

    private ClickHouseServer(Path directory, Path library) {
        this.directory = directory;
        this.library = library;
    }

    /** Starts a server with all tables. */
    public static ClickHouseServer start(Path directory) throws Exception {
        Optional<Path> library = Repository.installed("clickhouse", LIBRARY);
        Assumptions.assumeTrue(
                library.isPresent(), "skipped: ClickHouse is not in the cache; `tailrace up` installs it");
        ClickHouseServer server = new ClickHouseServer(directory, library.get());
        server.configure();
        server.launch();
        server.migrate();
        return server;
    }

    public URI url() {
        return URI.create("http://127.0.0.1:" + port);
    }

    /** Returns the port for other ClickHouse servers. */
    public int nativePort() {
        return nativePort;
    }

    /** Returns a file with the password. */
    public Path passwordFile() throws IOException {
        return Files.writeString(directory.resolve("password"), PASSWORD + "\n");
    }

    /** Runs a statement as admin. Returns the response without the last line end. */
    public String query(String statement) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(url())
                .header("X-ClickHouse-User", "admin")
                .header("X-ClickHouse-Key", PASSWORD)
                .timeout(QUERY_TIME)
                .POST(BodyPublishers.ofString(statement))
                .build();
        HttpResponse<String> response = client.send(request, BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException(response.body());
        }
        return response.body().strip();
    }

    public long count(String statement) throws IOException, InterruptedException {
        return Long.parseLong(query(statement));
    }

    /** Kills the process without a shutdown. */
    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** Starts the process with the existing data. */
    public void launch() throws Exception {
        Path script = Repository.root().resolve("embedded/tailrace_local/components/clickhouse_server.py");
        process = new ProcessBuilder(List.of(
                        "python3",
                        "-I",
                        "-S",
                        script.toString(),
                        library.toString(),
                        directory.resolve("config.xml").toString(),
                        directory.resolve("store").toString(),
                        "127.0.0.1",
                        Integer.toString(port),
                        Integer.toString(nativePort)))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        directory.resolve("log").toFile()))
                .start();
        Await.until("ClickHouse at " + url(), START_TIME, () -> "1".equals(query("SELECT 1")));
    }

    private void configure() throws IOException {
        Path templates = Repository.root().resolve("sql/users");
        Path users = directory.resolve("users.xml");
        Files.createDirectories(directory);
        String text = Files.readString(templates.resolve("users.xml.template"))
                .replaceAll("\\$\\{\\w+_PASSWORD_SHA256}", sha256(PASSWORD))
                .replace("${CLIENT_NETWORKS}", "<ip>127.0.0.1</ip>")
                .replaceAll("\\$\\{\\w+_BYTES}", MEMORY_BYTES);
        Files.writeString(users, text);
        String config = Files.readString(templates.resolve("config.xml.template"))
                .replace("${USERS_XML}", users.toString())
                .replace("${LISTENERS}", "<listen_host>127.0.0.1</listen_host>")
                .replaceAll("\\$\\{\\w+_BYTES}", MEMORY_BYTES);
        Files.writeString(directory.resolve("config.xml"), config);
    }

    private void migrate() throws Exception {
        try (Stream<Path> files = Files.list(Repository.root().resolve("sql/migrations"))) {
            for (Path file : files.filter(path -> path.toString().endsWith(".sql"))
                    .sorted()
                    .toList()) {
                query(filled(Files.readString(file)));
            }
        }
    }

    private static String filled(String migration) {
        return migration
                .replace("{on_cluster}", "")
                .replaceAll("\\{engine:([^}]*)}", "$1")
                .replaceAll("\\{retention:[^}]*}", RETENTION_DAYS)
                .replace("{deduplication_window}", "non_replicated_deduplication_window = 10000");
    }

    private static String sha256(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new UncheckedIOException(new IOException(e));
        }
    }

    @Override
    public void close() throws Exception {
        process.destroy();
        process.waitFor();
    }
}
