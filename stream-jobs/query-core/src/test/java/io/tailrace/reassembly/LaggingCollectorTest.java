package io.tailrace.reassembly;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.PostingKind;
import org.junit.jupiter.api.Test;

/** Whether the end of a file counts as lost while its collector has fallen behind. Times are epoch milliseconds. */
class LaggingCollectorTest {

    private static final long PATIENCE = 30_000;
    /** Lines this much older than the newest census are the oldest that show no lag. */
    private static final long NO_LAG = 10_000;

    private static final String RENAMED = PlainLog.PATH + ".1";
    private static final String READ = "E one;\n";
    private static final String FILE = READ + "E two;\n";
    private static final String NEW_FILE = "E other;\nE more;\n";
    private static final CollectedOutput.Piece TAIL =
            new CollectedOutput.Piece(PostingKind.GAP, "tail_lost", READ.length(), FILE.length());

    /** The census shows at this time that the renamed file has ended. */
    private static final long ENDED = 62_000;
    /** Lines of the new file arrive at this time. */
    private static final long ARRIVED = 80_000;

    private final PlainLog log = new PlainLog(ReassemblyLimits.defaults());

    private void census(long at) {
        log.census(RENAMED, 1, FILE, at);
        log.census(PlainLog.PATH, 2, NEW_FILE, at);
        log.tick(at);
    }

    private boolean isTailLost(long now) {
        log.tick(now);
        return log.output.postings.stream().anyMatch(row -> "tail_lost".equals(row.getDetail()));
    }

    /** The renamed file has ended, and lines that the collector read before the newest census arrive after it. */
    private void linesArriveLate(long olderByMillis) {
        log.census(PlainLog.PATH, 1, READ, 500);
        log.lines(0, READ, 1_000);
        census(2_000);
        census(ENDED);
        log.lines(0, NEW_FILE, ENDED - olderByMillis, ARRIVED);
        log.restart(ARRIVED);
        log.census(PlainLog.PATH, 2, NEW_FILE, ENDED + PATIENCE);
    }

    @Test
    void theLastLinesAreLostHalfAMinuteAfterTheEnd() {
        linesArriveLate(NO_LAG);
        assertThat(isTailLost(ENDED + PATIENCE)).isTrue();
        assertThat(log.output.remaining(1)).contains(TAIL);
    }

    @Test
    void afterLaggingLinesTheLastLinesOfAnotherFileMayStillArrive() {
        linesArriveLate(NO_LAG + 1);
        assertThat(isTailLost(ARRIVED + PATIENCE - 1)).isFalse();
        log.lines(READ.length(), FILE.substring(READ.length()), 1_500, ARRIVED + PATIENCE - 1);
        assertThat(isTailLost(ARRIVED + 10 * PATIENCE)).isFalse();
        assertThat(log.output.bytes(1, PostingKind.ENTRY)).isEqualTo(FILE.length());
    }

    @Test
    void halfAMinuteAfterTheLaggingLinesTheLastLinesAreLost() {
        linesArriveLate(NO_LAG + 1);
        assertThat(isTailLost(ARRIVED + PATIENCE)).isTrue();
        assertThat(log.output.remaining(1)).contains(TAIL);
    }

    /** Without the lag, the file would be lost as soon as it has ended. */
    @Test
    void aFileOfWhichNothingArrivedIsNotLostWhileLinesLag() {
        long lagged = ENDED - PATIENCE / 2;
        census(2_000);
        census(lagged);
        log.lines(0, NEW_FILE, lagged - NO_LAG - 1, lagged);
        census(ENDED);
        census(lagged + PATIENCE - 1);
        assertThat(isTailLost(lagged + PATIENCE - 1)).isFalse();
        census(lagged + PATIENCE);
        assertThat(isTailLost(lagged + PATIENCE)).isTrue();
    }
}
