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
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DetectCommandTest {

    private static final String AUDIT =
            """
            20261121 02:44:30,db1,app,10.0.0.9,9,0,FAILED_CONNECT,,,1045
            20261121 02:44:31,db1,app,10.0.0.9,10,0,FAILED_CONNECT,,,1045
            20261121 02:44:32,db1,app,10.0.0.9,11,0,CONNECT,,,0
            20261121 02:44:33,db1,app,10.0.0.9,11,5,QUERY,shop,'SELECT * FROM mysql.user',0
            """;
    private static final String RULES =
            """
            title: Failed login
            name: failed_login
            logsource: {category: database}
            detection:
              selection: {command: FAILED_CONNECT}
              condition: selection
            ---
            title: Login
            name: login
            logsource: {category: database}
            detection:
              selection: {event.action: CONNECT, outcome: success}
              condition: selection
            ---
            title: Login after failures
            level: high
            correlation:
              type: temporal_ordered
              rules: [failed_login, login]
              group-by: [user, src_ip]
              timespan: 5m
            ---
            title: User table read
            level: low
            logsource: {product: mysql, service: audit}
            detection:
              selection: {table: mysql.user}
              condition: selection
            """;

    private static final Instant NOW = Instant.parse("2026-11-22T00:00:00Z");

    @TempDir
    private Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String... arguments) {
        Terminal terminal = new Terminal(
                new ByteArrayInputStream(new byte[0]),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                TerminalCapabilities.NONE);
        return Main.run(terminal, Clock.fixed(NOW, ZoneOffset.UTC), arguments);
    }

    private String file(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text).toString();
    }

    private static final String EXCEPTION =
            """
            title: The monitor reads accounts
            exception:
              rule: User table read
              selection: {user: app, src_ip|cidr: 10.0.0.0/24}
              reason: monitoring, ticket 12
              owner: dba@example.com
              expires: 2026-11-22
            """;

    @Test
    void anExceptionSuppressesUntilItExpires() throws IOException {
        String rules = file("rules.yml", RULES + "---\n" + EXCEPTION);
        assertThat(run("detect", "--rules", rules, "--tz", "UTC", file("audit.log", AUDIT)))
                .isZero();
        assertThat(out.toString(StandardCharsets.UTF_8)).doesNotContain("User table read");
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("matches that the exception \"The monitor reads accounts\" suppressed: 1");

        assertThat(run("rules", "check", rules)).isEqualTo(1);
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("rules.yml:30:1: the exception \"The monitor reads accounts\" of dba@example.com expired on "
                        + "2026-11-22");
        assertThat(run("rules", "check", "--allow-expired", rules)).isZero();
        out.reset();
        String later = file("later.log", AUDIT.replace("20261121", "20261122"));
        assertThat(run("detect", "--rules", rules, "--tz", "UTC", later)).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("User table read");
        assertThat(run("rules", "check", file("valid.yml", RULES + "---\n" + EXCEPTION.replace("2026-", "2126-"))))
                .isZero();
    }

    private static final String SLOW =
            """
            # Time: 2026-11-21T02:44:33.200000Z
            # User@Host: app[app] @  [10.0.0.9]  Id:    11
            # Query_time: 0.000099  Lock_time: 0.000000 Rows_sent: 3  Rows_examined: 3
            SET timestamp=1795229073;
            SELECT * FROM mysql.user;
            """;

    @Test
    void whatTwoLogsRecordedAlertsOnce() throws IOException {
        String rules = file("rules.yml", RULES.replace("service: audit", "category: database"));
        String audit = file("audit.log", AUDIT);
        String slow = file("slow.log", SLOW);
        assertThat(run("detect", "--tz", "UTC", "--rules", rules, slow, audit)).isZero();
        String written = out.toString(StandardCharsets.UTF_8);
        assertThat(written.lines().filter(line -> line.contains("User table read")))
                .hasSize(1);
        assertThat(written.lines()).hasSize(2);
    }

    @Test
    void writesWhatFires() throws IOException {
        String rules = file("rules.yml", RULES);
        int exit = run("detect", "--rules", rules, "--tz", "UTC", file("audit.log", AUDIT));

        assertThat(exit).as(err.toString(StandardCharsets.UTF_8)).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8))
                .isEqualTo(
                        """
                        2026-11-21T02:44:32Z\thigh\tLogin after failures\tuser=app src_ip=10.0.0.9\t2
                        2026-11-21T02:44:33Z\tlow\tUser table read\tuser=app host=10.0.0.9 database=shop\
                         statement=select * from mysql.user\t1
                        """);
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("3 rules, 1 correlation, 2 of both raise alerts, 0 refused, 0 detectors; 4 events, 2 alerts");
    }

    @Test
    void jsonHoldsTheEventAndTheEvidence() throws IOException {
        run("detect", "--json", "--rules", file("rules.yml", RULES), "--tz", "UTC", file("audit.log", AUDIT));

        JsonNode alert = new ObjectMapper()
                .readTree(
                        out.toString(StandardCharsets.UTF_8).lines().findFirst().orElseThrow());
        assertThat(alert.at("/rule/title").asText()).isEqualTo("Login after failures");
        assertThat(alert.at("/alert_id").asText()).hasSize(32);
        assertThat(alert.at("/entity/src_ip").asText()).isEqualTo("10.0.0.9");
        assertThat(alert.at("/window_start").asText()).isEqualTo("2026-11-21T02:44:30Z");
        assertThat(alert.at("/event_ids")).hasSize(3);
        assertThat(alert.at("/event/command").asText()).isEqualTo("CONNECT");
    }

    private static final String CARD_READS =
            """
            title: Row
            logsource: {category: database}
            detection:
              selection: {event_class: table}
              condition: selection
            ---
            title: Statement
            logsource: {category: database}
            detection:
              selection: {event_class: query}
              condition: selection
            ---
            title: Card read
            name: card_read
            logsource: {category: database}
            detection:
              selection: {event_class: query, table: shop.cards}
              condition: selection
            ---
            title: Cards read
            correlation:
              type: event_count
              rules: card_read
              group-by: user
              timespan: 5m
              condition: {gte: 3}
            """;

    /** server_audit writes the rows that a statement reads before the statement. */
    @Test
    void aCorrelationNamesTheStatementsThatMatchInsteadOfTheirRows() throws IOException {
        StringBuilder audit = new StringBuilder();
        for (int query = 1; query <= 3; query++) {
            String record = "20261121 02:44:3%d,db1,app,10.0.0.9,9,%d,".formatted(query, query);
            audit.append(record).append("READ,shop,cards,\n");
            audit.append(record).append("QUERY,shop,'SELECT * FROM cards',0\n");
        }
        run("detect", "--json", "--rules", file("rules.yml", CARD_READS), file("audit.log", audit.toString()));

        assertThat(namedBy("Row")).hasSize(3);
        assertThat(namedBy("Cards read")).hasSize(3).isEqualTo(namedBy("Statement"));
    }

    private List<String> namedBy(String rule) throws IOException {
        List<String> ids = new ArrayList<>();
        for (String line : out.toString(StandardCharsets.UTF_8).lines().toList()) {
            JsonNode alert = new ObjectMapper().readTree(line);
            if (alert.at("/rule/title").asText().equals(rule)) {
                alert.at("/event_ids").forEach(id -> ids.add(id.asText()));
            }
        }
        return ids;
    }

    @Test
    void refusedRulesAreNamedAndTheOthersRun() throws IOException {
        String rules = file("rules.yml", RULES.replace("table: mysql.user", "tabel: mysql.user"));

        assertThat(run("detect", "--rules", rules, "--tz", "UTC", file("audit.log", AUDIT)))
                .isEqualTo(1);
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("rules.yml:27:15: these logs have no field tabel; the nearest is table");
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("Login after failures");
    }

    @Test
    void eventsMayBeOfAnyLog() throws IOException {
        String rules = file(
                "rules.yml",
                "title: t\nlogsource: {product: windows}\ndetection: {s: {Process.Image|endswith: '\\x.exe', Ids: 7},"
                        + " condition: s}\n");
        String events = file(
                "events.json",
                "{\"@timestamp\":\"2026-11-21T02:44:32Z\",\"Process\":{\"Image\":\"C:\\\\X.exe\"},\"Ids\":[5,7]}\n\n{}\n");

        assertThat(run("detect", "--rules", rules, "--events", events)).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8)).startsWith("2026-11-21T02:44:32Z\tmedium\tt\t");
    }

    @Test
    void linesThatAreNoEventsAreNamedAndTheOthersEvaluated() throws IOException {
        String rules = file("rules.yml", "title: t\nlogsource: {product: x}\ndetection: {s: {a: 1}, condition: s}\n");
        String events = file("events.json", "{\"a\":1}\n{\"a\":\n[7]\n{\"timestamp\":\"noon\"}\n{\"a\":1}\n");

        assertThat(run("detect", "--rules", rules, "--events", events)).isEqualTo(1);
        assertThat(out.toString(StandardCharsets.UTF_8)).hasLineCount(2);
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("events.json: line 2: expected a JSON object")
                .contains("events.json: line 3: expected a JSON object, found array")
                .contains("events.json: line 4: expected a time of ISO 8601")
                .contains("events.json: 3 lines are not events; the others were evaluated")
                .contains("2 events, 2 alerts");
    }

    @Test
    void ofVeryManyBadLinesTheFirstAreNamed() throws IOException {
        String rules = file("rules.yml", RULES);

        assertThat(run("detect", "--rules", rules, "--events", file("events.json", "nonsense\n".repeat(50))))
                .isEqualTo(1);
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("line 20: ")
                .doesNotContain("line 21: ")
                .contains("50 lines are not events");
    }

    @Test
    void placeholdersAreNextToTheRules() throws IOException {
        file("placeholders.yaml", "tables: [mysql.user, mysql.db]\n");
        file("rules.yml", RULES.replace("{table: mysql.user}", "{'table|expand': '%tables%'}"));

        assertThat(run("detect", "--rules", directory.toString(), "--tz", "UTC", file("audit.log", AUDIT)))
                .isZero();
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("User table read");
    }

    @Test
    void coverageListsRulesThatCannotFire() throws IOException {
        String rules = file("rules.yml", RULES.replace("selection: {table: mysql.user}", "selection: {rows_sent: 7}"));

        assertThat(run("rules", "coverage", "--rules", rules, "--tz", "UTC", file("audit.log", AUDIT)))
                .isZero();
        assertThat(out.toString(StandardCharsets.UTF_8))
                .endsWith("\tUser table read\tcannot fire: it needs rows_sent, which no event of this log has\n");
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains(
                        "(mariadb-audit, 4 events): 1 of 2 rules that raise alerts can fire on logs like this one; the others are listed");
    }

    @Test
    void coverageHasTheFormsOfOtherCommands() throws IOException {
        String rules = file("rules.yml", RULES.replace("selection: {table: mysql.user}", "selection: {rows_sent: 7}"));
        String log = file("audit, \"1\".log", AUDIT);

        assertThat(run("rules", "coverage", "--rules", rules, "--tz", "UTC", "--output", "csv", log))
                .isZero();
        assertThat(out.toString(StandardCharsets.UTF_8))
                .startsWith("file,rule,reason\r\n\"" + directory
                        + "/audit, \"\"1\"\".log\",User table read,\"cannot fire: ")
                .endsWith("\"\r\n");
        out.reset();
        assertThat(run("rules", "coverage", "--rules", rules, "--tz", "UTC", "--output", "json", log))
                .isZero();
        assertThat(out.toString(StandardCharsets.UTF_8))
                .startsWith("{\"file\":\"")
                .contains("\"rule\":\"User table read\",\"reason\":\"cannot fire: ")
                .endsWith("\"}\n");
        assertThat(run("rules", "coverage", "--rules", rules, "--output", "xml", log))
                .isEqualTo(2);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("--output expects table, json or csv, found xml");
    }

    @Test
    void checkReportsTheCompiledRules() throws IOException {
        assertThat(run("rules", "check", file("rules.yml", RULES))).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8))
                .isEqualTo("3 rules, 1 correlation, 2 of both raise alerts, 0 refused\n");
        assertThat(run("rules", "check", directory.resolve("nowhere").toString()))
                .isEqualTo(1);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("no such file");
    }

    @Test
    void checkWarnsOfAStarOfSqlThatMatchesAnyCharacters() throws IOException {
        String rules = RULES.replace("{table: mysql.user}", "{statement|contains: ' sql_no_cache * from '}");
        assertThat(run("rules", "check", file("rules.yml", rules))).isZero();
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("warning: ", "rules.yml:", "* matches any characters here");
    }
}
