package io.tailrace.reassembly;

import io.tailrace.framing.EntryContext;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.LogOrigin;

/**
 * One entry of a log, as the framer passes it to the parser.
 *
 * @param origin the log; its format is the one that framed the entry, never {@code auto}
 * @param path latest known path of the file
 * @param generation number of the log's file, from 1
 * @param offset file offset of the first byte
 * @param bytes the whole entry, line ends included
 * @param context state of the session before the entry, as far as the framer has read it
 * @param backfill whether the entry was read from bytes that filled a gap; such an entry is late and must not advance
 *     watermarks
 */
public record FramedEntry(
        LogOrigin origin,
        String path,
        long generation,
        long offset,
        byte[] bytes,
        EntryContext context,
        boolean backfill) {

    /** Returns the input of the entry's parser. */
    public LogEntry toLogEntry() {
        return new LogEntry(origin, generation, offset, bytes, 0, bytes.length, context);
    }
}
