package io.tailrace.cli;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import io.tailrace.framing.ParseListener;
import io.tailrace.lexer.ByteText;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * Reads one log file from its first byte to its last with the framer and parser that the pipeline uses. Keeps the
 * bytes of the entry at hand and no more.
 */
final class LogReader implements FrameListener, ParseListener {

    /** Longest line that is read; a longer one is a dead letter without bytes. */
    static final int LONGEST_LINE = 128 << 20;

    private static final int FIRST_BUFFER = 1 << 20;

    /** Bytes that are read at once: so few that they are still in the processor's cache when they are parsed. */
    private static final int MOST_AT_ONCE = 1 << 18;

    private final InputStream in;
    private final LogOrigin origin;
    private final EntryFramer framer;
    private final EntryParser parser;
    private final LogSink sink;
    private final int longestLine;
    private final Accounts accounts = new Accounts();

    private byte[] buffer;
    /** File offset of the buffer's first byte. */
    private long base;
    /** Index of the next byte to feed. */
    private int at;
    /** Index after the last byte read. */
    private int limit;
    /** The entry that the parser reads. */
    private long entryFrom;

    private long entryTo;

    /**
     * @param head bytes that were read from the file before, to find its format
     * @param in the rest of the file
     */
    LogReader(byte[] head, InputStream in, LogFormat format, LogOrigin origin, LogSink sink) {
        this(head, in, format, origin, sink, LONGEST_LINE);
    }

    /** The same with another length, bytes, above which a line is left out. */
    LogReader(byte[] head, InputStream in, LogFormat format, LogOrigin origin, LogSink sink, int longestLine) {
        this.longestLine = longestLine;
        this.in = in;
        this.origin = origin;
        this.framer = format.newFramer();
        this.parser = format.newParser(sink.detail());
        this.sink = sink;
        this.buffer = Arrays.copyOf(head, Math.max(FIRST_BUFFER, head.length));
        this.limit = head.length;
    }

    /** Reads the whole file. */
    Accounts read() throws IOException {
        int searched = 0;
        boolean more = true;
        while (more) {
            int end = lineEnd(Math.max(searched, at));
            if (end > 0) {
                feed(end);
                searched = at;
            } else if (limit - at > longestLine) {
                more = skipLine();
                searched = at;
            } else {
                int unsearched = limit - at;
                more = fill();
                searched = at + unsearched;
            }
        }
        while (at < limit) {
            int end = lineEnd(at);
            feed(end > 0 ? end : limit);
        }
        framer.end(this);
        accounts.size = base + limit;
        accounts.pending = accounts.size - Math.min(accounts.size, framer.pendingFrom());
        return accounts;
    }

    /** Index after the next line feed, or 0 when none was read yet. */
    private int lineEnd(int from) {
        int feed = ByteText.lineFeed(buffer, from, limit);
        return feed < limit ? feed + 1 : 0;
    }

    private void feed(int end) {
        at = (int) (framer.line(buffer, at, end, base + at, this) - base);
    }

    /** Reads more, behind the bytes that are still needed; false at the file's end. */
    private boolean fill() throws IOException {
        int needed = (int) Math.min(at, Math.max(0, framer.pendingFrom() - base));
        if (needed > 0) {
            System.arraycopy(buffer, needed, buffer, 0, limit - needed);
            base += needed;
            at -= needed;
            limit -= needed;
        }
        if (limit == buffer.length) {
            buffer = Arrays.copyOf(buffer, buffer.length * 2);
        }
        int read = in.read(buffer, limit, Math.min(buffer.length - limit, MOST_AT_ONCE));
        limit += Math.max(read, 0);
        return read >= 0;
    }

    /** Leaves out the line at hand, which is longer than memory should hold; false at the file's end. */
    private boolean skipLine() throws IOException {
        long from = base + at;
        long to = base + limit;
        framer.hole(to, this);
        int read = 0;
        int feed = 0;
        while (feed == 0 && read >= 0) {
            to += read;
            read = in.read(buffer, 0, FIRST_BUFFER);
            int found = ByteText.lineFeed(buffer, 0, Math.max(read, 0));
            feed = found < read ? found + 1 : 0;
        }
        to += feed;
        refuse(new LogSink.Refusal(
                origin,
                false,
                from,
                to - from,
                buffer,
                0,
                0,
                DeadLetterCode.ENTRY_TOO_LARGE,
                "expected a line of at most " + longestLine + " bytes"));
        framer.hole(to, this);
        base = to - feed;
        at = feed;
        limit = Math.max(read, 0);
        return read >= 0;
    }

    @Override
    public void entry(long from, long to, EntryContext context) {
        entryFrom = from;
        entryTo = to;
        parser.parse(new LogEntry(origin, 1, from, buffer, (int) (from - base), (int) (to - base), context), this);
    }

    @Override
    public void framing(long from, long to, FramingKind kind) {
        accounts.framing(kind, to - from);
        if (kind == FramingKind.BANNER) {
            int start = (int) (from - base);
            sink.banner(ByteText.utf8(buffer, start, ByteText.lineFeed(buffer, start, (int) (to - base))));
        }
    }

    @Override
    public void rejected(long from, long to, DeadLetterCode code, String message) {
        refuse(new LogSink.Refusal(
                origin, false, from, to - from, buffer, (int) (from - base), (int) (to - base), code, message));
    }

    @Override
    public boolean wantsStatement(QueryEvent event) {
        return sink.wantsStatement(event);
    }

    @Override
    public void query(QueryEvent event, String fingerprint, String statement) {
        accounts.events.add(entryTo - entryFrom);
        sink.query(event, fingerprint, statement);
    }

    @Override
    public void audit(AuditEvent event, String fingerprint, String statement) {
        accounts.events.add(entryTo - entryFrom);
        sink.audit(event, fingerprint, statement);
    }

    @Override
    public void error(ErrorEvent event) {
        accounts.events.add(entryTo - entryFrom);
        sink.error(event);
    }

    @Override
    public void rejected(DeadLetterCode code, String message) {
        refuse(new LogSink.Refusal(
                origin,
                true,
                entryFrom,
                entryTo - entryFrom,
                buffer,
                (int) (entryFrom - base),
                (int) (entryTo - base),
                code,
                message));
    }

    private void refuse(LogSink.Refusal refusal) {
        accounts.deadLetter(refusal.code(), refusal.length());
        sink.deadLetter(refusal);
    }
}
