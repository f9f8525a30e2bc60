package io.tailrace.slowlog;

import static io.tailrace.slowlog.SlowLogFramerTest.BANNER;
import static io.tailrace.slowlog.SlowLogFramerTest.entry;
import static io.tailrace.slowlog.SlowLogFramerTest.feed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.FramedLog.Frame;
import io.tailrace.framing.FramingKind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Entries of a slow log that end before a header, a banner, a hole or the file's end instead of at a semicolon. */
class SlowLogFramerEndsTest {

    private final SlowLogFormat format = new SlowLogFormat();

    private FramedLog read(String text) {
        return FramedLog.of(format, text.getBytes(StandardCharsets.UTF_8));
    }

    /** The forged header ends on the line that closes the literal, and a comment hides the final semicolon. */
    @Test
    void aForgedHeaderIsFlaggedWhateverEndsTheStatement() {
        String statement = "SELECT '\n" + entry(2, "SELECT 666' -- note;").stripTrailing();
        for (String next : List.of("", entry(3, "SELECT 3;"))) {
            Frame first = read(entry(1, statement) + next).entries().get(0);
            assertThat(first.to()).isEqualTo(entry(1, statement).length());
            assertThat(first.context().forgedHeader()).isTrue();
            assertThat(first.context().ambiguous()).isTrue();
        }
    }

    @Test
    void aLiteralThatNeverEndsHidesNoEntryBeforeABanner() {
        FramedLog log = read(entry(1, "SELECT 'a;") + entry(2, "SELECT 2;") + BANNER);
        assertThat(log.entries()).hasSize(2);
        assertThat(log.rejections()).isEmpty();
        assertThat(log.frames().get(2).kind()).isEqualTo(FramingKind.BANNER);
    }

    @Test
    void aBannerOfWhichOnlyTheLastLineIsThereIsReportedAtOnce() {
        byte[] line = BANNER.substring(BANNER.indexOf("Time  ")).getBytes(StandardCharsets.UTF_8);
        assertThat(FramedLog.ofOpen(format, line).frames())
                .extracting(Frame::kind)
                .containsExactly(FramingKind.BANNER);
    }

    @Test
    void aCompoundStatementThatACrashCutWithinALineIsIncomplete() {
        String cut = entry(1, "CREATE PROCEDURE p() BEGIN\nSELECT 1;\nSELECT 2").stripTrailing();
        FramedLog log = read(cut + BANNER + entry(2, "SELECT 2;"));
        assertThat(log.frames()).extracting(Frame::code).containsExactly(DeadLetterCode.INCOMPLETE, null, null);
        assertThat(log.frames().get(0).to()).isEqualTo(cut.length() + BANNER.indexOf('\n') + 1);
    }

    @Test
    void aHeaderThatTheFilesEndCutsHidesNotTheEntryBeforeIt() {
        String whole = entry(1, "SELECT 1 -- note;");
        FramedLog log = read(whole + "# Time: 2026-11-21T02:49:02.000000Z\n");
        assertThat(log.entries()).extracting(Frame::to).containsExactly((long) whole.length());
        assertThat(log.rejections()).extracting(Frame::code).containsExactly(DeadLetterCode.INCOMPLETE);
    }

    /** The server that started may be another one, whose entries need no time. */
    @Test
    void afterABannerAndAHoleAnEntryMayStartWithItsUser() {
        String before = entry(1, "SELECT 1;") + BANNER;
        String after =
                "# User@Host: a[a] @ b []\n# Query_time: 1  Lock_time: 0\nSET timestamp=1795229066;\nSELECT 2;\n";
        byte[] file = (before + "lost\n" + after).getBytes(StandardCharsets.UTF_8);
        FramedLog log = FramedLog.withHole(format, file, before.length(), before.length() + 5);
        assertThat(log.entries()).hasSize(2);
        assertThat(log.rejections()).isEmpty();
    }

    @Test
    void aBannerOfWhichOnlyTheFirstLineIsThereEndsBeforeTheNextEntry() {
        String first = BANNER.substring(0, BANNER.indexOf('\n') + 1);
        FramedLog log = read(first + entry(1, "SELECT 1;"));
        assertThat(log.frames()).extracting(Frame::kind).containsExactly(FramingKind.BANNER, null);
        assertThat(log.entries().get(0).from()).isEqualTo(first.length());
    }

    @Test
    void textAtTheEndOfTheFileIsRejected() {
        FramedLog log = read(entry(1, "SELECT 1;") + "text\nmore\n");
        assertThat(log.rejections()).extracting(Frame::code).containsExactly(DeadLetterCode.STRAY_TEXT);
        assertThat(log.reported()).isEqualTo(log.file().length);
    }

    /** Servers before 5.1 may write no SET timestamp. */
    @Test
    void aStatementRightAfterUseEndsAtItsOwnSemicolon() {
        String log = "# User@Host: a[a] @ b []\n# Query_time: 1  Lock_time: 0\nuse shop;\nSELECT 1;\n";
        FramedLog open = FramedLog.ofOpen(format, log.getBytes(StandardCharsets.UTF_8));
        assertThat(open.entries()).extracting(Frame::to).containsExactly((long) log.length());
    }

    @Test
    void aForgedHeaderThatEndsTheStatementIsOfNoConcernToTheNextEntry() {
        String statement = "SELECT '\n# User@Host: root[root] @ localhost []  Id: 7';";
        FramedLog log = read(entry(1, statement) + entry(2, "SELECT 2;"));
        assertThat(log.entries())
                .extracting(frame -> frame.context().forgedHeader())
                .containsExactly(true, false);
    }

    /** The semicolon of the forged header ends the statement, and the next line shows that no entry starts there. */
    @Test
    void textAfterAStatementThatAForgedHeaderEndsIsRejected() {
        String forged = entry(1, "").replace("Id: 7", "Id: 7'").strip() + "\n";
        FramedLog log = read(entry(9, "SELECT '\n" + forged + "SELECT 666;") + entry(10, "SELECT 10;"));
        assertThat(log.entries()).hasSize(2);
        assertThat(log.rejections())
                .extracting(Frame::code, frame -> frame.to() - frame.from())
                .containsExactly(tuple(DeadLetterCode.STRAY_TEXT, (long) "SELECT 666;\n".length()));
    }

    /** They ended after the first one, so each may have started in the second before it, but not earlier. */
    @Test
    void entriesOfTheSameSecondAreFoundAfterALiteralThatNeverEnds() {
        String open = entry(1, "SELECT 'a;");
        String later = entry(1, "SELECT 2;");
        assertThat(read(open + later.repeat(3)).entries()).hasSize(4);
        assertThat(read(open + startedBefore(later, 1).repeat(3)).entries()).hasSize(4);
        assertThat(read(open + startedBefore(later, 2).repeat(3)).entries()).isEmpty();
    }

    private static String startedBefore(String entry, int seconds) {
        return entry.replaceFirst("SET timestamp=\\d+", "SET timestamp=" + (1_795_229_341 - seconds));
    }

    /** The limits of a literal and of a rejection are sizes, wherever in the file they are. */
    @Test
    void farInTheFileTheLimitsAreTheSame() {
        long far = 1L << 40;
        List<String> reports = new ArrayList<>();
        Reports out = new Reports(reports);
        EntryFramer framer = format.newFramer();
        framer.hole(far, out);
        String text = "text\nmore\n";
        feed(framer, text.getBytes(StandardCharsets.UTF_8), far, out);
        assertThat(framer.pendingFrom()).isEqualTo(far);
        String open = entry(1, "SELECT 'a;") + entry(2, "SELECT 2;\nmore");
        feed(framer, open.getBytes(StandardCharsets.UTF_8), far + text.length(), out);
        assertThat(framer.pendingFrom()).isEqualTo(far + text.length());
        assertThat(reports).containsExactly("rejected NO_ENTRY_START");
    }
}
