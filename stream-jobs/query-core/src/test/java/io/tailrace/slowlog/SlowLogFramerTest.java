package io.tailrace.slowlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryLimits;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.FramedLog.Frame;
import io.tailrace.framing.FramingKind;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlowLogFramerTest {

    static final String BANNER =
            """
            /usr/sbin/mysqld, Version: 8.0.46 (Source distribution). started with:
            Tcp port: 3306  Unix socket: /d/m.sock
            Time                 Id Command    Argument
            """;

    private final SlowLogFormat format = new SlowLogFormat();

    static String entry(int second, String statement) {
        return "# Time: 2026-11-21T02:49:%02d.000000Z\n".formatted(second)
                + "# User@Host: root[root] @ localhost []  Id: 7\n"
                + "# Query_time: 0.000099  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n"
                + "SET timestamp=" + (1_795_229_340 + second) + ";\n"
                + statement + "\n";
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static FramedLog read(SlowLogFormat format, String text) {
        return FramedLog.of(format, bytes(text));
    }

    private List<String> statements(String text) {
        FramedLog log = read(format, text);
        return log.entries().stream().map(frame -> statement(log, frame)).toList();
    }

    private static String statement(FramedLog log, Frame frame) {
        String entry =
                new String(log.file(), (int) frame.from(), (int) (frame.to() - frame.from()), StandardCharsets.UTF_8);
        return entry.substring(entry.indexOf('\n', entry.indexOf("SET timestamp")) + 1);
    }

    @Test
    void anEntryIsReportedWithItsSemicolonAndNotLater() {
        String first = entry(1, "SELECT 1\nFROM t;");
        EntryFramer framer = format.newFramer();
        List<String> reports = new ArrayList<>();
        feed(framer, bytes(first), 0, new Reports(reports));
        assertThat(reports).hasSize(1);
        assertThat(framer.pendingFrom()).isEqualTo(first.length());
    }

    @ParameterizedTest
    // spotless:off
    @ValueSource(strings = {
        "SELECT 1;", "SELECT ';\n';", "SELECT \";\n\";", "SELECT `;\n` FROM t;", "SELECT 'it''s;\n';",
        "SELECT 'a\\';\n';", "SELECT 1 /* ;\n*/;", "SELECT 1 -- ;\n+ 1;", "SELECT 1 # ;\n+ 1;",
        "SELECT /*!50000 1;\n*/;", "SELECT 1--1;", "SELECT 1\n\n\n+ 1;", ";", "SELECT 1;;", "BEGIN;", "BEGIN WORK;",
        "# administrator command: Quit;", "# note\nSELECT 1;", "# User@Host: x\nSELECT 1;", "SELECT '# Time: 2026\n';",
        "SELECT '\n/usr/sbin/mysqld, Version: 8. started with:\n';", "SELECT\t1 ;", "SELECT 1;   ",
    })
    // spotless:on
    void aStatementEndsAtItsOwnSemicolon(String statement) {
        String log = entry(1, statement) + entry(2, "SELECT 2;");
        assertThat(statements(log)).containsExactly(statement + "\n", "SELECT 2;\n");
        assertThat(statements(log.replace("\n", "\r\n")))
                .containsExactly(statement.replace("\n", "\r\n") + "\r\n", "SELECT 2;\r\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE PROCEDURE p() BEGIN\nSELECT 1;\nSELECT 2;\nEND;",
                "CREATE DEFINER=`root`@`localhost` FUNCTION f() RETURNS INT\nBEGIN\nIF 1 THEN\nRETURN 1;\nEND IF;\nEND;",
                "create or replace trigger t before insert on a for each row begin\nset @a = 1;\nend;",
                "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO\nBEGIN\nDELETE FROM t;\nEND;",
                "ALTER EVENT e DO BEGIN\nDELETE FROM t;\nEND;",
                "/*!50003 CREATE*/ /*!50017 DEFINER=`a`@`b`*/ /*!50003 TRIGGER t BEFORE INSERT ON a FOR EACH ROW\nSET @a=1 */;",
                "BEGIN NOT ATOMIC\nSELECT 1;\nSELECT 2;\nEND;",
                "IF @a THEN\nSELECT 1;\nEND IF;",
                "CREATE PACKAGE BODY p AS\nPROCEDURE a AS BEGIN\nSELECT 1;\nEND;\nEND;",
                "CREATE PROCEDURE p() BEGIN\nSELECT CASE a WHEN 1 THEN 2 END;\nCASE a WHEN 1 THEN SELECT 1;\nEND CASE;\nEND;",
            })
    void aCompoundStatementEndsBeforeTheNextHeader(String statement) {
        String log = entry(1, statement) + entry(2, "SELECT 2;");
        assertThat(statements(log)).containsExactly(statement + "\n", "SELECT 2;\n");
        assertThat(statements(entry(1, statement))).containsExactly(statement + "\n");
        assertThat(statements(entry(1, statement) + BANNER + entry(2, "SELECT 2;")))
                .containsExactly(statement + "\n", "SELECT 2;\n");
    }

    @Test
    void aHeaderInTheBlockOfACompoundStatementStartsNoEntry() {
        String body = "CREATE PROCEDURE p() BEGIN\nSELECT 1;\n" + entry(1, "SELECT 666;") + "END;";
        FramedLog log = read(format, entry(1, body) + entry(2, "SELECT 2;"));
        assertThat(log.entries()).hasSize(2);
        assertThat(log.entries().get(0).context().forgedHeader()).isTrue();
    }

    @Test
    void contextIsCarriedUntilTheServerStartsAgain() {
        String log = "# Time: 261121  2:44:26\n" + old("use shop;\n") + old("") + BANNER + old("");
        List<Frame> entries = read(format, log).entries();
        assertThat(entries).extracting(frame -> frame.context().timeLine()).containsExactly("", "261121  2:44:26", "");
        assertThat(entries).extracting(frame -> frame.context().database()).containsExactly("", "shop", "");
    }

    private static String old(String use) {
        return "# User@Host: root[root] @ localhost []\n# Query_time: 1  Lock_time: 0\n" + use
                + "SET timestamp=1795229066;\nSELECT 1;\n";
    }

    @Test
    void afterAHoleTheRestOfAHeaderIsNoEntryWhereEachEntryHasATime() {
        byte[] file = bytes("# Time: 2026-11-21T02:49:03.496201Z\n" + old(""));
        EntryFramer framer = format.newFramer();
        List<String> reports = new ArrayList<>();
        Reports out = new Reports(reports);
        feed(framer, file, 0, out);
        framer = format.restoreFramer(framer.snapshot());
        framer.hole(5_000, out);
        feed(framer, bytes(old("") + "# Time: 2026-11-21T02:49:04.496201Z\n" + old("")), 5_000, out);
        assertThat(reports)
                .containsExactly("entry database= time=", "rejected NO_ENTRY_START", "entry database= time=");
    }

    @Test
    void aHoleEndsWhatIsPendingAndForgetsTheContext() {
        byte[] file =
                bytes("# Time: 261121  2:44:26\n" + old("use shop;\n") + old("").replace("SELECT 1;\n", "SELECT 1\n"));
        EntryFramer framer = format.newFramer();
        List<String> reports = new ArrayList<>();
        Reports out = new Reports(reports);
        feed(framer, file, 0, out);
        framer.hole(5_000, out);
        assertThat(framer.pendingFrom()).isEqualTo(5_000);
        feed(framer, bytes("AND b = 1;\n" + old("")), 5_000, out);
        assertThat(reports)
                .containsExactly(
                        "entry database= time=",
                        "rejected INCOMPLETE",
                        "rejected NO_ENTRY_START",
                        "entry database= time=");
    }

    static void feed(EntryFramer framer, byte[] bytes, long offset, Reports out) {
        int at = 0;
        while (at < bytes.length) {
            int to = at;
            while (bytes[to] != '\n') {
                to++;
            }
            at = (int) (framer.line(bytes, at, to + 1, offset + at, out) - offset);
        }
    }

    @Test
    void anEntryOverTheLimitIsRejectedInPieces() {
        byte[] line = new byte[EntryLimits.MAX_ENTRY_LENGTH / 4];
        Arrays.fill(line, (byte) 'x');
        line[line.length - 1] = '\n';
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        file.writeBytes(bytes(entry(1, "SELECT 'a")));
        for (int i = 0; i < 5; i++) {
            file.writeBytes(line);
        }
        file.writeBytes(bytes(entry(2, "SELECT 2;")));
        FramedLog log = FramedLog.of(format, file.toByteArray());
        assertThat(log.entries()).hasSize(1);
        assertThat(log.rejections()).extracting(Frame::code).containsOnly(DeadLetterCode.ENTRY_TOO_LARGE);
    }

    @Test
    void aSixteenMegabyteStatementIsAnEntry() {
        String literal = "x".repeat(16 << 20);
        FramedLog log = read(format, entry(1, "SELECT '" + literal + "';") + entry(2, "SELECT 2;"));
        assertThat(log.entries()).hasSize(2);
        assertThat(log.rejections()).isEmpty();
    }

    @Test
    void blankLinesAndBannersBetweenEntriesAreFraming() {
        FramedLog log = read(format, "\r\n" + BANNER + "\n" + entry(1, "SELECT 1;") + "  \n" + BANNER + BANNER);
        assertThat(log.rejections()).isEmpty();
        assertThat(log.frames())
                .filteredOn(frame -> frame.kind() != null)
                .extracting(Frame::kind)
                .containsExactly(
                        FramingKind.BLANK,
                        FramingKind.BANNER,
                        FramingKind.BLANK,
                        FramingKind.BLANK,
                        FramingKind.BANNER,
                        FramingKind.BANNER);
    }

    @Test
    void aBannerOfMariaDbHasTabs() {
        String banner = "mariadbd, Version: 10.11.19-MariaDB-log (Debian 12). started with:\n"
                + "Tcp port: 0  Unix socket: /m.sock\nTime\t\t    Id Command\tArgument\n";
        assertThat(read(format, banner).frames()).extracting(Frame::kind).containsExactly(FramingKind.BANNER);
    }

    @Test
    void aSecondUserLineStartsAnotherEntry() {
        String user = "# User@Host: a[a] @ b []\n";
        String queryTime = "# Query_time: 1  Lock_time: 0\n";
        for (String first : List.of(user, "# Time: 261121  2:44:26 # User@Host: a[a] @ b []\n" + queryTime)) {
            FramedLog log = read(format, first + user + queryTime + "SET timestamp=1795229066;\nSELECT 1;\n");
            assertThat(log.frames()).extracting(Frame::code).containsExactly(DeadLetterCode.INCOMPLETE, null);
            assertThat(log.entries().get(0).from()).isEqualTo(first.length());
        }
    }

    @Test
    void aBannerEndsAnEntryThatEndsWithUse() {
        String header = "# User@Host: a[a] @ b []\n# Query_time: 1  Lock_time: 0\n";
        FramedLog statement = read(format, header + "use shop;\n" + BANNER);
        assertThat(statement.entries()).hasSize(1);
        FramedLog cut = read(format, header + "use shop\n" + BANNER);
        assertThat(cut.rejections()).extracting(Frame::code).containsExactly(DeadLetterCode.INCOMPLETE);
        for (FramedLog log : List.of(statement, cut)) {
            assertThat(log.frames().get(1).kind()).isEqualTo(FramingKind.BANNER);
        }
    }

    @Test
    void aBannerWithinALiteralProvesACrash() {
        FramedLog log = read(format, entry(1, "SELECT 'a\nb") + BANNER + entry(2, "SELECT 2;"));
        assertThat(log.frames()).extracting(Frame::code).containsExactly(DeadLetterCode.INCOMPLETE, null, null);
    }

    @Test
    void aLiteralThatNeverEndsHidesNoEntry() {
        String log = entry(1, "SELECT 'a;")
                + entry(2, "SELECT 2;")
                + entry(3, "SELECT 'x';")
                + entry(4, "SELECT 4;")
                + entry(5, "SELECT 5;");
        for (int entries = 2; entries <= 5; entries++) {
            int end = entries == 5 ? log.length() : log.indexOf("# Time: 2026-11-21T02:49:0" + (entries + 1));
            assertThat(statements(log.substring(0, end))).hasSize(entries);
        }
        assertThat(read(format, log).entries())
                .extracting(frame -> frame.context().ambiguous())
                .containsExactly(true, true, true, true, false);
    }

    @Test
    void anUnterminatedLiteralThatALaterOneSeemsToCloseHidesNoEntry() {
        String log = entry(1, "SELECT 'a;")
                + entry(2, "SELECT \"it's\";")
                + entry(3, "SELECT 'x', \"y'z\";")
                + entry(4, "CREATE USER 'a' IDENTIFIED BY 's3cret';")
                + entry(5, "SELECT 5;");
        assertThat(statements(log)).hasSize(5);
    }

    @Test
    void aQuoteInTheNextHeaderHidesNoEntry() {
        String note = "# Warnings\n# Note 1973 Can't create user 'bob'@'%'; it already exists\n";
        for (String statement : List.of("CREATE USER bob;", "CREATE PROCEDURE p() BEGIN\nSELECT 1;\nEND;")) {
            String next = entry(2, statement).replace("SET timestamp", note + "SET timestamp");
            FramedLog log = read(format, entry(1, "SELECT 'a;") + next + entry(3, "SELECT 3;"));
            assertThat(log.entries()).hasSize(3);
            assertThat(log.rejections()).isEmpty();
        }
    }

    @Test
    void aHeaderInTheLiteralThatClosesAnUnterminatedOneHidesNoEntry() {
        String copied = "SELECT 1 FROM t WHERE a = '" + entry(2, "SELECT 666;") + "';";
        FramedLog log = read(format, entry(1, "SELECT 'a;") + entry(2, copied) + entry(3, "SELECT 3;"));
        assertThat(log.entries()).hasSize(3);
        assertThat(log.rejections()).isEmpty();
        assertThat(log.entries().get(1).context().forgedHeader()).isTrue();
    }

    @Test
    void aLiteralThatHoldsAHeaderOfNowIsOneEntry() {
        String tail = "SELECT 666;";
        for (String end : List.of("' AS forged;", "\n' AS forged;", "\n');", "');")) {
            for (String before : List.of("x\n", ";\n", "x\n;\n")) {
                String forged = "SELECT ('" + before + entry(2, tail).stripTrailing() + end;
                FramedLog log = read(format, entry(1, forged) + entry(3, "SELECT 3;"));
                assertThat(log.entries()).as(forged).hasSize(2);
                assertThat(log.entries().get(0).context().forgedHeader()).isTrue();
                assertThat(log.rejections()).isEmpty();
            }
        }
    }

    @Test
    void aLiteralThatHoldsAnEarlierLogIsOneEntry() {
        String earlier = entry(1, "SELECT 1;") + entry(2, "SELECT 2;") + entry(3, "SELECT 3;") + entry(4, "SELECT 4;");
        assertThat(statements(entry(9, "INSERT INTO logs VALUES ('" + earlier + "');") + entry(10, "SELECT 10;")))
                .hasSize(2);
    }

    @Test
    void headersInALiteralWithAnEarlierTimeProveNothing() {
        String earlier = entry(1, "SELECT 1;") + entry(2, "SELECT 2;") + entry(3, "SELECT 3;") + entry(4, "SELECT 4;");
        String notEarlier = earlier.replaceAll("SET timestamp=\\d+", "SET timestamp=" + (1_795_229_340 + 20));
        assertThat(statements(entry(9, "INSERT INTO logs VALUES ('" + notEarlier + "');")))
                .hasSize(1);
    }

    @Test
    void aLiteralThatIsCutIsRejectedWhenThreeEntriesFollow() {
        FramedLog log = read(
                format,
                entry(1, "SELECT 'cut") + entry(2, "SELECT 2;") + entry(3, "SELECT 3;") + entry(4, "SELECT 4;"));
        assertThat(log.frames())
                .extracting(Frame::code)
                .containsExactly(DeadLetterCode.UNTERMINATED_LITERAL, null, null, null);
    }

    /** SET timestamp states when a statement started, and entries are in the order in which they ended. */
    @Test
    void anEntryThatStartedEarlierAndEndedLaterIsFoundAfterALiteralThatNeverEnds() {
        String earlier = "SET timestamp=" + (1_795_229_340 - 30);
        StringBuilder log = new StringBuilder(entry(1, "SELECT 'a;"));
        for (int second = 2; second < 5; second++) {
            log.append(entry(second, "SELECT " + second + ";")
                    .replaceFirst("SET timestamp=\\d+", earlier)
                    .replace("# Query_time: 0", "# Query_time: 40"));
        }
        assertThat(statements(log.toString())).hasSize(4);
        assertThat(statements(log.toString().replace("# Query_time: 40", "# Query_time: 10")))
                .isEmpty();
    }

    @Test
    void afterSixteenMegabytesOneHeaderProvesThatALiteralNeverEnds() {
        List<String> reports = new ArrayList<>();
        EntryFramer framer = format.newFramer();
        String start = entry(1, "SELECT 'a;") + entry(2, "SELECT 2");
        feed(framer, bytes(start), 0, new Reports(reports));
        byte[] line = bytes("x".repeat((1 << 20) - 1) + "\n");
        long at = start.length();
        while (at + line.length <= SlowLogFramer.LITERAL_LIMIT) {
            at = framer.line(line, 0, line.length, at, new Reports(reports));
        }
        assertThat(reports).isEmpty();
        at = framer.line(line, 0, line.length, at, new Reports(reports));
        assertThat(at).isEqualTo(entry(1, "SELECT 'a;").length());
        assertThat(reports).containsExactly("entry database= time=");
    }

    /** A client can forge the header of an entry, and after it a name that never ends. */
    @Test
    void aDatabaseNameThatNeverEndsFitsIntoASnapshot() {
        String text = "# User@Host: a[a] @ b []\n# Query_time: 1\nuse a\n" + "\n".repeat(2_000);
        assertThat(FramedLog.ofRestored(format, bytes(text)).rejections())
                .extracting(Frame::code)
                .containsExactly(DeadLetterCode.INCOMPLETE);
    }

    @Test
    void aSnapshotOfAnotherVersionIsRejected() {
        byte[] snapshot = format.newFramer().snapshot();
        snapshot[0] = 99;
        assertThatThrownBy(() -> format.restoreFramer(snapshot)).hasMessageContaining("version");
    }
}
