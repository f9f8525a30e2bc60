package io.tailrace.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.cli.Main;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.cli.terminal.TerminalCapabilities;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutputOptionTest {

    private static final String LOG =
            """
            # Time: 2026-11-21T02:53:35.567777Z
            # User@Host: app[app] @  [10.0.0.7]  Id:     6
            # Query_time: 0.000175  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 3
            SET timestamp=1795229615;
            SELECT "a", b FROM t WHERE id = 7;
            """;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String input, String... arguments) {
        Terminal terminal = new Terminal(
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                TerminalCapabilities.NONE);
        return Main.run(terminal, Clock.systemUTC(), arguments);
    }

    private String[] lines() {
        return out.toString(StandardCharsets.UTF_8).split("\r\n", -1);
    }

    @Test
    void aDigestInCsvHasARowForEachGroup() {
        assertThat(run(LOG, "digest", "--output", "csv")).isZero();
        assertThat(lines()).hasSize(3);
        assertThat(lines()[0])
                .startsWith("rank,query_id,fingerprint,verb,example,share,count,first,last,errors,query_time");
        assertThat(lines()[1])
                .startsWith("1,")
                .contains(",\"select ?, b from t where id = ?\",SELECT,")
                .contains("\"{\"\"sum\"\":0.000175");
    }

    @Test
    void eventsInCsvHaveTheKeysOfJson() {
        assertThat(run(LOG + LOG.replace("02:53:35", "02:53:36"), "parse", "--output", "csv"))
                .isZero();
        assertThat(lines()).hasSize(4);
        assertThat(lines()[0]).contains("event_id").contains("query_time").contains("user");
        assertThat(lines()[1].split(",", -1)).contains("app", "0.000175");
    }

    @Test
    void statementsWithTheirIdsHaveEachForm() {
        assertThat(run("select 1\n", "fingerprint", "--output", "csv")).isZero();
        assertThat(lines()[0]).isEqualTo("query_id,fingerprint");
        assertThat(lines()[1]).endsWith(",select ?");
        out.reset();
        assertThat(run("select 1\n", "fingerprint", "--json")).isZero();
        assertThat(lines()[0]).startsWith("{\"query_id\":\"").endsWith("\",\"fingerprint\":\"select ?\"}\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"digest", "parse", "fingerprint", "plan"})
    void anotherFormIsRefusedWithTheThreeForms(String command) {
        assertThat(run("", command, "--output", "xml")).isEqualTo(2);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("--output expects table, json or csv, found xml");
    }
}
