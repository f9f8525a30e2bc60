package io.tailrace.reassembly.generation;

import io.tailrace.reassembly.FileOrigin;
import io.tailrace.reassembly.LineBlock;
import io.tailrace.reassembly.LogId;
import io.tailrace.reassembly.content.ContentComparison;
import io.tailrace.reassembly.content.HeadHash;
import io.tailrace.reassembly.content.LineHashes;
import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateWriter;
import io.tailrace.reassembly.state.TwoClockTime;
import java.util.ArrayDeque;

/** A run of consecutive lines under one path that are not assigned to a generation yet. */
public final class UnassignedLines {

    private static final class Held {
        private final LineBlock block;
        private long storedAs;

        private Held(LineBlock block) {
            this.block = block;
        }
    }

    /** Receives the run's blocks, each from the index of its first line that is still held. */
    public interface BlockReader {
        /** Returns the index of the first byte that was not taken. */
        int read(LineBlock block, int from);
    }

    private final StateWriter.Ids ids;
    private final ArrayDeque<Held> blocks = new ArrayDeque<>();
    private final TwoClockTime since;
    private long from;
    private long to;
    private long sameAs;

    /** @param since time at which the first block arrived */
    public UnassignedLines(LineBlock first, int skip, TwoClockTime since, StateWriter.Ids ids) {
        this.ids = ids;
        this.since = since;
        this.from = first.offset() + skip;
        this.to = first.end();
        blocks.add(new Held(first));
    }

    private UnassignedLines(StateReader in, StateWriter.Ids ids) {
        this.ids = ids;
        since = TwoClockTime.restore(in);
        from = in.number();
        to = in.number();
        sameAs = in.number();
    }

    public long from() {
        return from;
    }

    public long to() {
        return to;
    }

    public long bytes() {
        return to - from;
    }

    public TwoClockTime since() {
        return since;
    }

    /**
     * Returns the time at which the collector read the first block, epoch milliseconds; if unknown, the time of its
     * arrival.
     */
    public long readAt() {
        return first().readAt() > 0 ? first().readAt() : since.job();
    }

    public LineBlock first() {
        return blocks.peekFirst().block;
    }

    LineBlock last() {
        return blocks.peekLast().block;
    }

    public boolean isEmpty() {
        return blocks.isEmpty();
    }

    /** Returns the generation that took the lines before the run; 0 if unknown. */
    public long sameAs() {
        return sameAs;
    }

    public void sameAs(long generation) {
        sameAs = generation;
    }

    /**
     * Returns whether a block continues the run: it has the same path, the same generation if the sender states one,
     * and was not read earlier, as a late copy of another file's lines would be. A hole of one byte is a line end.
     */
    public boolean continuedBy(LineBlock block) {
        return continuedAt(block.offset()) && hasSameHeadAs(block);
    }

    private boolean continuedAt(long offset) {
        return offset == to || offset == to + 1;
    }

    private boolean hasSameHeadAs(LineBlock block) {
        LineBlock last = last();
        return block.backfill() == last.backfill()
                && block.generation() == last.generation()
                && block.readAt() >= last.readAt()
                && block.origin().path().equals(last.origin().path());
    }

    public void add(LineBlock block) {
        blocks.add(new Held(block));
        to = block.end();
    }

    /** Appends the run that starts where this one ends, if nothing is missing between them. */
    public boolean join(UnassignedLines next) {
        if (!continuedAt(next.from) || next.from != next.first().offset() || !hasSameHeadAs(next.first())) {
            return false;
        }
        blocks.addAll(next.blocks);
        to = next.to;
        return true;
    }

    /** Returns the end of the lines that the collector had read before a time of its clock, epoch microseconds. */
    public long endReadBy(long micros) {
        long end = from;
        for (Held held : blocks) {
            end = held.block.readAt() * 1000 < micros ? held.block.end() : end;
        }
        return end;
    }

    /** Returns whether a file's head hash contradicts the lines; false if there are too few to decide. */
    public boolean contradicts(int headLength, String md5) {
        boolean lineEndUnsure = headLength == to;
        return holdsHead(headLength)
                && !lineEndUnsure
                && !HeadHash.hex(head(headLength), headLength).equals(md5);
    }

    /** Returns whether the lines are the head that has this hash. */
    public boolean hasSameHead(int headLength, String md5) {
        return holdsHead(headLength)
                && HeadHash.hex(head(headLength), headLength).equals(md5);
    }

    private boolean holdsHead(int headLength) {
        return from == 0 && headLength > 0 && headLength <= to;
    }

    private byte[] head(int length) {
        byte[] head = new byte[length];
        int end = 0;
        for (Held held : blocks) {
            int at = (int) held.block.offset();
            if (at > end && end > 0 && at <= length) {
                head[end - 1] = '\r';
                head[end] = '\n';
            }
            end = (int) Math.min(length, held.block.end());
            if (at < end) {
                System.arraycopy(held.block.bytes(), 0, head, at, end - at);
            }
        }
        return head;
    }

    /** Passes the lines to a reader until it takes no more. */
    public void drain(BlockReader reader) {
        while (!blocks.isEmpty()) {
            Held first = blocks.peekFirst();
            LineBlock block = first.block;
            int drained = reader.read(block, (int) (from - block.offset()));
            from = block.offset() + drained;
            if (drained < block.bytes().length) {
                return;
            }
            ids.release(blocks.pollFirst().storedAs);
            // a hole of one byte between two blocks is a line end
            from = blocks.isEmpty() ? from : blocks.peekFirst().block.offset();
        }
    }

    /** Compares the lines in order until the comparison is decided. */
    void compare(ContentComparison comparison) {
        int skip = (int) (from - first().offset());
        for (Held held : blocks) {
            byte[] bytes = held.block.bytes();
            for (int line = skip; line < bytes.length; ) {
                int end = LineHashes.end(bytes, line, bytes.length);
                if (!comparison.line(held.block.offset(), bytes, line, end)) {
                    return;
                }
                line = end;
            }
            skip = 0;
        }
    }

    public void release() {
        blocks.forEach(held -> ids.release(held.storedAs));
        blocks.clear();
    }

    public void save(StateWriter out) {
        since.save(out);
        out.number(from);
        out.number(to);
        out.number(sameAs);
        out.number(blocks.size());
        for (Held held : blocks) {
            if (held.storedAs == 0) {
                held.storedAs = out.store(held.block.bytes());
            }
            saveBlock(out, held);
        }
    }

    private static void saveBlock(StateWriter out, Held held) {
        LineBlock block = held.block;
        out.text(block.origin().cluster());
        out.text(block.origin().format());
        out.text(block.origin().zone());
        out.text(block.origin().path());
        out.number(block.offset());
        out.number(block.readAt());
        out.flag(block.backfill());
        out.number(block.generation());
        out.number(held.storedAs);
    }

    public static UnassignedLines restore(StateReader in, LogId id, StateWriter.Ids ids) {
        UnassignedLines run = new UnassignedLines(in, ids);
        for (int count = in.count(); count > 0; count--) {
            run.blocks.add(restoreBlock(in, id));
        }
        return run;
    }

    private static Held restoreBlock(StateReader in, LogId id) {
        String cluster = in.text();
        String format = in.text();
        String zone = in.text();
        String path = in.text();
        long offset = in.number();
        long readAt = in.number();
        boolean backfill = in.flag();
        long generation = in.number();
        long storedAs = in.number();
        Held held = new Held(new LineBlock(
                new FileOrigin(id.toKey(), cluster, id.instance(), id.source(), format, zone, path),
                offset,
                in.stored(storedAs),
                readAt,
                backfill,
                generation));
        held.storedAs = storedAs;
        return held;
    }
}
