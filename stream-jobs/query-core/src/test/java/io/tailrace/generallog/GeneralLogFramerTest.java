package io.tailrace.generallog;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryLimits;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.FramedLog.Frame;
import io.tailrace.framing.FramingKind;
import io.tailrace.lexer.ByteText;
import io.tailrace.testing.GrowthRate;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The state of the general log's framer and its limits. */
class GeneralLogFramerTest {

    private final GeneralLogFormat format = new GeneralLogFormat();

    @Test
    void aConnectionsAccountAndDatabaseAreThoseOfItsLatestCommands() {
        FramedLog log = log("2026-11-21T02:49:03.1Z\t8 Connect\tapp@web on shop using TCP/IP\n"
                + "2026-11-21T02:49:03.1Z\t9 Connect\troot@localhost on  using Socket\n"
                + "2026-11-21T02:49:03.2Z\t8 Init DB\tbilling\n"
                + "2026-11-21T02:49:03.3Z\t9 Query\tSELECT 1\n"
                + "2026-11-21T02:49:03.3Z\t8 Query\tSELECT 1\n"
                + "2026-11-21T02:49:03.4Z\t8 Quit\t\n"
                + "2026-11-21T02:49:03.5Z\t8 Query\tSELECT 1\n");
        assertThat(log.entries())
                .extracting(entry ->
                        entry.context().account() + '/' + entry.context().database())
                .containsExactly(
                        "app@web/shop",
                        "root@localhost/",
                        "app@web/billing",
                        "root@localhost/",
                        "app@web/billing",
                        "app@web/billing",
                        "/");
    }

    /** Each is followed by a SELECT. All but the last group ran on MariaDB 10.11 and MySQL 8.0, some on one only. */
    @ParameterizedTest
    @CsvFileSource(resources = "/session/use.psv", delimiter = '|', quoteCharacter = '\u0001')
    void theDatabaseThatAStatementSelectsIsThatOfTheServerOrUnknown(String statement, String database) {
        for (String command : List.of("Query", "Execute")) {
            assertThat(databaseAfter(command, statement))
                    .as("%s %s", command, statement)
                    .isEqualTo(database.equals("?") ? "" : database);
        }
        assertThat(databaseAfter("Prepare", statement)).isEqualTo("crm");
    }

    /** Returns the default database of a SELECT after the statement, whose connection was opened on crm. */
    private String databaseAfter(String command, String statement) {
        String text = new String(statement.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1)
                .replace("\\n", "\n")
                .replace("\\u00c2", "\u00c2")
                .replace("\\u00a0", "\u00a0");
        byte[] file = ("2026-11-21T02:49:03.1Z\t8 Connect\tapp@web on crm using TCP/IP\n"
                        + "2026-11-21T02:49:03.2Z\t8 " + command + '\t' + text + '\n'
                        + "2026-11-21T02:49:03.3Z\t8 Close stmt\t\n"
                        + "2026-11-21T02:49:03.4Z\t8 Close stmt\t\n"
                        + "2026-11-21T02:49:03.5Z\t8 Query\tSELECT 1\n")
                .getBytes(StandardCharsets.ISO_8859_1);
        String found = last(FramedLog.of(format, file));
        assertThat(last(FramedLog.ofRestored(format, file)))
                .as("restored after each line")
                .isEqualTo(found);
        return new String(found.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    private static String last(FramedLog log) {
        List<Frame> entries = log.entries();
        return entries.get(entries.size() - 1).context().database();
    }

    @Test
    void aStatementOfSeveralStatementsIsReadWithItsOwnDatabaseOnlyIfThatIsKnown() {
        FramedLog log = log("2026-11-21T02:49:03.1Z\t8 Connect\tapp@web on crm using TCP/IP\n"
                + "2026-11-21T02:49:03.2Z\t8 Query\tSELECT * FROM cards;\nUSE shop\n"
                + "2026-11-21T02:49:03.2Z\t9 Query\tSELECT 1\n");
        assertThat(log.entries())
                .extracting(entry ->
                        entry.context().account() + '/' + entry.context().database())
                .containsExactly("app@web/crm", "app@web/", "/");
    }

    @Test
    void aDatabaseThatTheServerRefusesAfterUseIsNotThatOfTheConnection() {
        String denied = "\t\t8 Init DB\tAccess denied for user 'app'@'web' to database 'shop'\n";
        FramedLog log = log("2026-11-21T02:49:03.1Z\t8 Connect\tapp@web on crm using TCP/IP\n"
                + "\t\t8 Query\tUSE shop\n" + denied + "\t\t8 Query\tSELECT 1\n");
        assertThat(log.entries())
                .extracting(entry -> entry.context().database())
                .containsExactly("crm", "shop", "", "");
    }

    /** Without escapes, the literal of the first statement ends, and a comment follows. */
    @Test
    void theReadingWithoutEscapesSkipsTheSameComments() {
        FramedLog log = FramedLog.of(
                format,
                ("2026-11-21T02:49:03.1Z\t8 Connect\tapp@web on shop using TCP/IP\n"
                                + "\t\t8 Query\tSELECT 'c:\\temp\\' --\u00a0\"it\n\t\t8 Query\tSELECT 2\n"
                                + "\t\t8 Query\tSELECT 3\n")
                        .getBytes(StandardCharsets.UTF_8));
        assertThat(log.entries())
                .extracting(entry -> entry.context().ambiguous())
                .containsExactly(false, true, false, false);
    }

    @Test
    void theDatabaseIsUnknownAfterAStatementThatWasNotReadToItsEnd() {
        FramedLog log = log("2026-11-21T02:49:03.1Z\t8 Connect\tapp@web on crm using TCP/IP\n"
                + "\t\t8 Query\tSELECT 1; /* " + "x".repeat(EntryLimits.MAX_ENTRY_LENGTH) + "\n*/ USE shop\n"
                + "\t\t8 Query\tSELECT 1\n");
        assertThat(last(log)).isEmpty();
    }

    /** A client's text looks the same as a literal that was never closed before the server restarted. */
    @ParameterizedTest
    @ValueSource(strings = {"'", "\"", "/* "})
    void aStatementThatABannerEndsWithinALiteralIsAmbiguous(String open) {
        String command = "2026-11-21T02:49:03.1Z\t8 Query\tSELECT ";
        String banner = "/usr/sbin/mysqld, Version: 8.0.46 (Ubuntu). started with:\n"
                + "Tcp port: 3306  Unix socket: /m.sock\nTime                 Id Command    Argument\n";
        FramedLog forged = log(command + open + "\n" + banner + command + "2\n");
        FramedLog restarted = log(command + "1\n" + banner + command + "2\n");

        assertThat(forged.entries())
                .extracting(entry -> entry.context().ambiguous())
                .containsExactly(true, false);
        assertThat(restarted.entries())
                .extracting(entry -> entry.context().ambiguous())
                .containsExactly(false, false);
    }

    @Test
    void manyConnectionsWithLongNamesFitIntoASnapshot() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 5_000; i++) {
            text.append("2026-11-21T02:49:03.1Z\t")
                    .append(i)
                    .append(" Connect\t")
                    .append("u".repeat(i % 300))
                    .append(i)
                    .append("@host on db")
                    .append(i)
                    .append(" using Socket\n");
        }
        byte[] file =
                text.append("2026-11-21T02:49:04.1Z\t4999 Quit\t\n").toString().getBytes(StandardCharsets.US_ASCII);
        EntryFramer framer = format.newFramer();
        Accounts accounts = new Accounts();
        long at = 0;
        while (at < file.length) {
            at = framer.line(file, (int) at, ByteText.lineFeed(file, (int) at, file.length) + 1, at, accounts);
            byte[] snapshot = framer.snapshot();
            assertThat(snapshot.length).isLessThan(64 << 10);
            framer = at % 7 == 0 ? format.restoreFramer(snapshot) : framer;
        }

        assertThat(accounts.entries).isEqualTo(5_001);
        assertThat(accounts.latest).endsWith("4999@host");
    }

    /** Stores the account of the latest entry. */
    private static final class Accounts implements FrameListener {

        private int entries;
        private String latest = "";

        @Override
        public void entry(long from, long to, EntryContext context) {
            entries++;
            latest = context.account();
        }

        @Override
        public void framing(long from, long to, FramingKind kind) {
            throw new AssertionError("every line is a command");
        }

        @Override
        public void rejected(long from, long to, DeadLetterCode code, String message) {
            throw new AssertionError(code + ": " + message);
        }
    }

    @Tag("slow")
    @Test
    void aLongLogOfOpenLiteralsIsReadInLinearTime() {
        GrowthRate.assertLinear("open literals", 1_000, 32_000, this::readingOpenLiterals);
    }

    private Runnable readingOpenLiterals(int entries) {
        StringBuilder text = new StringBuilder("2026-11-21T02:49:03.1Z\t8 Connect\tapp@web on shop using TCP/IP\n");
        for (int i = 0; i < entries; i++) {
            text.append("2026-11-21T02:49:03.1Z\t8 Query\tSELECT 'open /* ")
                    .append(i % 10)
                    .append('\n');
        }
        byte[] file = text.toString().getBytes(StandardCharsets.US_ASCII);
        return () -> assertThat(FramedLog.of(format, file).reported()).isEqualTo(file.length);
    }

    /** Commands after an unclosed literal: of connections that were open before the file, and fewer than three. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7})
    void anUnclosedLiteralHidesNoCommandUpToTheEnd(int commands) {
        StringBuilder text = new StringBuilder("2026-11-21T02:49:03.1Z\t90 Connect\tapp@web on shop using TCP/IP\n"
                + "2026-11-21T02:49:03.2Z\t8 Query\tSELECT 'never closed\n");
        for (int i = 0; i < commands; i++) {
            text.append("2026-11-21T02:49:04.")
                    .append(i)
                    .append("Z\t")
                    .append(7 + i % 2)
                    .append(" Query\tSELECT 1\n");
        }
        for (String behind : List.of("", "mysqld, Version: 8.4.3 (MySQL). started with:\n")) {
            FramedLog log = log(text + behind);
            assertThat(log.entries()).hasSize(2 + commands);
            assertThat(log.entries().get(1).context().ambiguous()).isTrue();
            assertThat(log.entries().get(1).context().forgedHeader()).isFalse();
            assertThat(FramedLog.ofRestored(format, (text + behind).getBytes(StandardCharsets.US_ASCII))
                            .entries())
                    .isEqualTo(log.entries());
        }
    }

    /** A log has many commands of one time, to the microsecond or, before MySQL 5.7, to the second. */
    @Test
    void commandsOfTheSameTimeProveThatALiteralNeverEnds() {
        String command = "2026-11-21T02:49:03.2Z\t8 Query\t";
        FramedLog log = FramedLog.ofOpen(
                format,
                (command + "SELECT 'never closed\n" + (command + "SELECT 1\n").repeat(4))
                        .getBytes(StandardCharsets.US_ASCII));
        assertThat(log.entries()).hasSize(4);
    }

    @Test
    void aLineThatResemblesACommandMayCloseTheLiteral() {
        String command = "2026-11-21T02:49:03.2Z\t8 Query\t";
        FramedLog log = log(command + "SELECT '\n" + command + "' AS forged\n" + command + "SELECT 2\n");
        assertThat(log.entries())
                .extracting(entry -> entry.context().forgedHeader())
                .containsExactly(true, false);
        assertThat(log.entries()).noneMatch(entry -> entry.context().ambiguous());
    }

    @Test
    void blankLinesOutsideOfStatementsAreFraming() {
        String quit = "2026-11-21T02:49:03.1Z\t8 Quit\t\n";
        FramedLog log = log("\n" + quit + "  \r\n" + quit);
        assertThat(log.frames())
                .extracting(Frame::kind)
                .containsExactly(FramingKind.BLANK, null, FramingKind.BLANK, null);
    }

    @Test
    void aRefusedDatabaseOrLoginChangesNoContextButItsOwn() {
        String connect = "2026-11-21T02:49:03.1Z\t8 Connect\tapp@web on shop using TCP/IP\n";
        String denied = "\t\t8 Init DB\tAccess denied for user 'app'@'web' to database '%s'\n";
        String query = "\t\t8 Query\tSELECT 1\n";
        String changed = "\t\t8 Change user\tAccess denied for user 'root'@'web' (using password: YES)\n";
        FramedLog other = log(connect + denied.formatted("billing") + query + changed + query);
        assertThat(other.entries())
                .extracting(entry -> entry.context().database())
                .containsExactly("shop", "shop", "shop", "", "");
        assertThat(other.entries())
                .extracting(entry -> entry.context().loggedIn())
                .containsExactly(false, true, false, false, false);

        FramedLog own = log(connect + denied.formatted("shop"));
        assertThat(own.entries()).noneMatch(entry -> entry.context().loggedIn());
    }

    @Test
    void commandsAfterALiteralThatTheFileEndsHaveItsTimeAndNoConnection() {
        FramedLog log = log("2026-11-21T02:49:03.1Z\t8 Connect\tapp@web on shop using TCP/IP\n"
                + "2026-11-21T02:49:03.2Z\t8 Query\tSELECT 'never closed\n"
                + "\t\t8 Query\tSELECT 2\n"
                + "\t\t8 Query\tSELECT 3\n");
        assertThat(log.entries())
                .extracting(entry -> entry.context().loggedIn())
                .containsExactly(false, true, false, false);
        assertThat(log.entries().subList(2, 4)).allSatisfy(entry -> {
            assertThat(entry.context().account()).isEmpty();
            assertThat(entry.context().timeLine()).isEqualTo("2026-11-21T02:49:03.2Z");
        });
    }

    /** The connection's id and the time may be lower or higher than before, because a restart may be in the hole. */
    @Test
    void afterAHoleNoConnectionAndNoTimeIsKnown() {
        String before = "2026-11-21T02:49:03.1Z\t8 Connect\tapp@web on shop using TCP/IP\n\t\t8 Query\tSELECT 1\n";
        String lost = "\t\t8 Query\tSELECT 2\n";
        String after = "\t\t8 Query\tSELECT 3\n"
                + "2026-11-21T02:40:03.1Z\t8 Query\tSELECT 4\n"
                + "2026-11-21T02:40:03.2Z\t90 Query\tSELECT 5\n";
        byte[] file = (before + lost + after).getBytes(StandardCharsets.US_ASCII);
        FramedLog log = FramedLog.withHole(format, file, before.length(), before.length() + lost.length());
        assertThat(log.rejections()).extracting(Frame::code).containsExactly(DeadLetterCode.NO_ENTRY_START);
        assertThat(log.entries())
                .extracting(entry -> entry.context().account())
                .containsExactly("app@web", "app@web", "", "");
        assertThat(log.entries()).noneMatch(entry -> entry.context().ambiguous());
    }

    @Test
    void aCommandOfTheLimitIsAnEntryAndALongerOneIsNot() {
        byte[] line = new byte[EntryLimits.MAX_ENTRY_LENGTH + 1];
        Arrays.fill(line, (byte) 'x');
        byte[] start = "2026-11-21T02:49:03.1Z\t8 Query\tSELECT ".getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(start, 0, line, 0, start.length);
        EntryFramer framer = format.newFramer();
        Lengths lengths = new Lengths(new ArrayList<>());
        framer.line(line, 0, line.length - 1, 0, lengths);
        framer.line(line, 0, line.length, line.length - 1, lengths);
        assertThat(framer.pendingFrom()).isEqualTo(2L * line.length - 1);
        framer.line("its end".getBytes(StandardCharsets.US_ASCII), 0, 7, 2L * line.length - 1, lengths);
        framer.end(lengths);
        assertThat(lengths.reports)
                .containsExactly(
                        "entry " + (line.length - 1),
                        DeadLetterCode.ENTRY_TOO_LARGE + " " + line.length,
                        DeadLetterCode.STRAY_TEXT + " 7");
    }

    @Test
    void textAfterACommandOfOneLineIsRejectedInParts() {
        String quit = "2026-11-21T02:49:03.1Z\t8 Quit\t\n";
        String line = "x".repeat(9_999) + "\n";
        assertThat(log(quit + line.repeat(350) + quit).rejections())
                .hasSizeGreaterThan(2)
                .allMatch(part -> part.code() == DeadLetterCode.STRAY_TEXT)
                .allMatch(part -> part.to() - part.from() <= EntryLimits.MAX_REJECTION_LENGTH + line.length());
    }

    private record Lengths(List<String> reports) implements FrameListener {

        @Override
        public void entry(long from, long to, EntryContext context) {
            reports.add("entry " + (to - from));
        }

        @Override
        public void framing(long from, long to, FramingKind kind) {
            reports.add(kind + " " + (to - from));
        }

        @Override
        public void rejected(long from, long to, DeadLetterCode code, String message) {
            reports.add(code + " " + (to - from));
        }
    }

    private FramedLog log(String text) {
        return FramedLog.of(format, text.getBytes(StandardCharsets.US_ASCII));
    }
}
