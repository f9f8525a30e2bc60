package io.tailrace.reassembly;

import io.tailrace.framing.EntryContext;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.LogOrigin;

/**
 * One entry of a log on its way to a parser.
 *
 * @param cluster group of servers that hold the same data
 * @param instance name of the server
 * @param source kind of log: slowlog or audit
 * @param format name of the format that framed it, never auto
 * @param zone IANA zone of times that the log writes without a zone
 * @param log canonical path
 * @param path of the file as last seen
 * @param generation which file of the log, from 1
 * @param offset file offset of the first byte
 * @param bytes the whole entry, line ends included
 * @param database {@link EntryContext#database}
 * @param timeLine {@link EntryContext#timeLine}
 * @param account {@link EntryContext#account}
 * @param loggedIn {@link EntryContext#loggedIn}
 * @param forgedHeader {@link EntryContext#forgedHeader}
 * @param ambiguous {@link EntryContext#ambiguous}
 * @param backfill it was read from bytes that filled a gap: late, must not drive watermarks
 */
public record FramedEntry(
        String cluster,
        String instance,
        String source,
        String format,
        String zone,
        String log,
        String path,
        long generation,
        long offset,
        byte[] bytes,
        String database,
        String timeLine,
        String account,
        boolean loggedIn,
        boolean forgedHeader,
        boolean ambiguous,
        boolean backfill) {

    /** What the entry's parser reads. */
    public LogEntry toLogEntry() {
        LogOrigin origin = new LogOrigin(cluster, instance, source, format, zone, log);
        EntryContext context = new EntryContext(database, timeLine, account, loggedIn, forgedHeader, ambiguous);
        return new LogEntry(origin, generation, offset, bytes, 0, bytes.length, context);
    }
}
