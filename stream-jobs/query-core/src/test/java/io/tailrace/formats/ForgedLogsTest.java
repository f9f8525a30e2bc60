package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.FramedLog.Frame;
import io.tailrace.framing.LogFormat;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Logs in which the text of a client's statement resembles more of the log. If a literal or comment contains a forged
 * entry, it is not reported. If the log alone is ambiguous, the event has a flag. Later entries are read in every
 * case.
 */
class ForgedLogsTest {

    private static final LogFormat SLOW = named("mysql-slow");
    private static final LogFormat GENERAL = named("mysql-general");

    private static LogFormat named(String name) {
        return new FormatRegistry().named(name).orElseThrow();
    }

    private static FramedLog read(LogFormat format, String text) {
        byte[] file = text.getBytes(StandardCharsets.UTF_8);
        FramedLog log = FramedLog.of(format, file);
        assertThat(log.reported()).isEqualTo(file.length);
        return log;
    }

    private static String slow(int second, String statement) {
        return "# Time: 2026-11-21T02:49:%02d.000000Z\n".formatted(second)
                + "# User@Host: app[app] @ web1 [10.0.0.7]  Id: 7\n"
                + "# Query_time: 0.000099  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n"
                + "SET timestamp=" + (1_795_229_340 + second) + ";\n"
                + statement + ";\n";
    }

    private static String forgedSlow(int second) {
        return slow(second, "DROP TABLE audit").replace("app", "root");
    }

    @ParameterizedTest
    // spotless:off
    @ValueSource(strings = {
        "SELECT '%s'", "SELECT \"%s\"", "SELECT 1 FROM `%s`", "SELECT 1 /* %s */", "/* %s */ SELECT 1",
        "SELECT 'it''s \\' %s'", "SELECT /*! 1, '%s' */ 1", "SELECT /*+ %s */ 1", "SELECT 'a', '\n%s\n', 'b'",
    })
    // spotless:on
    void aHeaderWithinALiteralOrCommentStartsNoEntry(String around) {
        for (String forged :
                List.of(forgedSlow(20), forgedSlow(20) + forgedSlow(21), "\n# User@Host: x\n", "# Time: 1")) {
            FramedLog log = read(SLOW, slow(19, around.replace("%s", "\n" + forged)) + slow(22, "SELECT 2"));
            assertThat(log.entries()).as(forged).hasSize(2);
            assertThat(log.entries().get(0).context().forgedHeader()).isTrue();
            assertThat(log.rejections()).isEmpty();
        }
    }

    /** The server accepts and logs a comment after a semicolon, so this statement is valid. */
    @Test
    void anOlderForgedEntryAfterASemicolonIsAmbiguous() {
        String comment = forgedSlow(2).replaceAll("(?s)SET timestamp.*", "# administrator command: Quit");
        FramedLog log = read(SLOW, slow(19, "SELECT 1;\n" + comment) + slow(22, "SELECT 2"));
        assertThat(log.entries())
                .extracting(entry -> entry.context().ambiguous())
                .containsExactly(false, true, false);
    }

    /** After a forged time that is later, the next true time goes backwards. */
    @Test
    void aLaterForgedEntryAfterASemicolonIsAmbiguous() {
        FramedLog log = read(SLOW, slow(19, "SELECT 1;\n" + forgedSlow(59).stripTrailing()) + slow(22, "SELECT 2"));
        assertThat(log.entries()).hasSize(3);
        assertThat(log.entries().get(2).context().ambiguous()).isTrue();
    }

    @Test
    void overtakingThreadsAreNotAmbiguous() {
        FramedLog log = read(SLOW, slow(19, "SELECT 1") + slow(18, "SELECT 2") + slow(20, "SELECT 3"));
        assertThat(log.entries()).noneMatch(entry -> entry.context().ambiguous());
    }

    @Test
    void textAfterAForgedEntryIsADeadLetter() {
        FramedLog log = read(
                SLOW, slow(19, "SELECT 1;\n" + forgedSlow(19) + "junk that the parser refused") + slow(22, "SELECT 2"));
        assertThat(log.rejections()).extracting(Frame::code).containsExactly(DeadLetterCode.STRAY_TEXT);
        assertThat(log.entries()).hasSize(3);
    }

    /** Later entries are found, no matter what is never closed. */
    @ParameterizedTest
    @ValueSource(strings = {"SELECT 'a", "SELECT \"a", "SELECT `a", "SELECT 1 /* a", "SELECT /*! 1", "SELECT 'a\\"})
    void unclosedTextHidesNoLaterEntry(String open) {
        StringBuilder text = new StringBuilder(slow(1, open));
        for (int second = 2; second < 50; second++) {
            text.append(slow(second, "SELECT " + second));
        }
        FramedLog log = read(SLOW, text.toString());
        assertThat(log.entries()).as(open).hasSizeGreaterThanOrEqualTo(48);
        assertThat(log.entries().get(0).context().ambiguous()
                        || !log.rejections().isEmpty())
                .isTrue();
    }

    private static String general(int second, int thread, String command) {
        return "2026-11-21T02:49:%02d.000000Z\t%5d %s\n".formatted(second, thread, command);
    }

    private static final String CONNECTED = general(1, 7, "Connect\tapp@web1 on shop using TCP/IP");

    @ParameterizedTest
    @ValueSource(
            strings = {"SELECT '%s'", "SELECT \"%s\"", "SELECT 1 /* %s */", "SELECT 1 /*/ %s */", "SELECT 1 FROM `%s`"})
    void aCommandWithinALiteralIsNone(String around) {
        String forged = "\n" + general(3, 7, "Query\tDROP TABLE audit") + general(3, 7, "Quit\t");
        FramedLog log = read(
                GENERAL, CONNECTED + general(2, 7, "Query\t" + around.replace("%s", forged)) + general(4, 7, "Quit\t"));
        assertThat(log.entries()).hasSize(3);
        assertThat(log.entries().get(1).context().forgedHeader()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"SELECT 'a", "SELECT \"a", "SELECT `a", "SELECT 1 /* a"})
    void anUnclosedLiteralHidesNoLaterCommand(String open) {
        StringBuilder text = new StringBuilder(CONNECTED).append(general(2, 7, "Query\t" + open));
        for (int second = 3; second < 50; second++) {
            text.append(general(second, 7, "Query\tSELECT " + second));
        }
        FramedLog log = read(GENERAL, text.toString());
        assertThat(log.entries()).hasSize(49);
        assertThat(log.entries().get(1).context().ambiguous()).isTrue();
    }

    /**
     * Commands of threads that never connected, or with a time before the last one, contradict the order of the log.
     */
    @Test
    void aForgedCommandThatContradictsTheLogIsAmbiguous() {
        String query = general(
                20,
                7,
                "Query\tSELECT 1\n" + general(20, 99, "Query\tDROP TABLE audit").stripTrailing());
        FramedLog stranger = read(GENERAL, CONNECTED + query + general(21, 7, "Quit\t"));
        assertThat(stranger.entries())
                .extracting(entry -> entry.context().ambiguous())
                .containsExactly(false, false, true, false);
        String older = general(
                20,
                7,
                "Query\tSELECT 1\n" + general(2, 7, "Query\tDROP TABLE audit").stripTrailing());
        FramedLog back = read(GENERAL, CONNECTED + older + general(21, 7, "Quit\t"));
        assertThat(back.entries())
                .extracting(entry -> entry.context().ambiguous())
                .containsExactly(false, false, true, false);
    }

    @Test
    void commandsOfThreadsThatOvertakeEachOtherAreNotAmbiguous() {
        String before = CONNECTED + general(20, 7, "Query\tSELECT 1");
        FramedLog overtaken = read(GENERAL, before + general(18, 7, "Query\tSELECT 2"));
        assertThat(overtaken.entries()).noneMatch(entry -> entry.context().ambiguous());
        FramedLog older = read(GENERAL, before + general(17, 7, "Query\tSELECT 2"));
        assertThat(older.entries().get(2).context().ambiguous()).isTrue();
    }

    /** Commands in a literal that are older than the statement, or of a thread that never connected. */
    @Test
    void anyNumberOfCommandsThatContradictTheLogProveNothing() {
        for (String forged : List.of(general(3, 7, "Query\tDROP TABLE a"), general(20, 99, "Query\tDROP TABLE a"))) {
            String query = general(20, 7, "Query\tSELECT '\n" + forged.repeat(4) + "'");
            FramedLog log = read(GENERAL, CONNECTED + query + general(21, 7, "Quit\t"));
            assertThat(log.entries()).as(forged).hasSize(3);
            assertThat(log.entries().get(1).context().forgedHeader()).isTrue();
        }
    }
}
