package io.tailrace.audit;

import io.tailrace.audit.record.RecordScanner;
import io.tailrace.audit.record.RecordScanner.Ended;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryLimits;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import java.nio.ByteBuffer;

/**
 * Splits a document into its records, of which a line may contain several, and which may span many lines. Lines
 * outside of records are rejected, contiguous ones together. A record that another one interrupts was cut off by a
 * crash. Each record is reported with its connection's default database, as far as earlier ones stated it.
 */
final class RecordFramer implements EntryFramer {

    private static final long NOWHERE = -1;

    private final RecordScanner scanner;
    private final SessionDatabases sessions = new SessionDatabases();
    private long position;
    private long recordFrom = NOWHERE;
    private long unexpectedFrom = NOWHERE;
    /** No certain start of a record was read since the file's start or a hole. */
    private boolean searching = true;

    RecordFramer(RecordScanner scanner) {
        this.scanner = scanner;
    }

    static RecordFramer restore(RecordScanner scanner, byte[] snapshot) {
        RecordFramer framer = new RecordFramer(scanner);
        ByteBuffer in = ByteBuffer.wrap(snapshot);
        framer.position = in.getLong();
        framer.recordFrom = in.getLong();
        framer.unexpectedFrom = in.getLong();
        framer.searching = in.get() != 0;
        scanner.restore(in);
        framer.sessions.read(in);
        return framer;
    }

    @Override
    public byte[] snapshot() {
        byte[] known = sessions.write(recordFrom != NOWHERE);
        ByteBuffer out = ByteBuffer.allocate(3 * Long.BYTES + 1 + scanner.stateBytes() + known.length);
        out.putLong(position).putLong(recordFrom).putLong(unexpectedFrom).put((byte) (searching ? 1 : 0));
        scanner.save(out);
        return out.put(known).array();
    }

    @Override
    public long line(byte[] buffer, int from, int to, long offset, FrameListener out) {
        long base = offset - from;
        int at = from;
        while (at < to) {
            at = recordFrom == NOWHERE
                    ? outside(buffer, from, at, to, base, out)
                    : inside(buffer, from, at, to, base, out);
        }
        position = base + to;
        limit(out);
        return position;
    }

    private int outside(byte[] buffer, int lineFrom, int at, int to, long base, FrameListener out) {
        RecordScanner.Found found = scanner.outside(buffer, lineFrom, at, to, searching);
        int next = scanner.next();
        switch (found) {
            case RECORD -> {
                emitUnexpected(base + at, out);
                recordFrom = base + at;
                sessions.start();
                sessions.add(buffer, at, next);
                searching = false;
            }
            case DOCUMENT -> {
                emitUnexpected(base + at, out);
                out.framing(base + at, base + next, FramingKind.DOCUMENT);
                searching = false;
            }
            case BLANK -> {
                if (unexpectedFrom == NOWHERE) {
                    out.framing(base + at, base + next, FramingKind.BLANK);
                }
            }
            case STRAY -> unexpectedFrom = unexpectedFrom == NOWHERE ? base + at : unexpectedFrom;
        }
        return next;
    }

    private int inside(byte[] buffer, int lineFrom, int at, int to, long base, FrameListener out) {
        Ended ended = scanner.inside(buffer, lineFrom, at, to);
        int next = scanner.next();
        sessions.add(buffer, at, next);
        if (ended == Ended.RECORD && base + next - recordFrom <= EntryLimits.MAX_ENTRY_LENGTH) {
            out.entry(recordFrom, base + next, sessions.end());
            recordFrom = NOWHERE;
        } else if (ended == Ended.RECORD) {
            tooLarge(base + next, out);
        } else if (ended == Ended.BROKEN_OFF) {
            brokenOff(base + next, out);
        }
        return next;
    }

    /** Without the check, a scanner that finds the start of its own record again would never advance. */
    private void brokenOff(long to, FrameListener out) {
        if (to <= recordFrom) {
            throw new IllegalStateException(scanner.getClass().getSimpleName()
                    + ".inside: expected the start of another record, found the start of the current one at byte "
                    + recordFrom + ": next() of outside must be after the start, or inside must skip it");
        }
        incomplete(to, "found another record before its end", out);
    }

    private void limit(FrameListener out) {
        if (recordFrom != NOWHERE && position - recordFrom > EntryLimits.MAX_ENTRY_LENGTH) {
            tooLarge(position, out);
            searching = true;
        }
        if (unexpectedFrom != NOWHERE && position - unexpectedFrom >= EntryLimits.MAX_REJECTION_LENGTH) {
            emitUnexpected(position, out);
        }
    }

    private void tooLarge(long to, FrameListener out) {
        out.rejected(
                recordFrom,
                to,
                DeadLetterCode.ENTRY_TOO_LARGE,
                "expected a record of at most " + EntryLimits.MAX_ENTRY_LENGTH + " bytes");
        recordFrom = NOWHERE;
    }

    private void incomplete(long to, String found, FrameListener out) {
        if (recordFrom != NOWHERE && recordFrom < to) {
            out.rejected(recordFrom, to, DeadLetterCode.INCOMPLETE, "expected a whole record, " + found);
        }
        recordFrom = NOWHERE;
    }

    private void emitUnexpected(long to, FrameListener out) {
        if (unexpectedFrom != NOWHERE && unexpectedFrom < to) {
            DeadLetterCode code = searching ? DeadLetterCode.NO_ENTRY_START : DeadLetterCode.STRAY_TEXT;
            out.rejected(unexpectedFrom, to, code, "expected the start of a record");
        }
        unexpectedFrom = NOWHERE;
    }

    @Override
    public long pendingFrom() {
        return recordFrom != NOWHERE ? recordFrom : unexpectedFrom != NOWHERE ? unexpectedFrom : position;
    }

    @Override
    public void end(FrameListener out) {
        incomplete(position, "found the end", out);
        emitUnexpected(position, out);
    }

    @Override
    public void hole(long resumeAt, FrameListener out) {
        incomplete(position, "found a hole", out);
        emitUnexpected(position, out);
        sessions.clear();
        position = resumeAt;
        searching = true;
    }
}
