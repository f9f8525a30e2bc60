package io.tailrace.errorlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryLimits;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.FramedLog.Frame;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where the framer of error logs ends an entry that the log itself does not end. */
class ErrorLogFramerTest {

    private static final String HEADER = "2026-11-21T02:49:00.000000Z 8 [Note] ";
    private static final int LINE = 64 << 10;
    private static final String RULE = "=".repeat(LINE - 1) + "\n";

    private final ErrorLogFormat format = new ErrorLogFormat();

    private FramedLog read(String text) {
        byte[] file = text.getBytes(StandardCharsets.ISO_8859_1);
        FramedLog log = FramedLog.of(format, file);
        assertThat(log.reported()).isEqualTo(file.length);
        return log;
    }

    @Test
    void linesOfEqualsSignsAreCutAtTheLimits() {
        assertThat(read(RULE.repeat(40)).rejections())
                .hasSizeGreaterThan(1)
                .allSatisfy(part -> assertSize(part, EntryLimits.MAX_REJECTION_LENGTH));
        assertThat(read(HEADER + "a\n" + RULE.repeat(80)).entries())
                .hasSizeGreaterThan(1)
                .allSatisfy(part -> assertSize(part, ErrorLogFramer.MAX_ENTRY_LENGTH));
    }

    @Test
    void aDeadlockWithoutEndIsCutAtTheLimit() {
        String line = HEADER + "InnoDB: *** " + "x".repeat(LINE - 100) + "\n";
        assertThat(read(line.repeat(80)).entries())
                .hasSizeGreaterThan(1)
                .allSatisfy(part -> assertSize(part, ErrorLogFramer.MAX_ENTRY_LENGTH));
    }

    private static List<String> times(FramedLog log) {
        return log.entries().stream().map(entry -> entry.context().timeLine()).toList();
    }

    @Test
    void aMonitorsOutputGivesItsTimeToTheLinesAroundIt() {
        String rule = "=".repeat(37) + "\n";
        String monitor = rule + "2026-11-21 02:49:16 0x7f INNODB MONITOR OUTPUT\n" + rule
                + "END OF INNODB MONITOR OUTPUT\n" + rule;
        assertThat(times(read("before\n" + monitor + "after\n")))
                .containsExactly("2026-11-21 02:49:16", "", "2026-11-21 02:49:16");
        assertThat(times(read(HEADER + "a\n" + monitor + "after\n"))).containsExactly("", "", "2026-11-21 02:49:16");
        assertThat(read(HEADER + "Access denied for user 'a'@'b' (using password: NO)\n" + rule)
                        .entries())
                .hasSize(2);
    }

    @Test
    void anApostropheInARecordOfADeadlockStartsNoLiteral() {
        FramedLog log = read(HEADER + "InnoDB: *** (1) TRANSACTION:\n"
                + "MySQL thread id 20, OS thread handle 1, query id 101 localhost root updating\n"
                + "UPDATE t SET a = 1\n"
                + HEADER + "InnoDB: *** (1) HOLDS THE LOCK(S):\n"
                + " 0: len 4; hex 69742773; asc it's;;\n"
                + HEADER + "InnoDB: *** WE ROLL BACK TRANSACTION (2)\n");
        assertThat(log.entries())
                .singleElement()
                .satisfies(entry -> assertThat(entry.context().forgedHeader()).isFalse());
    }

    @Test
    void anUnclosedLiteralEndsWithTheTextOfTheServer() {
        String query = HEADER + "Slave SQL: Error 'x' on query. Query: 'SELECT 'a', Error_code: 1062\n";
        assertThat(read(query + HEADER + "b\n").entries())
                .extracting(Frame::from)
                .containsExactly(0L, (long) query.length());
    }

    @Test
    void anAssertionWithoutTimeBelongsToItsCrash() {
        String reported = HEADER + "Access denied for user 'a'@'b' (using password: NO)\n";
        String crash = "mysqld: a.cc:12: f(): Assertion `x' failed.\n02:51:07 UTC - mysqld got signal 6 ;\n";
        assertThat(read(reported + crash).entries()).extracting(Frame::from).containsExactly(0L, (long)
                reported.length());
    }

    @Test
    void aCrashOfMariaDbEndsWithItsKernelVersion() {
        String advice = "The manual page at http://dev.mysql.com/doc/mysql/en/crashing.html contains\n"
                + "information that should help you find out what is causing the crash.\n";
        String end = "Resource Limits:\nKernel version: Linux\n";
        String signal = HEADER + "mysqld got signal 11 ;\n";
        String mariaDb = signal + "Server version: 10.11.6-MariaDB\n" + advice + end;
        assertThat(read(mariaDb + "next\n").entries()).extracting(Frame::from).containsExactly(0L, (long)
                mariaDb.length());
        assertThat(read(signal + advice + "next\n").entries())
                .extracting(Frame::from)
                .containsExactly(0L, (long) (signal + advice).length());
    }

    @Test
    void afterAHoleLinesWithoutTimeGetTheNextTime() {
        String before = HEADER + "a\n";
        String lost = "lost\n";
        String after = "the rest of a message\n2026-11-21T02:50:00.000000Z 8 [Note] b\n";
        byte[] file = (before + lost + after).getBytes(StandardCharsets.ISO_8859_1);
        FramedLog log = FramedLog.withHole(format, file, before.length(), before.length() + lost.length());
        assertThat(times(log)).containsExactly("", "2026-11-21T02:50:00.000000Z", "");
    }

    @Test
    void linesOfAMessageAreCutAtTheLimit() {
        String line = "x".repeat(LINE - 1) + "\n";
        assertThat(read(HEADER + "a\n" + line.repeat(80)).entries())
                .hasSizeGreaterThan(1)
                .allSatisfy(part -> assertSize(part, ErrorLogFramer.MAX_ENTRY_LENGTH));
    }

    @Test
    void aMessageIsCutAtALineOfALiteralThatResemblesAHeader() {
        String query = HEADER + "Slave SQL: Error 'x' on query. Query: 'SELECT 'a\n";
        String forged = HEADER + "x".repeat(ErrorLogFramer.MAX_ENTRY_LENGTH) + "\n";
        assertThat(read(query + forged + "rest\n").entries())
                .extracting(Frame::from)
                .containsExactly(0L, (long) (query + forged).length());
    }

    /** The limit is a size, wherever in the file the message is. */
    @Test
    void farInTheFileTheLimitIsTheSame() {
        long far = 1L << 40;
        EntryFramer framer = format.newFramer();
        FramedLog out = FramedLog.ofOpen(format, new byte[0]);
        framer.hole(far, out);
        feed(framer, HEADER + "a\nb\n", far, out);
        assertThat(framer.pendingFrom()).isEqualTo(far);
    }

    /** Feeds lines, each in a buffer of its own. */
    private static void feed(EntryFramer framer, String lines, long offset, FramedLog out) {
        long at = offset;
        for (String line : lines.split("(?<=\n)")) {
            byte[] bytes = line.getBytes(StandardCharsets.ISO_8859_1);
            at = framer.line(bytes, 0, bytes.length, at, out);
        }
    }

    /** The quotation mark may be the first byte of a buffer, and may close a literal of the statement as well. */
    @ParameterizedTest
    @ValueSource(strings = {"SELECT 1\n", "SELECT 'a\n"})
    void aStatementThatEndsWithALineFeedEndsBeforeTheTextOfTheServer(String statement) {
        String query = HEADER + "Slave SQL: Error 'x' on query. Query: '" + statement + "', Error_code: 1062\n";
        FramedLog out = FramedLog.ofOpen(format, new byte[0]);
        EntryFramer framer = format.newFramer();
        feed(framer, query + HEADER + "b\n", 0, out);
        assertThat(framer.pendingFrom()).isEqualTo(query.length());
        assertThat(out.entries()).hasSize(1);
    }

    @Test
    void anApostropheAfterTheTextOfTheServerStartsNoLiteral() {
        String query = HEADER + "Slave SQL: Error 'x' on query. Query: 'SELECT 1\n', Error_code: 1062\nit's\n";
        EntryFramer framer = format.newFramer();
        feed(framer, query + HEADER + "b\n", 0, FramedLog.ofOpen(format, new byte[0]));
        assertThat(framer.pendingFrom()).isEqualTo(query.length());
    }

    /** In names of databases, and in a literal between other quotation marks, apostrophes are no quotation marks. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Default database: 'o' neill'. Query: 'SELECT 1'",
                "Default database: ''a'. Query: 'SELECT 'x''",
                "Default database: 'd'. Query: 'SELECT \" ' \"'"
            })
    void aMessageThatTheServerEndedHidesNoOther(String quoted) {
        String query = HEADER + "Slave SQL: Error 'Duplicate entry '1' for key 'a'' on query. " + quoted
                + ", Error_code: 1062\n";
        FramedLog log = read(query + (HEADER + "b\n").repeat(4));
        assertThat(log.entries()).hasSize(5);
        assertThat(log.entries())
                .allSatisfy(entry -> assertThat(entry.context().forgedHeader()).isFalse());
    }

    @Test
    void aValueThatContainsALineFeedIsOneMessage() {
        String next = HEADER + "b\n";
        String value = HEADER + "Duplicate entry 'a\nb' for key 'PRIMARY'\n";
        assertThat(forged(value + next)).containsExactly(false, false);
        String header = HEADER + "Duplicate entry 'a\n" + HEADER + "b' for key 'PRIMARY'\n";
        assertThat(forged(header + next)).containsExactly(true, false);
    }

    @Test
    void aCommentAtTheStartOfAStatementMayContainAHeader() {
        String statement = HEADER + "Unsafe statement. Statement: /* a\n" + HEADER + "b */ DELETE FROM t\n";
        assertThat(forged(statement + HEADER + "b\n")).containsExactly(true, false);
    }

    private List<Boolean> forged(String text) {
        return read(text).entries().stream()
                .map(entry -> entry.context().forgedHeader())
                .toList();
    }

    @Test
    void aDeadlockEndsWithTheTransactionThatIsRolledBack() {
        String end = "*** WE ROLL BACK TRANSACTION (2)\n";
        String start = HEADER + "Transactions deadlock detected, dumping detailed information.\n";
        String query = "MySQL thread id 20, OS thread handle 1, query id 101 localhost root updating\n"
                + "UPDATE t SET a = '\n" + end + "'\n";
        for (String deadlock : List.of(start + end, start + query + end)) {
            assertThat(read(deadlock + "after\n").entries())
                    .extracting(Frame::from)
                    .containsExactly(0L, (long) deadlock.length());
        }
    }

    @Test
    void tenEqualsSignsStartAMonitorsOutputAndFewerDoNot() {
        String message = HEADER + "a\n";
        String output = "\n2026-11-21 02:49:16 0x7f INNODB MONITOR OUTPUT\n";
        for (int signs : List.of(9, 10)) {
            long start = message.length() + (signs == 9 ? "=========\n".length() : 0);
            assertThat(read(message + "=".repeat(signs) + output).entries())
                    .extracting(Frame::from)
                    .containsExactly(0L, start);
        }
    }

    private static void assertSize(Frame part, int limit) {
        assertThat(part.to() - part.from()).isLessThanOrEqualTo(limit + LINE);
    }
}
