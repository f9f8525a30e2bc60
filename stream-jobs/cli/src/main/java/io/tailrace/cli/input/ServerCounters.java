package io.tailrace.cli.input;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.cli.digest.aggregate.CountedStatements;
import io.tailrace.cli.digest.aggregate.CountedStatements.Bucket;
import io.tailrace.cli.digest.aggregate.CountedStatements.Extremes;
import io.tailrace.cli.digest.aggregate.Digest;
import io.tailrace.event.QueryEvent;
import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.NormalizedStatement;
import io.tailrace.fingerprint.StatementSample;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Reads the counters of a server's statement digests, which {@code tailrace_pull.server_counters} writes: one JSON object
 * that describes the server and the time, then one for each digest. Times are seconds.
 *
 * @param server address of the server
 * @param version product and version of the server
 * @param isSinceServerCounts whether these are all counts, and not those of an interval
 */
public record ServerCounters(String server, String version, boolean isSinceServerCounts) {

    private static final double MICROS = 1e6;

    /** Adds the counts of a file to a digest. */
    public static ServerCounters read(Path file, Digest digest) throws IOException {
        ObjectMapper json = new ObjectMapper();
        Fingerprinter fingerprinter = new Fingerprinter();
        try (BufferedReader lines = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            JsonNode head = json.readTree(lines.readLine());
            digest.countedFrom(head.path("from").asLong(), head.path("to").asLong());
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                add(json.readTree(line), fingerprinter, digest);
            }
            return new ServerCounters(
                    head.path("server").asText(),
                    head.path("version").asText(),
                    head.path("is_since_server_counts").asBoolean());
        }
    }

    private static void add(JsonNode row, Fingerprinter fingerprinter, Digest digest) {
        String sample = row.path("sample").asText();
        String text = row.path("text").asText();
        byte[] bytes = (sample.isEmpty() ? text : sample).getBytes(StandardCharsets.UTF_8);
        NormalizedStatement shape = fingerprinter.statement(bytes, 0, bytes.length);
        String name = sample.isEmpty() ? text : shape.fingerprint();
        boolean isWithoutDigest = row.path("digest").asText().isEmpty();
        digest.addCounted(
                event(row.path("schema").asText(), sample.isEmpty() ? 0 : shape.queryId(), shape),
                isWithoutDigest ? Digest.WITHOUT_DIGEST : name,
                sample.isEmpty() ? "" : StatementSample.of(bytes, 0, bytes.length),
                counted(row));
    }

    private static QueryEvent event(String database, long queryId, NormalizedStatement shape) {
        QueryEvent event = new QueryEvent();
        event.setDatabase(database);
        event.setQueryId(queryId);
        event.setVerb(shape.verb());
        event.setTablesRead(shape.tablesRead());
        event.setTablesWritten(shape.tablesWritten());
        event.setTags(Map.of());
        return event;
    }

    private static CountedStatements counted(JsonNode row) {
        JsonNode affected = row.path("rows_affected");
        return new CountedStatements(
                row.path("digest").asText(),
                row.path("count").asDouble(),
                row.path("seconds").asDouble(),
                row.path("min").isNumber()
                        ? new Extremes(
                                row.path("min").asDouble(), row.path("max").asDouble())
                        : null,
                buckets(row.path("buckets")),
                row.path("lock_seconds").asDouble(),
                row.path("rows_sent").asDouble(),
                row.path("rows_examined").asDouble(),
                affected.isNumber() ? affected.asDouble() : null,
                row.path("errors").asDouble(),
                row.path("no_index").asDouble(),
                time(row.path("first")),
                time(row.path("last")));
    }

    private static List<Bucket> buckets(JsonNode pairs) {
        if (!pairs.isArray()) {
            return null;
        }
        List<Bucket> buckets = new ArrayList<>(pairs.size());
        pairs.forEach(pair ->
                buckets.add(new Bucket(pair.get(0).asDouble(), pair.get(1).asDouble())));
        return buckets;
    }

    private static Instant time(JsonNode seconds) {
        long micros = Math.round(seconds.asDouble() * MICROS);
        return Instant.EPOCH.plusNanos(micros * 1_000);
    }
}
