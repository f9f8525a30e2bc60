package io.tailrace.reassembly;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.PostingKind;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How long lines after a hole wait for what is missing. */
class HeldLinesTest {

    private static final long PATIENCE = 30_000;
    private static final int MOST_BYTES = 21;
    private static final String LINE = "E one;\n";
    private static final String OTHER_LINE = "E six;\n";
    private static final String NEW_FILE = OTHER_LINE.repeat(6) + "E\n";
    private static final long AFTER_HOLE = 2 * LINE.length();
    private static final CollectedOutput.Piece GAP =
            new CollectedOutput.Piece(PostingKind.GAP, "lost", LINE.length(), AFTER_HOLE);

    private final PlainLog log = new PlainLog(
            new ReassemblyLimits(MOST_BYTES, PATIENCE, 1 << 20, 1 << 16, 1 << 15, 1024, 1 << 14, 1L << 40, 16));

    private List<CollectedOutput.Piece> gapsAt(long now) {
        log.tick(now);
        return log.output.remaining(1).stream()
                .filter(piece -> piece.kind() == PostingKind.GAP)
                .toList();
    }

    @Test
    void withoutACensusTheirArrivalCounts() {
        log.lines(0, LINE, 1_000);
        log.lines(AFTER_HOLE, LINE, 2_000);
        assertThat(log.nextTick(2_000)).isEqualTo(3_000);
        assertThat(gapsAt(1_999 + PATIENCE)).isEmpty();
        assertThat(gapsAt(2_000 + PATIENCE)).containsExactly(GAP);
    }

    /** The collector may be down: then its clock does not advance, and the missing lines may still arrive. */
    @Test
    void withACensusTheCollectorsTimeCountsToo() {
        String file = LINE.repeat(3);
        log.census(PlainLog.PATH, 1, file, 500);
        log.lines(0, LINE, 1_000);
        log.lines(AFTER_HOLE, LINE, 2_000);
        assertThat(gapsAt(10 * PATIENCE)).isEmpty();
        log.census(PlainLog.PATH, 1, file, 1_999 + PATIENCE);
        assertThat(gapsAt(11 * PATIENCE)).isEmpty();
        log.census(PlainLog.PATH, 1, file, 2_000 + PATIENCE);
        assertThat(gapsAt(12 * PATIENCE)).containsExactly(GAP);
    }

    @Test
    void linesBeyondTheLimitOfBytesDoNotWait() {
        log.lines(0, LINE, 1_000);
        log.lines(AFTER_HOLE, LINE.repeat(3), 2_000);
        assertThat(gapsAt(3_000)).isEmpty();
        log.lines(AFTER_HOLE + MOST_BYTES, LINE, 4_000);
        assertThat(gapsAt(5_000)).containsExactly(GAP);
    }

    /** Two files lack the bytes at these offsets: the renamed one its end, the new one a line in its middle. */
    @Test
    void lateLinesFillTheGapOfTheFileUnderTheirPath() {
        log.census(PlainLog.PATH, 1, LINE.repeat(3), 500);
        log.lines(0, LINE.repeat(2), 1_000);
        log.census(PlainLog.PATH + ".1", 1, LINE.repeat(3), 2_000);
        log.census(PlainLog.PATH, 2, NEW_FILE, 2_000);
        log.lines(0, OTHER_LINE.repeat(2), 3_000);
        log.lines(AFTER_HOLE + LINE.length(), OTHER_LINE.repeat(3) + "E\n", 4_000);
        log.tick(5_000);
        assertThat(log.output.remaining(2)).contains(new CollectedOutput.Piece(PostingKind.GAP, "lost", 14, 21));

        log.lines(AFTER_HOLE, OTHER_LINE, 6_000);
        log.census(PlainLog.PATH, 2, NEW_FILE, 7_000);
        log.tick(8_000);
        assertThat(log.output.bytes(2, PostingKind.GAP)).isZero();
        assertThat(log.output.bytes(1, PostingKind.ENTRY)).isEqualTo(2L * LINE.length());
    }

    /** The lines may be the first of their log, before any census and posting. */
    @Test
    void aDeadLetterHasTheClusterOfItsLines() {
        log.lines(0, "stray\n" + LINE, 1_000);
        assertThat(log.output.deadLetters).extracting(DeadLetter::getCluster).containsExactly("c");
    }
}
