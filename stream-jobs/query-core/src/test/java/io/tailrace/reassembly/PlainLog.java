package io.tailrace.reassembly;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.tailrace.event.SignedRange;
import io.tailrace.reassembly.assignment.LogReassembler;
import io.tailrace.reassembly.content.HeadHash;

/** A log of {@link PlainFormat}, whose lines and censuses a test writes as texts. All times are epoch milliseconds. */
final class PlainLog {

    static final String PATH = "/slow.log";

    private static final LogId ID = new LogId("db1", "slowlog", PATH);
    private static final FileOrigin ORIGIN = new FileOrigin(ID.toKey(), "c", "db1", "slowlog", "plain", "UTC", PATH);

    final CollectedOutput output = new CollectedOutput();
    final MemoryStore store = new MemoryStore();
    private final ReassemblyLimits limits;
    private LogReassembler reassembler;

    PlainLog(ReassemblyLimits limits) {
        this.limits = limits;
        reassembler = new LogReassembler(ID, new PlainFormat(), limits, "test", output);
    }

    /** Delivers lines at the time at which the collector read them. */
    void lines(long offset, String text, long at) {
        lines(offset, text, at, at);
    }

    /** Delivers lines later than the collector read them. */
    void lines(long offset, String text, long readAt, long now) {
        reassembler.block(new LineBlock(ORIGIN, offset, text.getBytes(ISO_8859_1), readAt, false, 0), now);
    }

    /** Delivers lines of a generation that a backfill has read again. */
    void backfill(long offset, String text, long generation, long at) {
        reassembler.block(new LineBlock(ORIGIN, offset, text.getBytes(ISO_8859_1), at, true, generation), at);
    }

    /** Delivers the census of one file at the time at which it was taken. */
    void census(String path, long inode, String content, long at) {
        census(path, inode, content, at, at);
    }

    /** Delivers the census of one file later than it was taken. */
    void census(String path, long inode, String content, long at, long now) {
        byte[] file = content.getBytes(ISO_8859_1);
        String hash = HeadHash.hex(file, file.length);
        reassembler.census(
                new CensusRecord(
                        ID.toKey(), "c", "db1", "slowlog", path, inode, file.length, file.length, hash, at * 1_000),
                now);
    }

    void signedRange(SignedRange range, long now) {
        reassembler.signedRange(range, now);
    }

    void tick(long now) {
        reassembler.tick(now);
    }

    long nextTick(long now) {
        return reassembler.nextTick(now);
    }

    /** Saves the state and continues with a copy that is restored from it. */
    void restart(long now) {
        reassembler.flush(now);
        reassembler.save(store);
        reassembler = LogReassembler.restore(ID, new PlainFormat(), limits, "test", output, store);
    }
}
