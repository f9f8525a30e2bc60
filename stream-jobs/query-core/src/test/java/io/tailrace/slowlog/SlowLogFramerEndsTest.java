package io.tailrace.slowlog;

import static io.tailrace.slowlog.SlowLogFramerTest.BANNER;
import static io.tailrace.slowlog.SlowLogFramerTest.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.FramedLog.Frame;
import io.tailrace.framing.FramingKind;
import java.nio.charset.StandardCharsets;
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
}
