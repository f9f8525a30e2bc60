package io.tailrace.cli.backtest;

import io.tailrace.cli.terminal.Plural;
import io.tailrace.tls.ClickHouseAuthorities;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads ClickHouse over HTTP as one of its users. The server completes a result before it responds, so an error is
 * reported as an error, and the number of rows is known before the first one.
 */
public final class EventStore {

    private static final int OK = 200;
    private static final Duration TIMEOUT = Duration.ofMinutes(10);
    private static final Pattern ROWS = Pattern.compile("\"result_rows\":\"(\\d+)\"");
    private static final String SETTINGS =
            "wait_end_of_query=1&buffer_size=1048576&max_threads=2" + "&max_query_size=16777216&session_timezone=UTC";

    /**
     * The result of a query.
     *
     * @param rows number of rows, as the server counted them
     */
    public record Result(InputStream body, long rows) {}

    private final URI address;
    private final String user;
    private final String password;
    private final HttpClient client;

    /**
     * @param url such as {@code http://127.0.0.1:8123}
     * @throws IOException if the authorities that the environment names cannot be read
     */
    public EventStore(String url, String user, String password) throws IOException {
        HttpClient.Builder builder = HttpClient.newBuilder();
        ClickHouseAuthorities.context(System.getenv()).ifPresent(builder::sslContext);
        this.client = builder.build();
        this.address = URI.create(url.replaceFirst("/*$", "") + "/?" + SETTINGS);
        this.user = user;
        this.password = password;
    }

    /** Starts a query; its future fails with UncheckedIOException. The caller closes the body. */
    CompletableFuture<Result> start(String query) {
        HttpRequest request = HttpRequest.newBuilder(address)
                .timeout(TIMEOUT)
                .header("X-ClickHouse-User", user)
                .header("X-ClickHouse-Key", password)
                .POST(HttpRequest.BodyPublishers.ofString(query))
                .build();
        return client.sendAsync(request, HttpResponse.BodyHandlers.ofInputStream())
                .thenApply(EventStore::result);
    }

    private static Result result(HttpResponse<InputStream> response) {
        try {
            if (response.statusCode() != OK) {
                String text = new String(response.body().readAllBytes(), StandardCharsets.UTF_8);
                throw new IOException(
                        "ClickHouse refused a query: " + text.strip().split("\n")[0]);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String summary = response.headers().firstValue("X-ClickHouse-Summary").orElse("");
        Matcher rows = ROWS.matcher(summary);
        return new Result(response.body(), rows.find() ? Long.parseLong(rows.group(1)) : 0);
    }

    /** Waits for a query. */
    static Result await(CompletableFuture<Result> started) throws IOException {
        try {
            return started.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        } catch (ExecutionException e) {
            throw reason(e.getCause());
        }
    }

    private static IOException reason(Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        if (cause instanceof UncheckedIOException reported) {
            return reported.getCause();
        }
        return cause instanceof IOException io ? io : new IOException(cause);
    }

    /** Returns the rows of a small result in TabSeparated, each as its values. */
    List<String[]> rows(String query) throws IOException {
        Result result = await(start(query + " FORMAT TabSeparated"));
        List<String[]> rows = new ArrayList<>();
        try (InputStream body = result.body()) {
            new String(body.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .forEach(line -> rows.add(line.split("\t", -1)));
        }
        requireRows(result.rows(), rows.size());
        return rows;
    }

    /** A full disk of the server truncates a result that has a good status. */
    static void requireRows(long counted, long read) throws IOException {
        if (counted != read) {
            throw new IOException(
                    "ClickHouse sent " + read + " of " + Plural.of(counted, "row") + "; is its disk full?");
        }
    }

    /** Returns a text as a literal of SQL. */
    static String quoted(String text) {
        return '\'' + text.replace("\\", "\\\\").replace("'", "\\'") + '\'';
    }
}
