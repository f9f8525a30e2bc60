package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import io.tailrace.json.AvroJsonWriter;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Logs of real servers are read completely: each logged statement is exactly one event. */
@Tag("slow")
class CorporaTest {

    /**
     * Headers that the workload does not forge within a literal. Forged ones name users that no server has ({@code
     * evil}) or repeat a header of the same statement. They were identified by reading the logs, not with Tailrace.
     */
    private static final Pattern TRUE_HEADER =
            Pattern.compile("(?m)^# User@Host: (?!evil)[^\\n]*\\n# (Schema|Thread_id|Query_time)[:\\w .]*");

    @ParameterizedTest
    @CsvSource({
        "mariadb-10.0.38.slow.log, 2136",
        "mariadb-10.3.39.slow.log, 2144",
        "mariadb-10.11.19.slow.log, 2112",
        "mysql-5.7.42.slow.log, 2067",
        "mysql-8.0.46.slow.log, 2168",
        "mysql-8.0.46-json.slow.log, 2170",
        "mysql-8.4.13.slow.log, 2347",
        "pxc-5.6.37-auditOLD.slow.log, 2103",
        "pxc-5.7.20-auditCSV.slow.log, 2103",
        "pxc-5.7.20-auditJSON.slow.log, 2103",
        "pxc-5.7.20-auditOLD-wsrep.slow.log, 808",
    })
    void everyEntryOfARealSlowLogIsOneEvent(String name, int entries) {
        byte[] file = Corpora.read("ours/slow/real/" + name);
        LogFormat format = detected(file);
        assertThat(format.name()).isEqualTo("mysql-slow");
        FramedLog log = FramedLog.of(format, file);
        List<Parsed.Outcome> outcomes = Parsed.of(format, log);

        assertThat(headers(file)).isEqualTo(entries);
        assertThat(log.rejections()).isEmpty();
        assertThat(log.reported()).isEqualTo(file.length);
        assertThat(outcomes).hasSize(entries).allMatch(outcome -> outcome.event() instanceof QueryEvent);
        assertThat(outcomes.stream().filter(outcome -> flags(outcome).contains("forged_header")))
                .hasSize(1);
    }

    private static List<String> flags(Parsed.Outcome outcome) {
        return ((QueryEvent) outcome.event()).getFlags();
    }

    private static long headers(byte[] file) {
        Matcher headers = TRUE_HEADER.matcher(new String(file, StandardCharsets.ISO_8859_1));
        return headers.results().count();
    }

    @ParameterizedTest
    @CsvSource({
        "mariadb-10.0.38.csv, mariadb-audit",
        "mariadb-10.3.39.csv, mariadb-audit",
        "mariadb-10.11.19.csv, mariadb-audit",
        "pxc-5.7.20-auditJSON.log, percona-audit-json",
    })
    void everyLineOfARealAuditLogIsOneEvent(String name, String formatName) {
        byte[] file = Corpora.read("ours/audit/real/" + name);
        LogFormat format = detected(file);
        assertThat(format.name()).isEqualTo(formatName);
        FramedLog log = FramedLog.of(format, file);
        List<Parsed.Outcome> outcomes = Parsed.of(format, log);

        assertThat(log.rejections()).isEmpty();
        assertThat(log.reported()).isEqualTo(file.length);
        assertThat(outcomes).hasSize(lines(file)).allMatch(outcome -> outcome.event() instanceof AuditEvent);
        assertThat(outcomes)
                .noneMatch(outcome -> ((AuditEvent) outcome.event()).getFlags().contains("user_ambiguous"));
    }

    private static int lines(byte[] file) {
        int lines = 0;
        for (byte b : file) {
            lines += b == '\n' ? 1 : 0;
        }
        return lines;
    }

    /** A line that starts a command of a general log; identified by reading the log, not with Tailrace. */
    private static final Pattern COMMAND =
            Pattern.compile("(?m)^(?:\\d{6} {1,2}\\d{1,2}:\\d\\d:\\d\\d)?\\t{1,2} *\\d+ [A-Z][A-Za-z ]*\\t");

    @Test
    void everyCommandOfARealGeneralLogIsOneEvent() throws IOException {
        byte[] file;
        try (InputStream in = new GZIPInputStream(
                new ByteArrayInputStream(Corpora.read("ours/large/mariadb-10.11.19-sysbench.general.log.gz")))) {
            file = in.readAllBytes();
        }
        LogFormat format = detected(file);
        assertThat(format.name()).isEqualTo("mysql-general");
        FramedLog log = FramedLog.of(format, file);

        assertThat(COMMAND.matcher(new String(file, StandardCharsets.ISO_8859_1))
                        .results()
                        .count())
                .isEqualTo(199_445);
        assertThat(log.rejections()).isEmpty();
        assertThat(log.reported()).isEqualTo(file.length);
        List<Parsed.Outcome> outcomes = Parsed.of(format, log);
        assertThat(outcomes).hasSize(199_445).allMatch(outcome -> outcome.event() instanceof AuditEvent);
        assertThat(outcomes.stream()
                        .filter(outcome ->
                                ((AuditEvent) outcome.event()).getUser().isEmpty()))
                .hasSize(5);
    }

    /** A line that starts a message of an error log; identified by reading the logs, not with Tailrace. */
    private static final Pattern MESSAGE = Pattern.compile(
            "^(\\t?\\d{4}-\\d\\d-\\d\\d[T ] ?\\d{1,2}:\\d\\d:\\d\\d"
                    + "|\\d{6} {1,2}\\d{1,2}:\\d\\d:\\d\\d|\\d\\d:\\d\\d:\\d\\d UTC - |\\{ \"(prio|log_type)|\\{\"log\":\"\\d{4}-)");

    /** A message that continues a deadlock's report. */
    private static final Pattern OF_DEADLOCK = Pattern.compile("InnoDB: ?(\\*\\*\\*.*)?$|\\[InnoDB\\]  ?\\*\\*\\*");

    @ParameterizedTest
    @CsvSource({
        "ours/error/real, 30",
        "ours/error/innodb-status, 15",
        "third-party/error/beats, 4",
        "third-party/error/percona-toolkit, 7",
        "third-party/error/galera-pt-explainer/logs, 18",
    })
    void everyMessageOfAnErrorLogIsOneEvent(String directory, int files) {
        int read = 0;
        for (Path path : Corpora.files(directory, ".err", ".log", ".00.json", ".txt")) {
            byte[] file = Corpora.read(path);
            if (path.endsWith("percona-5.6.22-auditOLD.bootstrap.err") || path.endsWith("patterns.txt")) {
                assertThat(new FormatRegistry().detect("", "auto", file)).isEmpty();
                continue;
            }
            LogFormat format = detected(file);
            assertThat(format.name()).as(path.toString()).isEqualTo("mysql-error");
            FramedLog log = FramedLog.of(format, file);
            List<ErrorEvent> events = Parsed.of(format, log).stream()
                    .map(o -> (ErrorEvent) o.event())
                    .toList();
            assertThat(log.rejections()).as(path.toString()).isEmpty();
            assertThat(log.reported()).isEqualTo(file.length);
            long messages = events.stream()
                    .filter(event -> !event.getFlags().contains("continuation"))
                    .count();
            assertThat(messages).as(path.toString()).isEqualTo(messages(file));
            read++;
        }
        assertThat(read).isEqualTo(files);
    }

    private static long messages(byte[] file) {
        long messages = 0;
        boolean monitor = false;
        boolean assertion = false;
        for (String line : new String(file, StandardCharsets.ISO_8859_1).split("\n")) {
            if (line.endsWith("INNODB MONITOR OUTPUT") && !line.startsWith("END")) {
                monitor = true;
                messages++;
            } else if (monitor) {
                monitor = !line.startsWith("END OF INNODB");
            } else if (MESSAGE.matcher(line).find()) {
                boolean goesOn = assertion && line.contains("got signal")
                        || !line.startsWith("{") && OF_DEADLOCK.matcher(line).find();
                messages += goesOn ? 0 : 1;
                assertion = line.contains("Assertion failure");
            }
        }
        return messages;
    }

    /** Lines that belong to no message: containers, shells and XtraBackup's libraries write them into the log. */
    @ParameterizedTest
    @CsvSource({
        "operator_ambiguous_ips/node3.log, 12",
        "operator_concurrent_ssts/node1.log, 4",
        "operator_concurrent_ssts/node2.log, 6",
        "upgrade/node1.log, 0",
        "upgrade/node2.log, 7",
        "upgrade/node3.log, 2",
        "conflict/node.log, 0",
    })
    void linesOfOtherProgramsAreKept(String name, int continuations) {
        byte[] file = Corpora.read("third-party/error/galera-pt-explainer/logs/" + name);
        LogFormat format = detected(file);
        assertThat(Parsed.of(format, FramedLog.of(format, file)))
                .filteredOn(outcome -> ((ErrorEvent) outcome.event()).getFlags().contains("continuation"))
                .hasSize(continuations);
    }

    @Test
    void everyFileOfOtherProjectsIsReadToItsLastByte() {
        List<Path> paths = new ArrayList<>(Corpora.files("third-party/slow", ".txt", ".log", ".result"));
        paths.addAll(Corpora.files("third-party/error/percona-toolkit", ".txt"));
        paths.addAll(Corpora.files("third-party/error/deadlock-fk", ".txt"));
        for (Path path : paths) {
            byte[] file = Corpora.read(path);
            for (LogFormat format : new FormatRegistry().all()) {
                FramedLog log = FramedLog.of(format, file);
                assertThat(log.reported()).as(path.toString()).isEqualTo(file.length);
                assertThat(Parsed.of(format, log)).hasSameSizeAs(log.entries());
            }
        }
    }

    private static LogFormat detected(byte[] file) {
        byte[] head = Arrays.copyOf(file, Math.min(file.length, 64 << 10));
        return new FormatRegistry().detect("", "auto", head).orElseThrow();
    }

    /** Passwords of the workload, and the hashes that PXC and MariaDB write instead. */
    private static final Pattern PASSWORD = Pattern.compile("(?i)s3cret|hasło|\\*[0-9a-f]{40}");

    @Test
    void noPasswordOfARealLogLeavesItsParser() {
        AvroJsonWriter json = new AvroJsonWriter();
        List<Path> files = new ArrayList<>(Corpora.files("ours/slow/real", ".slow.log"));
        files.addAll(Corpora.files("ours/audit/real", ".csv", "auditJSON.log"));
        for (Path path : files) {
            byte[] file = Corpora.read(path);
            LogFormat format = detected(file);
            for (Parsed.Outcome outcome : Parsed.of(format, FramedLog.of(format, file))) {
                String all = json.write(outcome.event()) + outcome.fingerprint() + outcome.statement();
                assertThat(PASSWORD.matcher(all).find()).as(path + ": " + all).isFalse();
            }
        }
    }
}
