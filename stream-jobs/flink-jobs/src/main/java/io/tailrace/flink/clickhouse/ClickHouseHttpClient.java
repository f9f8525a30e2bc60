package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import io.tailrace.flink.clickhouse.InsertResult.Refused;
import io.tailrace.flink.clickhouse.InsertResult.Stored;
import io.tailrace.flink.clickhouse.InsertResult.Unavailable;
import io.tailrace.tls.ClickHouseAuthorities;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;

/**
 * Inserts blocks through ClickHouse's HTTP interface, each at most once. Every insert contains its token and the
 * settings on which deduplication depends, so that no server default can change between two attempts.
 *
 * <p>It uses the JDK's HTTP client instead of ClickHouse's. An insert is one POST of bytes that are already encoded and
 * compressed. The official client would add retries and buffers between the token and the connection, and 20 MB of
 * dependencies to the job.
 *
 * <p>Before the first insert into a table, its columns are compared with the columns of the block: RowBinary contains
 * no types, so a column of another width would be read as wrong values instead of being refused.
 */
final class ClickHouseHttpClient implements InsertTarget {

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration INSERT_TIMEOUT = Duration.ofSeconds(120);
    private static final int UNAUTHORISED = 401;
    private static final int FORBIDDEN = 403;

    /** Larger than any block, so that an insert is one block, which ClickHouse can deduplicate. */
    private static final String BLOCK_ROWS = "1048576";

    private static final String BLOCK_BYTES = "1073741824";

    private static final Map<String, String> INSERT_SETTINGS = Map.ofEntries(
            Map.entry("async_insert", "0"),
            Map.entry("insert_deduplicate", "1"),
            Map.entry("deduplicate_blocks_in_dependent_materialized_views", "1"),
            Map.entry("max_insert_block_size", BLOCK_ROWS),
            Map.entry("min_insert_block_size_rows", BLOCK_ROWS),
            Map.entry("min_insert_block_size_bytes", BLOCK_BYTES),
            Map.entry("max_insert_threads", "1"),
            Map.entry("input_format_parallel_parsing", "0"));

    private static final Pattern TYPE_WRAPPER =
            Pattern.compile("LowCardinality\\(([^()]*)\\)|SimpleAggregateFunction\\(\\w+, (.*)\\)");

    private final ClickHouseConnection address;
    private final HttpClient client;
    private final Set<String> checkedLayouts = ConcurrentHashMap.newKeySet();

    /** @throws UncheckedIOException if the file of the authorities cannot be used */
    ClickHouseHttpClient(ClickHouseConnection address) {
        this.address = address;
        HttpClient.Builder builder =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECT_TIMEOUT);
        try {
            authorities(address).ifPresent(builder::sslContext);
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
        client = builder.build();
    }

    /** Returns what verifies the certificate: the option of the job comes before the variable of the process. */
    private static Optional<SSLContext> authorities(ClickHouseConnection address) throws IOException {
        String file = address.authorityFile();
        return file.isEmpty()
                ? ClickHouseAuthorities.context(System.getenv())
                : Optional.of(ClickHouseAuthorities.trusting(Path.of(file), "clickhouse.ca-file"));
    }

    @Override
    public InsertResult insert(PendingBlock block) throws InterruptedException {
        RowLayout layout = RowLayout.parse(block.layout());
        try {
            String mismatch = checkedLayouts.contains(block.layout()) ? "" : mismatch(layout);
            if (!mismatch.isEmpty()) {
                return new Unavailable(mismatch);
            }
            checkedLayouts.add(block.layout());
            return outcome(post(insertAddress(block, layout), block.frame()), layout);
        } catch (IOException e) {
            checkedLayouts.clear();
            return new Unavailable("no answer from ClickHouse at " + address.url() + ": " + e);
        }
    }

    private URI insertAddress(PendingBlock block, RowLayout layout) {
        Map<String, String> parameters = new LinkedHashMap<>(INSERT_SETTINGS);
        parameters.put("query", layout.insertStatement());
        parameters.put("insert_deduplication_token", block.token());
        return withParameters(parameters);
    }

    private URI withParameters(Map<String, String> parameters) {
        String query = parameters.entrySet().stream()
                .map(entry -> entry.getKey() + '=' + URLEncoder.encode(entry.getValue(), StandardCharsets.UTF_8))
                .collect(Collectors.joining("&"));
        return URI.create(address.url() + "/?" + query);
    }

    private HttpResponse<String> post(URI target, byte[] frame) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(target)
                .timeout(INSERT_TIMEOUT)
                .header("X-ClickHouse-User", address.user())
                .header("X-ClickHouse-Key", address.password())
                .header("Content-Encoding", "lz4")
                .POST(BodyPublishers.ofByteArray(frame))
                .build();
        return client.send(request, BodyHandlers.ofString());
    }

    private InsertResult outcome(HttpResponse<String> response, RowLayout layout) {
        int code = exceptionCode(response);
        if (response.statusCode() == 200 && code == 0) {
            return new Stored();
        }
        if (InsertErrors.isInData(code, response.body())) {
            return new Refused(layout.table() + ": code " + code + ' ' + InsertErrors.name(response.body()));
        }
        checkedLayouts.remove(layout.text());
        return new Unavailable(errorText(response));
    }

    private String errorText(HttpResponse<String> response) {
        return InsertErrors.ofReplicas(exceptionCode(response))
                .map(text -> "ClickHouse at " + address.url() + ": " + text)
                .orElseGet(() -> otherErrorText(response));
    }

    private String otherErrorText(HttpResponse<String> response) {
        if (response.statusCode() == UNAUTHORISED || response.statusCode() == FORBIDDEN) {
            return "ClickHouse does not accept user " + address.user() + " at " + address.url()
                    + ": check clickhouse.user, clickhouse.password-file and the user's grants: "
                    + response.body().strip();
        }
        return "ClickHouse at " + address.url() + " answered " + response.statusCode() + ": "
                + response.body().strip();
    }

    private static int exceptionCode(HttpResponse<?> response) {
        return response.headers()
                .firstValue("X-ClickHouse-Exception-Code")
                .map(Integer::parseInt)
                .orElse(0);
    }

    /**
     * Returns the differences between the table and the layout; empty if there are none, or if the user may not read
     * the columns.
     */
    private String mismatch(RowLayout layout) throws IOException, InterruptedException {
        String[] name = layout.table().split("\\.", 2);
        HttpResponse<String> response = columnsOf(name[0], name[1]);
        if (response.statusCode() != 200) {
            return errorText(response);
        }
        Map<String, String> found = response.body()
                .lines()
                .map(line -> line.split("\t", 2))
                .collect(Collectors.toMap(cells -> cells[0], cells -> storedType(cells[1])));
        if (found.isEmpty()) {
            return "table " + layout.table() + " does not exist, or user " + address.user()
                    + " may not insert into it: are all migrations applied?";
        }
        return layout.columns().stream()
                .filter(column -> !column.type().equals(found.get(column.name())))
                .map(column -> layout.table() + "." + column.name() + " must be " + column.type() + " and is "
                        + found.getOrDefault(column.name(), "missing") + ": are all migrations applied?")
                .findFirst()
                .orElse("");
    }

    private HttpResponse<String> columnsOf(String database, String table) throws IOException, InterruptedException {
        String query = "SELECT name, type FROM system.columns"
                + " WHERE database = {database:String} AND table = {table:String} FORMAT TSVRaw";
        URI target = withParameters(Map.of("query", query, "param_database", database, "param_table", table));
        HttpRequest request = HttpRequest.newBuilder(target)
                .timeout(INSERT_TIMEOUT)
                .header("X-ClickHouse-User", address.user())
                .header("X-ClickHouse-Key", address.password())
                .build();
        return client.send(request, BodyHandlers.ofString());
    }

    /** Returns a column's type without the wrappers that do not change its encoding. */
    private static String storedType(String type) {
        String plain = type;
        for (Matcher m = TYPE_WRAPPER.matcher(plain); m.find(); m = TYPE_WRAPPER.matcher(plain)) {
            String inner = m.group(1) == null ? m.group(2) : m.group(1);
            plain = plain.substring(0, m.start()) + inner + plain.substring(m.end());
        }
        return plain;
    }
}
