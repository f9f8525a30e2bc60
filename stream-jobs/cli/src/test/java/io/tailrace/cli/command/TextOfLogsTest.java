package io.tailrace.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.cli.Main;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.cli.terminal.TerminalCapabilities;
import io.tailrace.json.AvroJsonWriter;
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
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A client chooses names and statements. In the output for people, they neither add a line or a column nor control the
 * terminal; in JSON, they are unchanged.
 */
class TextOfLogsTest {

    private static final String EVIL =
            "a\"\n2026-11-21T02:49:04Z\troot\tshop\tQuit\t-\t\r\b\u001b[2J\u009b2J\u202e\u2028";
    private static final String SHOWN =
            "a\"\\n2026-11-21T02:49:04Z\\troot\\tshop\\tQuit\\t-\\t\\r" + "\\u0008\\u001b[2J\\u009b2J\\u202e\\u2028";

    /** A statement with text, the beginning of a connection, and a record that is an event without a statement. */
    private static final String AUDIT =
            record("Query", ",\"sqltext\":" + quoted("SELECT `" + EVIL + "` FROM `" + EVIL + "`"))
                    + record("Connect", ",\"priv_user\":\"\"")
                    + record(EVIL, "");

    private static final String SLOW = "# Time: 2026-11-21T02:49:03.000000Z\n"
            + "# User@Host: \u001b]0;x\u0007[\u001b]0;x\u0007] @ web\u001b[2J []  Id: 7\n"
            + "# Query_time: 0.5  Lock_time: 0.1 Rows_sent: 1  Rows_examined: 10\n"
            + "use `s\u001b[2J`;\nSET timestamp=1795229343;\nSELECT '\u001b[2J' FROM `t\u009b2J\u202e`;\n";

    private static final String ERROR =
            "2026-11-21T02:51:07.023167Z 4 [Note] [MY-010926] [Server] Access denied for user"
                    + " 'a\u001b[2J'@'web\u009b2J' (using password: YES)\n";

    private static final String RULE =
            """
            title: Any event
            logsource: {category: database}
            detection:
              selection: {event.action|exists: true}
              condition: selection
            """;

    @TempDir
    private Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private static String record(String name, String more) {
        return "{\"audit_record\":{\"name\":" + quoted(name) + ",\"timestamp\":\"2026-11-21T02:49:03 UTC\",\"user\":"
                + quoted(EVIL) + ",\"host\":" + quoted(EVIL) + ",\"db\":" + quoted(EVIL) + ",\"status\":0" + more
                + "}}\n";
    }

    private static String quoted(String text) {
        StringBuilder json = new StringBuilder();
        AvroJsonWriter.quote(text, json);
        return json.toString();
    }

    private String run(String... arguments) {
        out.reset();
        err.reset();
        Terminal terminal = new Terminal(
                new ByteArrayInputStream(new byte[0]),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                TerminalCapabilities.NONE);
        Clock clock = Clock.fixed(Instant.parse("2026-11-22T00:00:00Z"), ZoneOffset.UTC);
        assertThat(Main.run(terminal, clock, arguments))
                .as("%s: %s", List.of(arguments), err)
                .isZero();
        assertThat(err.toString(StandardCharsets.UTF_8)).doesNotContainPattern(UNSAFE);
        return out.toString(StandardCharsets.UTF_8);
    }

    private static final String UNSAFE = "[\\p{Cc}\\p{Cf}\\u2028\\u2029&&[^\\n\\t]]";

    private String file(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text).toString();
    }

    @Test
    void aNameAddsNoLineAndNoColumnToTheOutputOfParse() throws IOException {
        String text = run("parse", file("audit.log", AUDIT));
        assertThat(text.split("\n"))
                .hasSize(3)
                .allSatisfy(line -> assertThat(line.split("\t", -1)).hasSize(6).contains(SHOWN, SHOWN));
        assertThat(run("parse", file("slow.log", SLOW)).split("\t")).contains("\\u001b]0;x\\u0007", "s\\u001b[2J");
        assertThat(run("parse", file("error.log", ERROR))).contains("\ta\\u001b[2J\t", "'web\\u009b2J'");
    }

    @Test
    void jsonContainsTheNamesUnchanged() throws IOException {
        List<String> lines =
                run("parse", "--json", file("audit.log", AUDIT)).lines().toList();
        assertThat(lines).hasSize(3);
        for (String line : lines) {
            JsonNode event = new ObjectMapper().readTree(line);
            assertThat(event.get("user").asText()).isEqualTo(EVIL);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"query", "user", "db", "table", "host"})
    void noValueControlsTheTerminalInADigest(String grouping) throws IOException {
        for (String log : List.of(file("audit.log", AUDIT), file("slow.log", SLOW))) {
            String text = run("digest", "--group-by", grouping, "--show-literals", log);
            assertThat(text).contains("\\u").doesNotContainPattern(UNSAFE);
        }
    }

    @Test
    void anAlertIsOneLineWithFiveColumns() throws IOException {
        String rules = file("rules.yml", RULE);
        String text =
                run("detect", "--rules", rules, "--detectors", "", "--data-classes", "", file("audit.log", AUDIT));
        assertThat(text).contains("user=" + SHOWN);
        assertThat(text.split("\n")).hasSize(3).allSatisfy(line -> assertThat(line.split("\t", -1))
                .hasSize(5));
        assertThat(text).doesNotContainPattern(UNSAFE);
    }

    @Test
    void aFingerprintIsOneLine() throws IOException {
        Path statements = Files.writeString(directory.resolve("statements.sql"), "SELECT `\u001b[2J\n\u202e`\0");
        assertThat(run("fingerprint", "-0", statements.toString())).endsWith("\tselect `\\u001b[?j\\n\\u202e`\n");
    }

    @Test
    void aRowOfATableIsOneLine() {
        assertThat(OutputOption.line(List.of("a\n\t\u001b", "b"))).isEqualTo("a\\u000a\\u0009\\u001b\tb\n");
    }
}
