package io.tailrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MainTest {

    private static final String LOG =
            """
            # Time: 2026-11-21T02:49:03.000000Z
            # User@Host: app[app] @ web1 []  Id: 7
            # Query_time: 0.5  Lock_time: 0.1 Rows_sent: 1  Rows_examined: 10
            SET timestamp=1795229343;
            SELECT * FROM orders WHERE id = 4111111111111111;
            # Time: 2026-11-21T02:49:05.000000Z
            # User@Host: app[app] @ web1 []  Id: 7
            # Query_time: 1.5  Lock_time: 0.0 Rows_sent: 1  Rows_examined: 30
            SET timestamp=1795229345;
            SELECT * FROM orders WHERE id = 2;
            # Time: 2026-11-21T02:49:07.000000Z
            # User@Host: root[root] @ localhost []  Id: 9
            # Query_time: 1.0  Lock_time: 0.0 Rows_sent: 0  Rows_examined: 0
            SET timestamp=1795229347;
            DELETE FROM carts;
            stray
            """;

    @TempDir
    private Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String input, String... arguments) {
        return run(TerminalCapabilities.NONE, input, arguments);
    }

    private int run(TerminalCapabilities screen, String input, String... arguments) {
        Terminal terminal = new Terminal(
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                screen);
        return Main.run(terminal, Clock.fixed(Instant.parse("2026-11-21T03:00:00Z"), ZoneOffset.UTC), arguments);
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    private String file(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text).toString();
    }

    @Test
    void parseWritesOneEventPerLineAndAccountsForEveryByte() throws IOException {
        Path letters = directory.resolve("letters.json");
        String log = file("slow.log", LOG);
        assertThat(run("", "parse", "--json", "--instance", "db1", "--dead-letters", letters.toString(), log))
                .isZero();
        assertThat(out().lines()).hasSize(3).allMatch(line -> line.startsWith("{\"event_id\":\""));
        assertThat(out()).contains("\"instance\":\"db1\"").doesNotContain("4111111111111111");
        assertThat(err()).contains(LOG.length() + " bytes = 3 events").contains("1 dead letter STRAY_TEXT (6 bytes)");
        assertThat(Files.readString(letters)).contains("\"raw\":\"stray\\n\"").contains("\"stage\":\"FRAMER\"");
    }

    @Test
    void parseNamesOneEventInTheSingular() throws IOException {
        String line = "2026-11-21T02:49:03.100000Z\t    8 Quit\t\n";
        assertThat(run("", "parse", file("general.log", line))).isZero();
        assertThat(err()).contains(line.length() + " bytes = 1 event (" + line.length() + " bytes)");
    }

    @Test
    void parseReadsGzipAndStandardInputAlike() throws IOException {
        Path packed = directory.resolve("slow.log.1.gz");
        try (GZIPOutputStream gzip = new GZIPOutputStream(Files.newOutputStream(packed))) {
            gzip.write(LOG.getBytes(StandardCharsets.UTF_8));
        }
        assertThat(run("", "parse", packed.toString())).isZero();
        String fromFile = out();
        out.reset();
        assertThat(run(LOG, "parse", "-")).isZero();
        assertThat(out()).isEqualTo(fromFile).contains("2026-11-21T02:49:07Z\troot\t\t1.000000\t");
    }

    @Test
    void eventsOfARotatedFileBelongToItsLog() throws IOException {
        run("", "parse", "--json", file("slow.log.1", LOG));
        assertThat(out()).contains("/slow.log\"").doesNotContain("slow.log.1");
    }

    @Test
    void digestRanksClassesByTheirTime() throws IOException {
        assertThat(run("", "digest", "--limit", "1", file("slow.log", LOG))).isZero();
        assertThat(out()).startsWith("3 statements, 2 classes, 3s of query time\n");
        assertThat(out())
                .contains("66.7%")
                .contains("select * from orders where id = ?")
                .contains("1 more class");
        assertThat(out()).doesNotContain("4111111111111111");
    }

    @Test
    void digestOfATimeRangeAsJson() throws IOException {
        String log = file("slow.log", LOG);
        assertThat(run(
                        "",
                        "digest",
                        "--json",
                        "--tz",
                        "Europe/Berlin",
                        "--since",
                        "2026-11-21T03:49:05",
                        "--until",
                        "2026-11-21T02:49:07Z",
                        log))
                .isZero();
        assertThat(out()).startsWith("{\"entries\":1,").contains("\"query_time\":{\"sum\":1.500000000");
        out.reset();
        run("", "digest", "--json", "--order-by", "rows-examined", "--since", "2026-11-21", "--tz", "UTC", log);
        assertThat(out()).contains("\"rank\":1,\"query_id\":\"").contains("\"rows_examined\":{\"sum\":40,");
    }

    @Test
    void digestOfNothing() throws IOException {
        assertThat(run("", "digest", file("empty.log", ""))).isZero();
        assertThat(out()).isEqualTo("No statements\n");
    }

    @Test
    void fingerprintReadsLinesOrNulSeparatedStatements() {
        assertThat(run("SELECT 1\nUSE a", "fingerprint")).isZero();
        assertThat(out()).isEqualTo("16219655761820A2\tselect ?\n78D83C8E40CE5CD5\tuse a\n");
        out.reset();
        assertThat(run("SELECT\n1\0USE a\0", "fingerprint", "-0")).isZero();
        assertThat(out()).isEqualTo("16219655761820A2\tselect ?\n78D83C8E40CE5CD5\tuse a\n");
    }

    @Test
    void anUnreadableFileIsReportedInOneLine() throws IOException {
        assertThat(run("", "parse", directory.resolve("none").toString())).isEqualTo(1);
        assertThat(err()).contains("cannot be read");
        err.reset();
        assertThat(run("", "parse", file("text.log", "hello\n"))).isEqualTo(1);
        assertThat(err()).contains("unknown format; set --format to one of mysql-slow, ", ", percona-audit-json, ");
    }

    @Test
    void aWrongCommandLineIsRefused() throws IOException {
        String log = file("slow.log", LOG);
        assertThat(run(new TerminalCapabilities(true, false, false, false, 120), "", "parse"))
                .isEqualTo(2);
        assertThat(run("", "parse", "--tz", "Mars/Base", log)).isEqualTo(2);
        assertThat(run("", "parse", "--format", "csv", log)).isEqualTo(2);
        assertThat(run("", "digest", "--since", "yesterday", log)).isEqualTo(2);
        assertThat(run("", "digest", "--order-by", "beauty", log)).isEqualTo(2);
        assertThat(err()).contains("IANA zone").contains("expects a time").contains("mysql-slow");
    }

    @Test
    void aMisspeltNameIsAnsweredWithTheSimilarOneAndTheNextCommand() {
        assertThat(run("", "digest", "--limt", "3")).isEqualTo(2);
        assertThat(run("", "rules", "chek", "x")).isEqualTo(2);
        assertThat(run("", "digest", "--order=max")).isEqualTo(2);
        assertThat(err())
                .isEqualTo(
                        """
                        tailrace: there is no option '--limt'; did you mean '--limit'?
                        see: tailrace digest --help
                        tailrace: there is no subcommand 'chek'; did you mean 'check'?
                        see: tailrace rules --help
                        tailrace: there is no option '--order'; did you mean '--order-by'?
                        see: tailrace digest --help
                        """);
    }

    @Test
    void helpIsEverywhere() {
        for (String command : new String[] {"parse", "digest", "fingerprint"}) {
            assertThat(run("", command, "--help")).isZero();
        }
        assertThat(run("", "--help")).isZero();
        assertThat(out()).contains("Exit codes:").contains("digest");
    }
}
