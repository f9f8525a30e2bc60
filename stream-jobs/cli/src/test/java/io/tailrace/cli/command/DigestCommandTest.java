package io.tailrace.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import com.github.luben.zstd.ZstdOutputStream;
import io.tailrace.cli.Main;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.cli.terminal.TerminalCapabilities;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DigestCommandTest {

    private static final Path GOLDEN = Path.of("src/test/resources/golden/digest");
    private static final Instant NOW = Instant.parse("2026-11-21T03:00:00Z");

    @TempDir
    private Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(TerminalCapabilities screen, byte[] input, String... arguments) {
        out.reset();
        err.reset();
        Terminal terminal = new Terminal(
                new ByteArrayInputStream(input),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                screen);
        return Main.run(terminal, Clock.fixed(NOW, ZoneOffset.UTC), arguments);
    }

    private int digest(String... options) {
        return run(TerminalCapabilities.NONE, new byte[0], arguments(options));
    }

    private static String[] arguments(String... options) {
        String[] words = Arrays.copyOf(new String[] {"digest", "--tz", "UTC"}, options.length + 3);
        System.arraycopy(options, 0, words, 3, options.length);
        return words;
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    /** Rate-limited entries of an application; the last one is an outlier of another year. */
    private static byte[] log() {
        StringBuilder log = new StringBuilder();
        for (int i = 0; i < 300; i++) {
            log.append(entry(1_795_229_340 + i, i % 3 == 0 ? "web" : "job", 0.1 + i / 1e3, "SELECT " + i));
        }
        return log.append(entry(1_234_567_890, "web", 9, "SELECT 'old'"))
                .toString()
                .getBytes(StandardCharsets.UTF_8);
    }

    private static String entry(long time, String user, double seconds, String statement) {
        return "# Time: " + Instant.ofEpochSecond(time) + "\n# User@Host: " + user + "[" + user + "] @ 10.0.0.1 []\n"
                + "# Schema: shop  Last_errno: 0  Killed: 0\n"
                + String.format(Locale.ROOT, "# Query_time: %.6f", seconds)
                + "  Lock_time: 0.0  Rows_sent: 1  Rows_examined: 10\n"
                + "# Log_slow_rate_type: query  Log_slow_rate_limit: 10\nSET timestamp=" + time + ";\n" + statement
                + ";\n";
    }

    private Path file(String name, byte[] bytes) throws IOException {
        return Files.write(directory.resolve(name), bytes);
    }

    /** Compares the reports of small logs with files. To update one, delete it and run the test. */
    @ParameterizedTest
    @ValueSource(strings = {"percona", "mysql-extra", "stray-time", "general", "audit"})
    void reportsAreAsExpected(String name) throws IOException {
        Path log = GOLDEN.resolve(name + ".log");
        assertThat(run(TerminalCapabilities.NONE, Files.readAllBytes(log), arguments("--limit", "3", "-")))
                .isZero();
        isGolden(name + ".txt", out());
        assertThat(run(TerminalCapabilities.NONE, Files.readAllBytes(log), arguments("--limit", "3", "--json", "-")))
                .isZero();
        isGolden(name + ".json", out());
    }

    /** With more groups than the limit, the report contains a note and counts the rest together. */
    @Test
    void classesBeyondTheLimitAreReported() throws IOException {
        StringBuilder log = new StringBuilder("# Time: 2026-11-21T02:49:03.496201Z\n");
        for (int i = 0; i < 65_536 + 10; i++) {
            log.append(
                            "# User@Host: a[a] @ b []  Id: 1\n# Query_time: 0.5  Lock_time: 0 Rows_sent: 0  Rows_examined: 0\n")
                    .append("SET timestamp=1795229343;\nSELECT a FROM ")
                    .append(letters(i))
                    .append(";\n");
        }
        byte[] bytes = log.toString().getBytes(StandardCharsets.US_ASCII);
        assertThat(run(TerminalCapabilities.NONE, bytes, arguments("--limit", "1", "-")))
                .isZero();
        assertThat(out()).contains("10 statements of other classes than the first 65,536 are counted together");
        assertThat(run(TerminalCapabilities.NONE, bytes, arguments("--limit", "1", "--json", "-")))
                .isZero();
        assertThat(out()).contains("\"further_ones\":10");
    }

    /** Returns a name without digits, because names that differ in digits only are one class. */
    private static String letters(int number) {
        return Integer.toString(number, 26)
                .chars()
                .mapToObj(c -> Character.toString(Character.isDigit(c) ? c - '0' + 'q' : c))
                .collect(Collectors.joining("", "t_", ""));
    }

    /** The complete report, with examples and charts, does not depend on the number of threads. */
    @ParameterizedTest
    @ValueSource(strings = {"query", "user", "table", "tag"})
    void theReportIsTheSameForAnyNumberOfThreads(String grouping) throws IOException {
        Path log = file("large.log", mixedLog());
        String[] options = {"--group-by", grouping, "--limit", "50", "--show-literals", "--html", "-", log.toString()};
        assertThat(digest(options)).isZero();
        String alone = out();
        for (String threads : new String[] {"1", "2", "3", "7"}) {
            String[] more = Arrays.copyOf(options, options.length + 2);
            more[options.length] = "--threads";
            more[options.length + 1] = threads;
            assertThat(digest(more)).isZero();
            assertThat(out()).isEqualTo(alone);
        }
    }

    /** Two megabytes of several classes and users, with times that no double represents exactly. */
    private static byte[] mixedLog() {
        Random random = new Random(7);
        StringBuilder log = new StringBuilder();
        for (int i = 0; i < 8_000; i++) {
            String table = "t_" + (char) ('a' + random.nextInt(20));
            String statement = "SELECT /* controller='c" + i % 5 + "' */ a FROM " + table + " WHERE b = " + i;
            log.append(entry(1_795_229_340 + i, "u" + random.nextInt(9), random.nextInt(1_000_000) / 1e6, statement));
        }
        return log.toString().getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void aNumberOfThreadsIsAboveNone() {
        assertThat(digest("--threads", "0", "-")).isEqualTo(2);
        assertThat(err()).contains("--threads expects a number above 0, found 0");
    }

    private static void isGolden(String name, String actual) throws IOException {
        Path file = GOLDEN.resolve(name);
        if (!Files.exists(file)) {
            Files.writeString(file, actual);
            fail(file + " was missing and has been written: check it, and commit it if it is right");
        }
        assertThat(actual).isEqualTo(Files.readString(file));
    }

    @Test
    void timesOfAnotherZoneAreDoubted() {
        byte[] log = String.join(
                        "\n",
                        "# Time: 240301 21:00:00",
                        "# User@Host: app[app] @ web []",
                        "# Query_time: 0.5  Lock_time: 0  Rows_sent: 1  Rows_examined: 1",
                        "SET timestamp=1709294400;",
                        "select 1;",
                        "")
                .getBytes(StandardCharsets.UTF_8);
        assertThat(run(TerminalCapabilities.NONE, log, "digest", "--tz=UTC", "-"))
                .isZero();
        assertThat(out()).contains("1 entry suggests that the log's local times are of another zone");
        assertThat(run(TerminalCapabilities.NONE, log, "digest", "--tz=Asia/Tokyo", "-"))
                .isZero();
        assertThat(out()).doesNotContain("another zone");
    }

    @Test
    void severalPackedFilesAndPatternsMakeOneReport() throws IOException {
        byte[] log = log();
        file("slow.log", log);
        try (OutputStream packed = new GZIPOutputStream(Files.newOutputStream(directory.resolve("slow.log.2.gz")))) {
            packed.write(log);
        }
        try (OutputStream packed = new ZstdOutputStream(Files.newOutputStream(directory.resolve("slow.log.1.zst")))) {
            packed.write(log);
        }
        assertThat(digest("--json", directory + "/slow.log*", directory + "/slow.log"))
                .isZero();
        assertThat(out()).startsWith("{\"entries\":903,").contains("\"count\":9030,");
        assertThat(digest(directory + "/slow.lo?")).isZero();
        assertThat(out()).startsWith("3,010 statements, 1 class");
        assertThat(digest(directory + "/fast.log*")).isEqualTo(1);
        assertThat(err()).contains("fast.log*: no such file");
    }

    @Test
    void aFileThatEndsEarlyIsReportedAsFarAsItGoes() throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (OutputStream gzip = new GZIPOutputStream(packed)) {
            gzip.write(log());
        }
        Path cut = file("cut.gz", Arrays.copyOf(packed.toByteArray(), packed.size() * 2 / 3));
        assertThat(digest(cut.toString())).isEqualTo(1);
        assertThat(err()).contains("cut.gz: ends early after ");
        assertThat(out()).contains("of query time");
    }

    @Test
    void otherPackersAreNamed() throws IOException {
        assertThat(digest(file("a.bz2", "BZh91AY".getBytes(StandardCharsets.US_ASCII))
                        .toString()))
                .isEqualTo(1);
        assertThat(err()).contains("bzip2 files are not supported");
    }

    @Test
    void groupsByOtherKeys() {
        run(TerminalCapabilities.NONE, log(), arguments("--group-by", "user", "--json"));
        assertThat(out()).contains("\"name\":\"job\"").contains("\"groups_total\":2");
        run(TerminalCapabilities.NONE, log(), arguments("--group-by", "host", "--json"));
        assertThat(out()).contains("\"name\":\"10.0.0.1\"");
        run(TerminalCapabilities.NONE, log(), arguments("--group-by", "db"));
        assertThat(out()).contains("#1 shop").contains("select ?");
        byte[] tagged = (entry(1_795_229_340, "web", 2, "SELECT * FROM a JOIN b /*controller='carts'*/")
                        + entry(1_795_229_341, "web", 1, "INSERT INTO b SELECT * FROM other.c"))
                .getBytes(StandardCharsets.UTF_8);
        run(TerminalCapabilities.NONE, tagged, arguments("--group-by", "table", "--json"));
        assertThat(out())
                .contains("\"groups_total\":3", "\"name\":\"shop.a\"", "\"name\":\"shop.b\"", "\"name\":\"other.c\"")
                .contains("\"overall\":{\"count\":20,");
        run(TerminalCapabilities.NONE, tagged, arguments("--group-by", "tag:controller"));
        assertThat(out())
                .contains("2 values of controller")
                .contains("#1 carts")
                .contains("#2 (none)");
        run(TerminalCapabilities.NONE, tagged, arguments("--group-by", "tag"));
        assertThat(out()).contains("2 tags").contains("#1 controller=carts").contains("#2 (none)");
        run(TerminalCapabilities.NONE, tagged, arguments("--filter", "table=a and tag.controller=carts"));
        assertThat(out()).startsWith("10 statements").contains("tables     shop.a 100.0%, shop.b 100.0%");
        assertThat(digest("--group-by", "moon", "-")).isEqualTo(2);
    }

    @Test
    void excludedStatementsAreLeftOut() {
        run(TerminalCapabilities.NONE, log(), arguments("--filter", "user=web and query_time>=200ms"));
        assertThat(out()).startsWith("670 statements").contains("left out   234 entries");
        run(TerminalCapabilities.NONE, log(), arguments("--since", "8m"));
        assertThat(out()).contains("left out   181 entries");
        run(
                TerminalCapabilities.NONE,
                log(),
                arguments("--since", "2026-11-21 02:49", "--until", "2026-11-21T03:54:00+01:00"));
        assertThat(out()).startsWith("3,000 statements");
        run(TerminalCapabilities.NONE, log(), arguments("--filter", "user=nobody"));
        assertThat(out()).startsWith("No statements\n").contains("left out   301 entries");
        assertThat(digest("--filter", "usr=web", "-")).isEqualTo(2);
        assertThat(err()).contains("--filter: at character 1 expected a field").contains("\n  ^\n");
    }

    @Test
    void weightsThresholdAndOutliersAreReported() {
        run(TerminalCapabilities.NONE, log(), arguments("-"));
        assertThat(out())
                .startsWith("3,010 statements")
                .contains("1 of 10 statements (log_slow_rate_limit): 301 entries represent 3,010 statements")
                .contains("long_query_time seems to be 100ms: the fastest logged statement took 100ms")
                .contains("2026-11-21 02:49:00 to 02:54:00 UTC (5m00s)")
                .contains("10 statements have times far outside, such as 2009-02-13 23:31:30");
    }

    @Test
    void everyOrderIsOne() {
        for (String order : new String[] {
            "total",
            "count",
            "avg",
            "p95",
            "p99",
            "max",
            "rows_examined",
            "lock",
            "errors",
            "bytes",
            "rows-sent",
            "examined-per-sent"
        }) {
            assertThat(run(TerminalCapabilities.NONE, log(), arguments("--order-by", order, "-")))
                    .isZero();
            assertThat(out()).contains("Profile by ");
        }
    }

    @Test
    void examplesAreMaskedUnlessLiteralsAreAskedFor() {
        run(TerminalCapabilities.NONE, log(), arguments("-"));
        assertThat(out()).contains("  SELECT ?\n").doesNotContain("'old'");
        run(TerminalCapabilities.NONE, log(), arguments("--show-literals", "-"));
        assertThat(out()).contains("  SELECT 'old'\n");
    }

    @Test
    void coloursNeedATerminalThatSupportsThem() {
        TerminalCapabilities coloured = new TerminalCapabilities(false, true, false, true, 100);
        run(coloured, log(), arguments("-"));
        assertThat(out()).contains("\u001b[");
        run(coloured, log(), arguments("--color", "never", "-"));
        assertThat(out()).doesNotContain("\u001b[");
        run(new TerminalCapabilities(false, true, false, false, 100), log(), arguments("-"));
        assertThat(out()).doesNotContain("\u001b[");
        run(TerminalCapabilities.NONE, log(), arguments("--color", "always", "-"));
        assertThat(out()).contains("\u001b[");
    }

    @Test
    void linesFitTheTerminal() {
        for (int columns : new int[] {90, 120, 200}) {
            run(new TerminalCapabilities(false, true, false, false, columns), log(), arguments("-"));
            assertThat(out().lines()).allMatch(line -> line.length() <= columns);
        }
    }

    @Test
    void htmlIsWrittenBesideTheText() {
        Path html = directory.resolve("report.html");
        assertThat(run(TerminalCapabilities.NONE, log(), arguments("--html", html.toString(), "-")))
                .isZero();
        assertThat(out()).startsWith("3,010 statements");
        assertThat(html).content().startsWith("<!doctype html>").contains("3,010");
        assertThat(run(TerminalCapabilities.NONE, log(), arguments("--html", "-", "-")))
                .isZero();
        assertThat(out()).startsWith("<!doctype html>");
        assertThat(run(TerminalCapabilities.NONE, log(), arguments("--html", directory + "/no/such.html", "-")))
                .isEqualTo(1);
    }

    @Test
    void anErrorLogIsNotDigested() {
        byte[] log = "2026-11-21T02:49:03.000000Z 0 [System] [MY-010116] [Server] mysqld 8.0.46 starting as process 1\n"
                .getBytes(StandardCharsets.UTF_8);
        assertThat(run(TerminalCapabilities.NONE, log, arguments("-"))).isEqualTo(1);
        assertThat(err()).isEqualTo("-: an error log contains no statements; tailrace parse shows its events\n");
        assertThat(out()).isEmpty();
    }
}
