package io.tailrace.reassembly;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.PostingKind;
import io.tailrace.framing.DeadLetterCode;
import org.junit.jupiter.api.Test;

/** When a file is ended without a census, and how long its lines are recognized. */
class EndedFilesTest {

    private static final long RETENTION = 3_600_000;
    /** Period in which single lines of an ended file are recognized, milliseconds. */
    private static final long LATE = 600_000;

    private static final long ENDED_AT = 2_000;
    private static final String FILE = "E one;\nE two;\nE three;\nE four;\nE five;\n";
    private static final String OTHER = "E other " + "x".repeat(60) + ";\n";
    private static final long LAST_LINE = FILE.indexOf("E five");

    private static PlainLog log(int liveGenerations) {
        return new PlainLog(
                new ReassemblyLimits(1 << 17, 30_000, 1 << 20, 16, 1 << 15, 1024, 1 << 14, RETENTION, liveGenerations));
    }

    @Test
    void beyondTheLimitTheFileEndsWhoseLatestLinesAreTheOldest() {
        PlainLog log = log(2);
        log.lines(0, "E first\n", 1_000);
        log.lines(0, "E two\n", 2_000);
        log.lines(8, " more\n", 3_000);
        log.restart(4_000);
        assertThat(log.output.remaining(2)).isEmpty();
        log.lines(0, "E three\n", 5_000);
        log.tick(6_000);
        assertThat(log.output.remaining(1)).isEmpty();
        assertThat(log.output.remaining(2))
                .containsExactly(
                        new CollectedOutput.Piece(PostingKind.DEAD_LETTER, DeadLetterCode.INCOMPLETE.name(), 0, 6));
        assertThat(log.output.remaining(3)).isEmpty();
    }

    /** The only file ends when another one starts. */
    private static PlainLog ended() {
        PlainLog log = log(1);
        log.lines(0, FILE, 1_000);
        log.lines(0, OTHER, ENDED_AT);
        return log;
    }

    @Test
    void anEndedFileIsRecognizedUntilTheRetentionIsOver() {
        PlainLog log = ended();
        log.tick(ENDED_AT + RETENTION - 1);
        assertThat(log.nextTick(ENDED_AT + RETENTION - 1)).isEqualTo(ENDED_AT + RETENTION + 999);
        log.lines(0, FILE, ENDED_AT + RETENTION - 1);
        log.restart(ENDED_AT + RETENTION - 1);
        assertThat(log.output.bytes(1, PostingKind.DUPLICATE)).isEqualTo(FILE.length());

        log.tick(ENDED_AT + RETENTION);
        log.lines(0, FILE, ENDED_AT + RETENTION);
        log.tick(ENDED_AT + RETENTION);
        assertThat(log.output.bytes(1, PostingKind.DUPLICATE)).isEqualTo(FILE.length());
        assertThat(log.output.bytes(3, PostingKind.ENTRY)).isEqualTo(FILE.length());
    }

    @Test
    void nothingOfAForgottenFileIsStored() {
        PlainLog log = log(1);
        log.lines(0, FILE + "E pending\n", 1_000);
        log.restart(1_500);
        log.lines(0, OTHER, ENDED_AT);
        log.restart(ENDED_AT);
        int stored = log.store.size();
        log.tick(ENDED_AT + RETENTION);
        log.restart(ENDED_AT + RETENTION);
        assertThat(log.store.size()).isLessThan(stored);
        PlainLog other = log(1);
        other.lines(0, OTHER, ENDED_AT);
        other.restart(ENDED_AT);
        assertThat(log.store.size()).isEqualTo(other.store.size());
    }

    /** With a gap, the lines beside it are stored too. */
    @Test
    void nothingOfAForgottenGapIsStored() {
        PlainLog log = log(1);
        log.lines(0, FILE + "E pending\n", 1_000);
        log.lines(2L * FILE.length(), "rest\nE six;\n", 2_000);
        log.tick(40_000);
        assertThat(log.output.remaining(1))
                .extracting(CollectedOutput.Piece::kind)
                .contains(PostingKind.GAP);
        log.restart(40_000);
        log.lines(0, OTHER, 50_000);
        log.restart(50_000);
        log.tick(50_000 + RETENTION);
        log.restart(50_000 + RETENTION);
        PlainLog other = log(1);
        other.lines(0, OTHER, ENDED_AT);
        other.restart(ENDED_AT);
        assertThat(log.store.size()).isEqualTo(other.store.size());
    }

    @Test
    void anEndedFileThatStillExistsIsNotForgotten() {
        PlainLog log = ended();
        log.census(PlainLog.PATH + ".1", 1, FILE, ENDED_AT + RETENTION);
        log.tick(ENDED_AT + RETENTION);
        log.lines(0, FILE, ENDED_AT + RETENTION);
        log.tick(ENDED_AT + RETENTION);
        assertThat(log.output.bytes(1, PostingKind.DUPLICATE)).isEqualTo(FILE.length());
    }

    @Test
    void aSingleLineOfAnEndedFileIsADuplicateForTenMinutes() {
        PlainLog log = ended();
        log.tick(ENDED_AT + LATE - 1);
        log.lines(LAST_LINE, "E five;\n", ENDED_AT + LATE - 1);
        log.tick(ENDED_AT + LATE - 1);
        assertThat(log.output.bytes(1, PostingKind.DUPLICATE)).isEqualTo("E five;\n".length());
        assertThat(log.output.deadLetters).isEmpty();
    }

    @Test
    void aSingleLineOfTheBeginningIsADuplicateEvenLater() {
        PlainLog log = ended();
        log.tick(ENDED_AT + LATE);
        log.lines(FILE.indexOf("E two"), "E two;\n", ENDED_AT + LATE);
        log.tick(ENDED_AT + LATE);
        assertThat(log.output.bytes(1, PostingKind.DUPLICATE)).isEqualTo("E two;\n".length());
    }

    @Test
    void aSingleLineOfAnEndedFileIsAConflictAfterTenMinutes() {
        PlainLog log = ended();
        log.tick(ENDED_AT + LATE);
        log.lines(LAST_LINE, "E five;\n", ENDED_AT + LATE);
        log.tick(ENDED_AT + LATE + 30_000);
        assertThat(log.output.bytes(1, PostingKind.DUPLICATE)).isZero();
        assertThat(log.output.deadLetters)
                .extracting(DeadLetter::getCode)
                .containsExactly(DeadLetterCode.OFFSET_CONFLICT.name());
    }
}
