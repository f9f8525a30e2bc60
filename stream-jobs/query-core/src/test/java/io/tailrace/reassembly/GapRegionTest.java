package io.tailrace.reassembly;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.EventId;
import io.tailrace.event.PostingKind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The entries around a gap that is filled, partly or in several steps. A few bytes after the gap are stored with it. */
class GapRegionTest {

    private static final long PATIENCE = 30_000;
    private static final int STORED_BYTES = 16;
    private static final String BEFORE = "E one;\nE two\n";
    private static final String LOST = "x\n";
    private static final String REST_OF_ENTRY = "y;\n";
    private static final String STRAY = "stray, twenty bytes\n";
    private static final String STORED = "stray\n";
    private static final String AFTER = "E three;\n";

    private static final int ENTRY = "E one;\n".length();
    private static final int GAP = BEFORE.length();
    private static final int SKIPPED = GAP + LOST.length();
    private static final int STRAY_FROM = SKIPPED + REST_OF_ENTRY.length();
    private static final int NEXT = STRAY_FROM + STRAY.length();
    private static final int END = NEXT + AFTER.length();

    private final PlainLog log = new PlainLog(
            new ReassemblyLimits(1 << 17, PATIENCE, 1 << 20, 1 << 16, 1 << 15, 1024, STORED_BYTES, 1L << 40, 16));

    private void loseLines() {
        log.lines(0, BEFORE, 1_000);
        log.lines(SKIPPED, REST_OF_ENTRY + STRAY + AFTER, 2_000);
        log.tick(3_000 + PATIENCE);
        assertThat(log.output.remaining(1))
                .containsExactly(
                        new CollectedOutput.Piece(PostingKind.ENTRY, "", 0, ENTRY),
                        new CollectedOutput.Piece(PostingKind.DEAD_LETTER, "INCOMPLETE", ENTRY, GAP),
                        new CollectedOutput.Piece(PostingKind.GAP, "lost", GAP, SKIPPED),
                        new CollectedOutput.Piece(PostingKind.DEAD_LETTER, "NO_ENTRY_START", SKIPPED, NEXT),
                        new CollectedOutput.Piece(PostingKind.ENTRY, "", NEXT, END));
    }

    private void assertFilled() {
        assertThat(log.output.remaining(1))
                .containsExactly(
                        new CollectedOutput.Piece(PostingKind.ENTRY, "", 0, STRAY_FROM),
                        new CollectedOutput.Piece(PostingKind.DEAD_LETTER, "NO_ENTRY_START", STRAY_FROM, NEXT),
                        new CollectedOutput.Piece(PostingKind.ENTRY, "", NEXT, END));
        assertThat(log.output.count(1, PostingKind.DEAD_LETTER)).isEqualTo(1);
    }

    @Test
    void oneBackfillReplacesTheSkippedBytes() {
        loseLines();
        log.backfill(GAP, LOST + REST_OF_ENTRY + STRAY, 1, 4_000 + PATIENCE);
        log.tick(5_000 + PATIENCE);
        assertFilled();
    }

    /** No dead letter has the rest of the skipped bytes, so they are lost until they arrive. */
    @Test
    void theRestOfUnstoredBytesIsAGapBetweenTwoBackfills() {
        loseLines();
        log.backfill(GAP, LOST + REST_OF_ENTRY, 1, 4_000 + PATIENCE);
        log.restart(5_000 + PATIENCE);
        assertThat(log.output.remaining(1))
                .containsExactly(
                        new CollectedOutput.Piece(PostingKind.ENTRY, "", 0, STRAY_FROM),
                        new CollectedOutput.Piece(PostingKind.GAP, "lost", STRAY_FROM, NEXT),
                        new CollectedOutput.Piece(PostingKind.ENTRY, "", NEXT, END));

        log.backfill(STRAY_FROM, STRAY, 1, 6_000 + PATIENCE);
        log.tick(7_000 + PATIENCE);
        assertFilled();
        log.lines(NEXT, AFTER, 8_000 + PATIENCE);
        log.tick(9_000 + 2 * PATIENCE);
        assertThat(log.output.bytes(1, PostingKind.DUPLICATE)).isEqualTo(AFTER.length());
    }

    /** Only the first of two gaps is filled, and the bytes between them are stored. */
    @Test
    void theRestOfADeadLetterStaysOneWhileASecondGapIsMissing() {
        int secondGap = STRAY_FROM + STORED.length();
        int next = secondGap + LOST.length();
        log.lines(0, BEFORE, 1_000);
        log.lines(SKIPPED, REST_OF_ENTRY + STORED, 2_000);
        log.tick(3_000 + PATIENCE);
        log.lines(next, AFTER, 3_000 + PATIENCE);
        log.tick(4_000 + 2 * PATIENCE);
        log.output.assertTiled(1, next + AFTER.length());
        log.backfill(GAP, LOST, 1, 5_000 + 2 * PATIENCE);
        log.restart(6_000 + 2 * PATIENCE);
        assertThat(log.output.remaining(1))
                .containsExactly(
                        new CollectedOutput.Piece(PostingKind.ENTRY, "", 0, STRAY_FROM),
                        new CollectedOutput.Piece(PostingKind.DEAD_LETTER, "NO_ENTRY_START", STRAY_FROM, secondGap),
                        new CollectedOutput.Piece(PostingKind.GAP, "lost", secondGap, next),
                        new CollectedOutput.Piece(PostingKind.ENTRY, "", next, next + AFTER.length()));
        assertThat(valid()).containsExactly(STORED);

        log.backfill(secondGap, LOST, 1, 7_000 + 2 * PATIENCE);
        log.tick(8_000 + 2 * PATIENCE);
        log.output.assertTiled(1, next + AFTER.length());
        assertThat(valid()).containsExactly(STORED + LOST);
    }

    /** Returns the bytes of the dead letters that are not superseded. */
    private List<String> valid() {
        Map<EventId, DeadLetter> letters = new LinkedHashMap<>();
        log.output.deadLetters.forEach(letter -> letters.put(letter.getDeadLetterId(), letter));
        return letters.values().stream()
                .filter(letter -> !letter.getSuperseded())
                .map(letter -> ISO_8859_1.decode(letter.getRaw().duplicate()).toString())
                .toList();
    }
}
