package io.tailrace.audit.record;

import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryLimits;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import io.tailrace.lexer.ByteText;
import java.nio.ByteBuffer;

/** Splits a log in which every line is an entry, because its writer escapes line feeds. */
public final class SingleLineFramer implements EntryFramer {

    private long position;

    public static SingleLineFramer restore(byte[] snapshot) {
        SingleLineFramer framer = new SingleLineFramer();
        framer.position = ByteBuffer.wrap(snapshot).getLong();
        return framer;
    }

    @Override
    public long line(byte[] buffer, int from, int to, long offset, FrameListener out) {
        position = offset + (to - from);
        if (ByteText.skipBlanks(buffer, from, to) == to) {
            out.framing(offset, position, FramingKind.BLANK);
        } else if (to - from > EntryLimits.MAX_ENTRY_LENGTH) {
            out.rejected(
                    offset,
                    position,
                    DeadLetterCode.ENTRY_TOO_LARGE,
                    "expected a line of at most " + EntryLimits.MAX_ENTRY_LENGTH + " bytes");
        } else {
            out.entry(offset, position, EntryContext.NONE);
        }
        return position;
    }

    @Override
    public long pendingFrom() {
        return position;
    }

    @Override
    public void end(FrameListener out) {
        // A line is reported when it is read, so nothing is pending.
    }

    @Override
    public void hole(long resumeAt, FrameListener out) {
        position = resumeAt;
    }

    @Override
    public byte[] snapshot() {
        return ByteBuffer.allocate(Long.BYTES).putLong(position).array();
    }
}
