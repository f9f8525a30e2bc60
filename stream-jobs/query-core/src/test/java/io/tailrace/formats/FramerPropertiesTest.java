package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.framing.EntryLimits;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import io.tailrace.testing.PropertyTestBudget;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Properties for every input: framers and parsers never throw, report every byte once and in order (the test's
 * listener checks it), and return the same result however often they are saved and restored.
 */
class FramerPropertiesTest {

    /** Lines that begin, continue and end entries, beside those that {@link LogWriter} writes. */
    private static final List<String> SPECIAL_LINES = List.of(
            "# Time: 2026-11-21T02:49:03.496201Z",
            "# Time: 261121  2:44:26",
            "# Time: ",
            "# Time: x');",
            "# User@Host: root[root] @ localhost []  Id:     8",
            "# User@Host: a[b]c[a[b]c] @  [1.2.3.4]",
            "# Query_time: 0.000099  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0",
            "# Query_time: x  Lock_time:",
            "# Schema:   Last_errno: 0  Killed: 0",
            "#",
            "# explain: 1\tSIMPLE",
            "# administrator command: Quit;",
            "use shop;",
            "use a",
            "SET timestamp=1795229343;",
            "SET insert_id=5,timestamp=1795229343;",
            "SELECT 1;",
            "SELECT 'a",
            "b';",
            "SELECT \"",
            "`",
            "/* comment",
            "*/;",
            "-- ;",
            "SELECT 1 -- ;",
            "CREATE PROCEDURE p()",
            "BEGIN",
            "END;",
            ";",
            "",
            "  ",
            "/usr/sbin/mysqld, Version: 8.0.46 (x). started with:",
            "SELECT 1/usr/sbin/mysqld, Version: 8.0.46 (x). started with:",
            "Tcp port: 3306  Unix socket: /m.sock",
            "Time                 Id Command    Argument",
            "20261121 03:00:18,vm,root,localhost,4,2,QUERY,,'SET NAMES',0",
            "20261121 03:00:18,vm,a,b,c,4,2,READ,d,t,",
            "{\"audit_record\":{\"name\":\"Query\",\"timestamp\":\"2026-11-21T02:50:38 UTC\",\"sqltext\":\"a\\u00",
            "2026-11-21T02:49:03.496201Z\t    8 Query\tSELECT 1",
            "261121  2:44:26\t     4 Connect\troot@localhost on",
            "\t\t     4 Query\tSELECT 'a",
            "\t\t     4 Query\tUSE `",
            "\t\t     5 Init DB\tshop",
            "\t\t     4 Quit\t",
            "\t\t      1 Change user a@b on c using Socket",
            "\t\t  4 Connect\tAccess denied for user '",
            "Time                 Id Command    Argument",
            "\t\t  4 Init DB\tAccess denied for user 'a' to database '",
            "2026-11-21T02:51:07.023167Z 0 [Warning] a",
            "2026-11-21  2:44:21 26 [Note] InnoDB: ",
            "2026-11-21T03:02:57.026479Z 0 [Note] [MY-012468] [InnoDB] Transactions deadlock detected, dumping detailed"
                    + " information.",
            "2026-11-21T03:02:57.026545Z 0 [Note] [MY-012469] [InnoDB]  *** (1) TRANSACTION: ",
            "*** WE ROLL BACK TRANSACTION (2)",
            "MySQL thread id 20, OS thread handle 14, query id 101 localhost root",
            " 0: len 4; hex 80000001; asc     ;;",
            "091119 22:27:11InnoDB: Assertion failure in thread 1",
            "02:51:07 UTC - mysqld got signal 11 ;",
            "Query (7f0ac00101d0): SELECT 'a",
            "Server version: 10.0-MariaDB",
            "information that should help you find out what is causing the crash.",
            "Kernel version: Linux",
            "=====================================",
            "2026-11-21 02:49:16 0x7f INNODB MONITOR OUTPUT",
            "END OF INNODB MONITOR OUTPUT",
            "------------",
            "LATEST DETECTED DEADLOCK",
            "LOG",
            "SEMAPHORES",
            "Log sequence number 99999999999999999999",
            "--Thread 1 has waited at x line",
            "  Type: InnoDB",
            "{ \"prio\" : 2, \"err_code\" : 10101, \"msg\" : \"a\\u00",
            "{\"log\":\"2026-11-21T02:49:00Z 8 [Note] b\\n\"}",
            "{ \"prio\" : 2, \"err_code\" : 1, \"msg\" : \"a\", \"time\" : \"2026-11-21T03:07:52.208130Z\" }",
            "2026-11-21T02:00:00Z 8 [ERROR] Slave SQL: Error. Query: 'SELECT 'x",
            "b', Error_code: 1062",
            "2026-11-21T02:00:00Z 8 [Note] Access denied for user 'a'@'b' (using password: YES)",
            "\u0000\u0001'\u00ff\\");

    /** A new format is covered without a change, because it needs a {@link LogWriter}. */
    private static final List<String> LINES =
            Stream.concat(SPECIAL_LINES.stream(), writtenLines()).toList();

    private static Stream<String> writtenLines() {
        return LogWriter.all().stream()
                .flatMap(writer -> writer.record().apply("SELECT 'a\nb'").lines())
                .distinct();
    }

    private final List<LogFormat> formats = new FormatRegistry().all();

    @Test
    void linesInAnyOrder() {
        Random random = new Random(20261121);
        for (int round = 0; round < PropertyTestBudget.of(400, 4_000); round++) {
            check(lines(random, 1 + random.nextInt(60)));
        }
    }

    private static byte[] lines(Random random, int count) {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        for (int i = 0; i < count; i++) {
            String end = i + 1 < count || random.nextBoolean() ? random.nextInt(10) == 0 ? "\r\n" : "\n" : "";
            file.writeBytes((LINES.get(random.nextInt(LINES.size())) + end).getBytes(StandardCharsets.ISO_8859_1));
        }
        return file.toByteArray();
    }

    /** A reader keeps the pending bytes in memory. */
    @Test
    void textWithoutAnyEntryIsReportedInParts() {
        String line = "x".repeat(9_999) + "\n";
        byte[] file = line.repeat(350).getBytes(StandardCharsets.ISO_8859_1);
        for (LogFormat format : formats) {
            assertThat(FramedLog.of(format, file).frames())
                    .as(format.name())
                    .allMatch(part -> part.to() - part.from() <= EntryLimits.MAX_REJECTION_LENGTH + line.length());
        }
    }

    @Test
    void randomBytes() {
        Random random = new Random(7);
        for (int round = 0; round < 200; round++) {
            byte[] file = new byte[random.nextInt(4_000)];
            random.nextBytes(file);
            check(file);
        }
    }

    @Test
    void realLogsWithChangedBytes() {
        Random random = new Random(11);
        for (Path path :
                Corpora.files("ours", ".slow.log", ".csv", "auditJSON.log", "error.log", ".00.json", "status.txt")) {
            byte[] whole = Corpora.read(path);
            int length = Math.min(whole.length, 40_000);
            int from = random.nextInt(whole.length - length + 1);
            byte[] file = java.util.Arrays.copyOfRange(whole, from, from + length);
            for (int change = 0; change < 200; change++) {
                file[random.nextInt(length)] = (byte) "'\"`\n;#/*\\ ".charAt(random.nextInt(10));
            }
            check(file);
        }
    }

    private void check(byte[] file) {
        for (LogFormat format : formats) {
            ReadAnything.check(format, file);
        }
    }

    @Test
    void aRealLogIsTheSameThroughARestoreAfterEveryLine() {
        LogFormat format = formats.get(0);
        for (Path path : Corpora.files("ours/slow/real", ".slow.log")) {
            byte[] file = Corpora.read(path);
            assertThat(FramedLog.ofRestored(format, file).frames())
                    .isEqualTo(FramedLog.of(format, file).frames());
        }
    }

    @Test
    void carriageReturnsChangeNothingButOffsets() {
        LogFormat format = formats.get(0);
        for (Path path : Corpora.files("ours/slow/real", "8.0.46.slow.log", "10.11.19.slow.log")) {
            byte[] file = Corpora.read(path);
            byte[] windows = new String(file, StandardCharsets.ISO_8859_1)
                    .replace("\n", "\r\n")
                    .getBytes(StandardCharsets.ISO_8859_1);
            assertThat(FramedLog.of(format, windows).entries())
                    .hasSameSizeAs(FramedLog.of(format, file).entries());
        }
    }
}
