package io.tailrace.reassembly;

import io.tailrace.framing.EntryContext;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.LogOrigin;

/**
 * One entry of a log on its way to a parser.
 *
 * @param origin of the log; its format is the one that framed the entry, never auto
 * @param path of the file as last seen
 * @param generation which file of the log, from 1
 * @param offset file offset of the first byte
 * @param bytes the whole entry, line ends included
 * @param context what the framer knows about the entry
 * @param backfill it was read from bytes that filled a gap: late, must not drive watermarks
 */
public record FramedEntry(
        LogOrigin origin,
        String path,
        long generation,
        long offset,
        byte[] bytes,
        EntryContext context,
        boolean backfill) {

    /** What the entry's parser reads. */
    public LogEntry toLogEntry() {
        return new LogEntry(origin, generation, offset, bytes, 0, bytes.length, context);
    }
}
