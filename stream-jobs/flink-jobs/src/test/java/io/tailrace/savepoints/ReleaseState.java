package io.tailrace.savepoints;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.servers.Repository;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/** What a version of Tailrace left to the next one, as {@code make release-state} writes it. */
final class ReleaseState {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Conditions in SQL. */
    static final String EVERY_ROW = "1";

    private static final String NO_ROW = "0";

    /** A record of Kafka. Key and value may be null. */
    record Message(String topic, int partition, long offset, byte[] key, byte[] value) {}

    private final Path directory;
    private final JsonNode facts;

    private ReleaseState(Path directory, JsonNode facts) {
        this.directory = directory;
        this.facts = facts;
    }

    /** All releases, by name. */
    static List<ReleaseState> all() throws IOException {
        List<ReleaseState> releases = new ArrayList<>();
        Path savepoints = Repository.module("flink-jobs").resolve("src/test/resources/savepoints");
        try (Stream<Path> files = Files.list(savepoints)) {
            for (Path directory : files.filter(Files::isDirectory).sorted().toList()) {
                releases.add(read(directory));
            }
        }
        return releases;
    }

    private static ReleaseState read(Path directory) throws IOException {
        return new ReleaseState(
                directory, JSON.readTree(directory.resolve("release.json").toFile()));
    }

    Instant takenAt() {
        return Instant.ofEpochMilli(facts.get("savepoint_millis").asLong());
    }

    /** The next offsets that the jobs read, by topic; one for each partition. */
    Map<String, List<Long>> positions() {
        Map<String, List<Long>> positions = new TreeMap<>();
        facts.get("positions").fields().forEachRemaining(topic -> {
            List<Long> offsets = new ArrayList<>();
            topic.getValue().forEach(offset -> offsets.add(offset.asLong()));
            positions.put(topic.getKey(), offsets);
        });
        return positions;
    }

    /** The inputs that the version itself read after the savepoint, and all rules. */
    List<Message> messages() throws IOException {
        List<Message> messages = new ArrayList<>();
        Path file = directory.resolve("messages.jsonl.gz");
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(new GZIPInputStream(Files.newInputStream(file)), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                messages.add(message(JSON.readTree(line)));
            }
        }
        return messages;
    }

    private static Message message(JsonNode message) {
        return new Message(
                message.get("topic").asText(),
                message.get("partition").asInt(),
                message.get("offset").asLong(),
                bytes(message.get("key")),
                bytes(message.get("value")));
    }

    private static byte[] bytes(JsonNode base64) {
        return base64.isNull() ? null : Base64.getDecoder().decode(base64.asText());
    }

    /** Unpacks the savepoint of a job. */
    Path savepoint(String job, Path to) throws IOException {
        Path savepoint = Files.createDirectories(to.resolve("savepoint-" + job));
        for (Map.Entry<String, byte[]> file : unpacked(job + ".zip").entrySet()) {
            Files.write(savepoint.resolve(file.getKey()), file.getValue());
        }
        return savepoint;
    }

    /** Rows when the savepoint was taken, as JSON, by table. */
    Map<String, String> rowsBefore() throws IOException {
        return rows("rows-before.zip");
    }

    /** Rows that the version itself made of {@link #messages}: new ones, and those that changed. */
    Map<String, String> rowsAfter() throws IOException {
        return rows("rows-after.zip");
    }

    /** Columns that a later version changed on purpose, and the SQL condition of the rows in which it did. */
    Map<String, String> changedColumns(String table) throws IOException {
        Map<String, String> columns = new TreeMap<>();
        changes()
                .path(table)
                .fields()
                .forEachRemaining(column -> columns.put(column.getKey(), condition(column.getValue(), EVERY_ROW)));
        return columns;
    }

    /** The SQL condition of rows that only a later version writes, on purpose. */
    String addedRows(String table) throws IOException {
        return condition(changes().path("added_rows").path(table), NO_ROW);
    }

    /** {@code changed.json} has the reasons. */
    private JsonNode changes() throws IOException {
        Path file = directory.resolve("changed.json");
        return Files.exists(file) ? JSON.readTree(file.toFile()) : JSON.createObjectNode();
    }

    private static String condition(JsonNode change, String otherwise) {
        return change.path("where").asText(otherwise);
    }

    private Map<String, String> rows(String file) throws IOException {
        Map<String, String> rows = new TreeMap<>();
        unpacked(file)
                .forEach((name, content) ->
                        rows.put(name.substring(0, name.indexOf('.')), new String(content, StandardCharsets.UTF_8)));
        return rows;
    }

    private Map<String, byte[]> unpacked(String name) throws IOException {
        Map<String, byte[]> files = new TreeMap<>();
        try (InputStream file = Files.newInputStream(directory.resolve(name));
                ZipInputStream zip = new ZipInputStream(file)) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                files.put(entry.getName(), zip.readAllBytes());
            }
        }
        return files;
    }

    @Override
    public String toString() {
        return directory.getFileName().toString();
    }
}
