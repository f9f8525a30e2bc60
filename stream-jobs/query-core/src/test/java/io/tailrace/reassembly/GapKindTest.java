package io.tailrace.reassembly;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.PostingKind;
import io.tailrace.reassembly.assignment.LogReassembler;
import io.tailrace.reassembly.content.HeadHash;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The kind of a gap, which its posting has as detail: docs/LEDGER.md, "Gaps and backfills". */
class GapKindTest {

    private static final LogId LOG = new LogId("db1", "slowlog", "/slow.log");
    private static final String PATH = "/slow.log";
    private static final String LINE = "E one;\n";
    private static final byte[] FILE = LINE.repeat(9).getBytes(ISO_8859_1);
    private static final long EXPIRED = 100_000;

    private final CollectedOutput output = new CollectedOutput();

    @Test
    void aHoleBetweenLinesIsLost() {
        LogReassembler log = log(ReassemblyLimits.defaults());
        block(log, 0, 2);
        block(log, 4, 6);
        log.tick(EXPIRED);
        log.flush(EXPIRED);
        assertGap("lost", 2, 4);
    }

    @Test
    void aHoleOfTheLengthOfTheLongestLineIsOversize() {
        LogReassembler log = log(withLineLimit(2 * LINE.length()));
        block(log, 0, 2);
        block(log, 4, 6);
        log.tick(EXPIRED);
        log.flush(EXPIRED);
        assertGap("oversize", 2, 4);
    }

    @Test
    void aMissingBeginningIsHeadLost() {
        LogReassembler log = log(ReassemblyLimits.defaults());
        block(log, 3, 6);
        log.tick(EXPIRED);
        log.flush(EXPIRED);
        assertGap("head_lost", 0, 3);
    }

    @Test
    void theUnreadEndOfAFileThatHasEndedIsTailLost() {
        LogReassembler log = log(ReassemblyLimits.defaults());
        block(log, 0, 6);
        census(log, 1, 9, 1_000);
        for (long now = 10_000; now <= EXPIRED; now += 10_000) {
            census(log, 2, 0, now);
            log.tick(now);
        }
        log.flush(EXPIRED);
        assertGap("tail_lost", 6, 9);
    }

    private void assertGap(String kind, int fromLine, int toLine) {
        long from = (long) fromLine * LINE.length();
        long to = (long) toLine * LINE.length();
        assertThat(output.remaining(1))
                .filteredOn(piece -> piece.kind() == PostingKind.GAP)
                .containsExactly(new CollectedOutput.Piece(PostingKind.GAP, kind, from, to));
    }

    private LogReassembler log(ReassemblyLimits limits) {
        return new LogReassembler(LOG, new PlainFormat(), limits, "test", output);
    }

    private static ReassemblyLimits withLineLimit(int bytes) {
        ReassemblyLimits defaults = ReassemblyLimits.defaults();
        return new ReassemblyLimits(
                defaults.reorderBytes(),
                defaults.gapTimeoutMillis(),
                bytes,
                defaults.segmentBytes(),
                defaults.recentBytes(),
                defaults.detectBytes(),
                defaults.edgeBytes(),
                defaults.retentionMillis(),
                defaults.liveGenerations());
    }

    private static void block(LogReassembler log, int fromLine, int toLine) {
        int from = fromLine * LINE.length();
        byte[] bytes = Arrays.copyOfRange(FILE, from, toLine * LINE.length());
        FileOrigin origin = new FileOrigin(LOG.toKey(), "c", "db1", "slowlog", "plain", "UTC", PATH);
        log.block(new LineBlock(origin, from, bytes, 500, false, 0), 500);
    }

    private static void census(LogReassembler log, long inode, int lines, long at) {
        byte[] file = Arrays.copyOf(FILE, lines * LINE.length());
        String hash = HeadHash.hex(file, file.length);
        log.census(
                new CensusRecord(
                        LOG.toKey(), "c", "db1", "slowlog", PATH, inode, file.length, file.length, hash, at * 1_000),
                at);
    }
}
