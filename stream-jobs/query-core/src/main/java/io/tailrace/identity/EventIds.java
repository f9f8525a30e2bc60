package io.tailrace.identity;

import io.tailrace.event.EventId;
import io.tailrace.framing.LogEntry;
import io.tailrace.lexer.ByteText;

/**
 * Computes the id of an event. The same bytes at the same offset of the same server's log get the same id, no matter
 * which collector ships them. The id is MurmurHash3 x64 128 over
 *
 * <pre>instance 0x1f source 0x1f offset time bytes</pre>
 *
 * <p>Instance and source are in UTF-8. The offset of the entry's first byte and the event time in epoch microseconds
 * are 8 little-endian bytes each. In the entry's bytes every {@code \r\n} is replaced by {@code \n}, and the last line
 * end is omitted. Path and generation are not part of the id, so that rotation, backfill and the command line produce
 * the same id. Not thread-safe.
 */
public final class EventIds {

    private final Murmur3 hash = new Murmur3();

    /** Returns the id of an entry's event; {@code eventTime} is in epoch microseconds. */
    public EventId event(LogEntry entry, long eventTime) {
        hash.reset();
        hash.update(entry.origin().instance()).update(entry.origin().source());
        hash.update(entry.offset()).update(eventTime);
        normalised(entry.bytes(), entry.from(), entry.to());
        return new EventId(hash.digest());
    }

    private void normalised(byte[] bytes, int from, int to) {
        int end = to > from && bytes[to - 1] == '\n' ? to - 1 : to;
        if (end > from && bytes[end - 1] == '\r') {
            end--;
        }
        int piece = from;
        int i = carriageReturn(bytes, from, end);
        while (i + 1 < end) {
            if (bytes[i + 1] == '\n') {
                hash.update(bytes, piece, i);
                piece = i + 1;
            }
            i = carriageReturn(bytes, i + 1, end);
        }
        hash.update(bytes, piece, end);
    }

    private static int carriageReturn(byte[] bytes, int from, int to) {
        return ByteText.firstOf(bytes, from, to, (byte) '\r', (byte) '\r');
    }
}
