package io.tailrace.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.cli.Main;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.cli.terminal.TerminalCapabilities;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code digest --server}: the report of counters, which collectors/pull writes. */
class DigestOfCountersTest {

    private static final String HEAD =
            "{\"server\": \"Performance Schema of db-1:3306\", \"version\": \"8.0.15 MySQL\","
                    + " \"from\": 1795229340, \"to\": 1795229440, \"is_since_server_counts\": true}\n";
    private static final String ROW = "{\"schema\": \"shop\", \"digest\": \"%s\", \"text\": \"%s\", \"sample\": \"%s\","
            + " \"count\": %d, \"seconds\": %s, \"min\": 0.001, \"max\": 0.5, \"buckets\": %s, \"lock_seconds\": 0.25,"
            + " \"rows_sent\": 40, \"rows_examined\": 400, \"rows_affected\": 0, \"errors\": 1, \"no_index\": 3,"
            + " \"first\": 1795229340, \"last\": 1795229430}\n";
    private static final String MYSQL = HEAD
            + ROW.formatted("aa", "SELECT ?", "SELECT * FROM orders WHERE id = 7", 40, "2.5", "[[0.001, 38], [0.4, 2]]")
            + ROW.formatted("bb", "SELECT ?", "select * from orders where id = 8", 10, "0.5", "[[0.05, 10]]")
            + ROW.formatted("", "", "", 5, "0.1", "[[0.02, 5]]");
    private static final String MARIADB =
            HEAD + ROW.formatted("0123456789abcdef01", "SELECT * FROM `orders`", "", 40, "2.5", "null");

    @TempDir
    private Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int digest(String counters, String... options) throws IOException {
        Path file = Files.writeString(directory.resolve("counters.jsonl"), counters);
        Terminal terminal = new Terminal(
                new ByteArrayInputStream(new byte[0]),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                TerminalCapabilities.NONE);
        String[] words = new String[options.length + 5];
        System.arraycopy(new String[] {"digest", "--tz", "UTC", "--counters", file.toString()}, 0, words, 0, 5);
        System.arraycopy(options, 0, words, 5, options.length);
        return Main.run(terminal, Clock.systemUTC(), words);
    }

    private String text() {
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void samplesOfOneClassAreOneGroupWithTheQueryIdOfLogs() throws IOException {
        assertThat(digest(MYSQL, "--json")).isZero();
        JsonNode report = new ObjectMapper().readTree(out.toByteArray());
        assertThat(report.path("groups_total").asInt()).isEqualTo(2);
        assertThat(report.path("overall").path("count").asInt()).isEqualTo(55);
        JsonNode heaviest = report.path("groups").path(0);
        assertThat(heaviest.path("fingerprint").asText()).isEqualTo("select * from orders where id = ?");
        assertThat(heaviest.path("digest").asText()).isEqualTo("aa");
        JsonNode times = heaviest.path("query_time");
        assertThat(times.path("sum").asDouble()).isEqualTo(3);
        assertThat(times.path("p50").asDouble()).isBetween(0.00099, 0.00101);
        assertThat(times.path("p99").asDouble()).isBetween(0.396, 0.404);
        assertThat(heaviest.path("lock_time").path("max").isNull()).isTrue();
        assertThat(report.path("groups").path(1).path("query_id").isNull()).isTrue();
    }

    @Test
    void valuesThatTheServerDoesNotKnowAreUnknown() throws IOException {
        assertThat(digest(MARIADB)).isZero();
        assertThat(text())
                .contains("counters   Performance Schema of db-1:3306")
                .contains("quantiles  unknown (?)")
                .contains("digest 0123456789abcdef ")
                .contains("digest     0123456789abcdef01")
                .containsPattern("query time +2\\.5s +1ms +62\\.5ms +\\? +\\? +\\? +500ms")
                .containsPattern("lock time +250ms +\\? +6\\.25ms +\\? +\\? +\\? +\\?")
                .contains("errors     2.5% of statements\n")
                .contains("no index used 7.5%")
                .doesNotContain("users")
                .doesNotContain("threshold");
        out.reset();
        assertThat(digest(MARIADB, "--html", "-")).isZero();
        assertThat(text())
                .contains("<p class=\"sub\">Performance Schema of db-1:3306 · ")
                .contains("<dt>digest</dt><dd>0123456789abcdef01</dd>")
                .contains("<td>?</td>")
                .doesNotContain("NaN");
        assertThat(digest(MARIADB, "--order-by", "p95")).isEqualTo(2);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("has no such values");
    }

    @Test
    void whatNeedsALogIsRefused() throws IOException {
        assertThat(digest(MYSQL, "--since", "1h")).isEqualTo(2);
        assertThat(digest(MYSQL, "--filter", "user=app")).isEqualTo(2);
        assertThat(digest(MYSQL, "--group-by", "user")).isEqualTo(2);
        assertThat(digest(
                        MYSQL,
                        "--group-by",
                        "table",
                        "--html",
                        directory.resolve("report.html").toString()))
                .isZero();
        assertThat(text()).contains("shop.orders").contains("without a digest");
    }
}
