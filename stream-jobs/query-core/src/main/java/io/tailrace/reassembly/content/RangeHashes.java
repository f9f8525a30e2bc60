package io.tailrace.reassembly.content;

import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateWriter;
import io.tailrace.signing.RangeHash;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The hashes of the ranges of one file (schemas/contracts/README.md), to compare them with signed ones. Each is stored
 * until it is compared. The bytes around a gap are stored, so that its ranges can be compared when it is filled.
 */
public final class RangeHashes implements RangeCursor.Listener {

    /** Result of a comparison. */
    public enum Comparison {
        EQUAL,
        DIFFERENT,
        /** The bytes may still arrive. */
        WAITING,
        /** A part of the range is a gap. */
        GAP,
        /** Other bytes, but one was inferred and may have been lost instead. */
        AMBIGUOUS,
        /** An open range, and its bytes are no longer known separately. */
        PASSED,
        UNKNOWN
    }

    /** The bytes of a file that are hashed although no signed range of its log has arrived yet. */
    private static final long UNSIGNED_BYTES = 1 << 20;

    private static final int MAX_RANGES = 16_384;
    private static final int MAX_HOLES = 64;
    private static final int MAX_EDGE_BYTES = 256 << 10;

    private record Closed(long to, byte[] hash, boolean ambiguous) {}

    /** A gap: the cursor before it, and the bytes between the gap and the next start of a range. */
    private static final class Hole {
        private final RangeCursor cursor;
        private final long to;
        /** Null while no start of a range after the gap is known. */
        private byte[] after;

        private Hole(RangeCursor cursor, long to) {
            this.cursor = cursor;
            this.to = to;
        }
    }

    private final TreeMap<Long, Closed> closed = new TreeMap<>();
    private final List<Hole> holes = new ArrayList<>();
    private final int rangeBytes;
    private RangeCursor main;
    private long equalTo;

    /** @param rangeBytes minimum length of a closed range */
    public RangeHashes(int rangeBytes) {
        this.rangeBytes = rangeBytes;
        main = RangeCursor.atRange(rangeBytes, 0, this);
    }

    /**
     * Takes new bytes of the file: whole lines.
     *
     * @param signed whether signed ranges of the log have arrived
     */
    public void read(byte[] bytes, int from, int to, long offset, boolean signed) {
        if (offset == main.position()) {
            if (signed || offset < UNSIGNED_BYTES) {
                main.append(bytes, from, to);
            } else {
                main.skip(offset + to - from);
            }
        } else {
            Hole hole = holeAt(offset);
            if (hole != null) {
                hole.cursor.append(bytes, from, to);
                closeIfFilled(hole);
            }
        }
    }

    private Hole holeAt(long offset) {
        for (Hole hole : holes) {
            if (hole.cursor.position() == offset) {
                return hole;
            }
        }
        return null;
    }

    private void closeIfFilled(Hole hole) {
        if (hole.cursor.position() < hole.to) {
            return;
        }
        holes.remove(hole);
        if (hole.after != null) {
            hole.cursor.append(hole.after, 0, hole.after.length);
            hole.cursor.closeHere();
        } else if (!main.aligned() && main.start() == hole.cursor.position()) {
            hole.cursor.append(main);
            main = hole.cursor;
        }
    }

    /** Extends the last line before an offset from one byte to two. */
    public void extendLastLine(long offset) {
        if (offset == main.position()) {
            main.extendLastLine();
            return;
        }
        Hole hole = holeAt(offset);
        if (hole != null) {
            hole.cursor.extendLastLine();
            closeIfFilled(hole);
        }
    }

    /** Records that the bytes from the end of the file as it was read up to an offset are lost. */
    public void gap(long to) {
        if (to == main.position()) {
            return;
        }
        holes.removeIf(hole -> hole.after == null);
        if (main.aligned()) {
            holes.add(new Hole(main, to));
            if (holes.size() > MAX_HOLES) {
                holes.remove(0);
            }
        }
        main = RangeCursor.unaligned(rangeBytes, to, this);
    }

    /** Gives up a gap whose bytes at this offset are not known exactly. */
    public void forgetGap(long offset) {
        holes.remove(holeAt(offset));
    }

    @Override
    public void closed(long from, long to, byte[] hash, boolean ambiguous) {
        closed.put(from, new Closed(to, hash, ambiguous));
        if (closed.size() > MAX_RANGES) {
            closed.pollFirstEntry();
        }
    }

    /** Compares a signed range with the bytes that arrived. Its hash stays until {@link #settle}. */
    public Comparison compare(long from, long to, boolean isClosed, byte[] hash) {
        alignAt(from);
        Comparison result = compareKnown(from, to, hash);
        if (isClosed && to - from >= rangeBytes) {
            alignAt(to);
        }
        return result;
    }

    /** Forgets the hash of a signed range that is equal. */
    public void settle(long from, long to, boolean isClosed) {
        closed.remove(from);
        equalTo = Math.max(equalTo, to);
        if (isClosed && from == main.start() && main.aligned()) {
            main.startRangeAt(to);
        }
    }

    /** Returns whether the start of the open range is known. */
    public boolean aligned() {
        return main.aligned();
    }

    /** Returns whether any range was equal. */
    public boolean verified() {
        return equalTo > 0;
    }

    private Comparison compareKnown(long from, long to, byte[] hash) {
        Closed range = closed.get(from);
        if (range != null) {
            return compare(range, to, hash);
        }
        if (main.holds(from, to)) {
            return compare(main, from, to, hash);
        }
        for (Hole hole : holes) {
            if (hole.cursor.holds(from, to)) {
                return compare(hole.cursor, from, to, hash);
            }
        }
        if (to > main.position()) {
            return Comparison.WAITING;
        }
        return from < equalTo ? Comparison.PASSED : Comparison.UNKNOWN;
    }

    private static Comparison compare(Closed range, long to, byte[] hash) {
        if (to < range.to) {
            return Comparison.PASSED;
        }
        return result(to == range.to && Arrays.equals(range.hash, hash), range.ambiguous);
    }

    /** If a range ends one byte later, this is the rest of a line end, or an empty line that has not arrived. */
    private static Comparison compare(RangeCursor cursor, long from, long to, byte[] hash) {
        boolean equal = Arrays.equals(cursor.hash(from, to), hash);
        boolean waiting = !equal && to > cursor.position();
        return waiting ? Comparison.WAITING : result(equal, !equal && cursor.isAmbiguous(from, to));
    }

    private static Comparison result(boolean equal, boolean ambiguous) {
        if (equal) {
            return Comparison.EQUAL;
        }
        return ambiguous ? Comparison.AMBIGUOUS : Comparison.DIFFERENT;
    }

    /** Uses the start of a signed range as the start of a range after a gap. */
    private void alignAt(long offset) {
        byte[] before = main.align(offset);
        if (before == null) {
            return;
        }
        for (Hole hole : holes) {
            if (hole.after == null && hole.to == offset - before.length && before.length <= MAX_EDGE_BYTES) {
                hole.after = before;
            }
        }
        holes.removeIf(hole -> hole.after == null);
    }

    public void save(StateWriter out) {
        main.save(out);
        out.number(equalTo);
        out.number(closed.size());
        for (Map.Entry<Long, Closed> range : closed.entrySet()) {
            out.number(range.getKey());
            out.number(range.getValue().to - range.getKey());
            out.bytes(range.getValue().hash, 0, RangeHash.BYTES);
            out.flag(range.getValue().ambiguous);
        }
        out.number(holes.size());
        for (Hole hole : holes) {
            hole.cursor.save(out);
            out.number(hole.to);
            out.bytes(hole.after);
        }
    }

    /** Restores from state that contains no hashes: those of earlier bytes are unknown. */
    public void startAt(long offset) {
        main = offset == 0 ? RangeCursor.atRange(rangeBytes, 0, this) : RangeCursor.unaligned(rangeBytes, offset, this);
    }

    public void restore(StateReader in) {
        main = RangeCursor.restore(in, rangeBytes, this);
        equalTo = in.number();
        for (int count = in.count(); count > 0; count--) {
            long from = in.number();
            closed.put(from, new Closed(from + in.number(), in.plain(), in.flag()));
        }
        for (int count = in.count(); count > 0; count--) {
            Hole hole = new Hole(RangeCursor.restore(in, rangeBytes, this), in.number());
            hole.after = in.bytes();
            holes.add(hole);
        }
    }
}
