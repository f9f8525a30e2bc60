package io.tailrace.reassembly;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import io.tailrace.reassembly.assignment.LogReassembler;
import io.tailrace.reassembly.content.HeadHash;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A new file begins with the same bytes as the previous one and is read at the time of the rename. */
class EqualBannersTest {

    private static final LogId LOG = new LogId("db1", "slowlog", "/slow.log");
    private static final byte[] BANNER = "Banner\nBanner, second line\n".getBytes(ISO_8859_1);
    private static final byte[] OLD = "Banner\nBanner, second line\nE one;\nE two;\n".getBytes(ISO_8859_1);

    private final List<LedgerEntry> postings = new ArrayList<>();
    private final PlainFormat format = new PlainFormat();
    private final LogReassembler log =
            new LogReassembler(LOG, format, ReassemblyLimits.defaults(), "test", new Collected(postings));

    @Test
    void aBannerReadBeforeItsFileIsFirstSeenIsTheNewFiles() {
        block(OLD, 1_000);
        census("/slow.log", 1, OLD, 1_100);
        rename();
        theBannerIsTheNewFiles();
    }

    @Test
    void theOldFileMayNotBeKnownByThen() {
        block(OLD, 1_000);
        census("/slow.log", 1, Arrays.copyOf(OLD, BANNER.length + 1), 900);
        rename();
        theBannerIsTheNewFiles();
    }

    @Test
    void theSameBannerAgainIsADuplicate() {
        aBannerReadBeforeItsFileIsFirstSeenIsTheNewFiles();
        block(BANNER, 5_000);
        census("/slow.log", 2, BANNER, 5_080);
        settle(60_000);
        assertThat(bytes(PostingKind.DUPLICATE)).isEqualTo(BANNER.length);
        assertThat(framing(2)).isEqualTo(BANNER.length);
    }

    @Test
    void aBannerOfAFileThatHasItsPathStillIsADuplicate() {
        block(OLD, 1_000);
        census("/slow.log", 1, OLD, 1_100);
        block(BANNER, 2_000);
        census("/slow.log", 1, OLD, 2_080);
        settle(4_000);
        assertThat(bytes(PostingKind.DUPLICATE)).isEqualTo(BANNER.length);
    }

    @Test
    void anotherFirstEntryAfterTheBannerIsANewFileAtOnce() {
        block(OLD, 1_000);
        block("Banner\nBanner, second line\nE other;\n".getBytes(ISO_8859_1), 2_000);
        settle(2_300);
        theBannerIsTheNewFiles();
    }

    /** Renames the log: the new file's banner is read, and then a census follows. */
    private void rename() {
        block(BANNER, 2_500);
        census("/slow.log", 2, BANNER, 2_580);
        census("/slow.log.1", 1, OLD, 2_584);
        settle(4_000);
    }

    private void theBannerIsTheNewFiles() {
        assertThat(bytes(PostingKind.DUPLICATE)).isZero();
        assertThat(framing(2)).isEqualTo(BANNER.length);
    }

    private void block(byte[] bytes, long readAt) {
        log.block(
                new LineBlock(
                        new FileOrigin(LOG.toKey(), "c", "db1", "slowlog", "plain", "UTC", "/slow.log"),
                        0,
                        bytes,
                        readAt,
                        false,
                        0),
                readAt + 300);
    }

    private void census(String path, long inode, byte[] file, long at) {
        String hash = HeadHash.hex(file, file.length);
        log.census(
                new CensusRecord(
                        LOG.toKey(), "c", "db1", "slowlog", path, inode, file.length, file.length, hash, at * 1_000),
                at + 300);
    }

    private void settle(long now) {
        log.tick(now);
        log.flush(now);
    }

    private long bytes(PostingKind kind) {
        return postings.stream()
                .filter(posting -> posting.getKind() == kind)
                .mapToLong(LedgerEntry::getBytes)
                .sum();
    }

    private long framing(long generation) {
        return postings.stream()
                .filter(posting -> posting.getKind() == PostingKind.FRAMING && posting.getGeneration() == generation)
                .mapToLong(LedgerEntry::getBytes)
                .sum();
    }

    private record Collected(List<LedgerEntry> postings) implements ReassemblyOutput {

        @Override
        public void entry(FramedEntry entry) {
            // ReassemblySimulationTest checks the entries.
        }

        @Override
        public void posting(LedgerEntry posting) {
            postings.add(posting);
        }

        @Override
        public void deadLetter(DeadLetter deadLetter) {
            throw new AssertionError("a dead letter: " + deadLetter.getMessage());
        }
    }
}
