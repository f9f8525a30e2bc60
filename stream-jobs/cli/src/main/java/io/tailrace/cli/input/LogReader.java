package io.tailrace.cli.input;

import io.tailrace.event.QueryEvent;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Predicate;

/**
 * Reads one log file with the framer and parser of the pipeline, on one thread or several.
 *
 * <p>Each thread takes the next block of complete entries, parses it, waits for its turn and passes the results to the
 * sink. Only parsing, which takes longest, runs in parallel, and the sink receives the same results in the same order
 * for any number of threads. Each thread holds one block, which bounds memory.
 */
public final class LogReader {

    /** Maximum length of a line in bytes; a longer one is a dead letter without bytes. */
    static final int MAX_LINE_LENGTH = 128 << 20;

    /** A block and its turn. */
    private record Ticket(LogBlock block, long turn) {}

    private final LogBlockReader blocks;
    private final LogFormat format;
    private final LogEventHandler sink;
    private final ByteAccounting accounts = new ByteAccounting();
    private final TicketSequencer turns = new TicketSequencer();
    private long blocksTaken;

    /**
     * @param head bytes that were read from the file before, to detect its format
     * @param in the rest of the file
     */
    public LogReader(byte[] head, InputStream in, LogFormat format, LogOrigin origin, LogEventHandler sink) {
        this(head, in, format, origin, sink, MAX_LINE_LENGTH);
    }

    /** Creates a reader with another maximum length of a line in bytes. */
    LogReader(
            byte[] head, InputStream in, LogFormat format, LogOrigin origin, LogEventHandler sink, int maxLineLength) {
        this.format = format;
        this.sink = sink;
        this.blocks = new LogBlockReader(head, in, format.newFramer(), origin, maxLineLength);
    }

    /** Reads the complete file on this thread. */
    public ByteAccounting read() throws IOException {
        return read(1);
    }

    /**
     * Reads the complete file.
     *
     * @param threads number of threads, this one included; the sink is never called concurrently
     */
    public ByteAccounting read(int threads) throws IOException {
        List<FutureTask<Void>> others = new ArrayList<>();
        for (int i = 1; i < threads; i++) {
            FutureTask<Void> other = new FutureTask<>(this::readBlocks);
            others.add(other);
            Thread thread = new Thread(other, "reader-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        readBlocks();
        for (FutureTask<Void> other : others) {
            await(other);
        }
        accounts.size = blocks.size();
        accounts.pending = blocks.pending();
        return accounts;
    }

    private static void await(FutureTask<Void> other) throws IOException {
        try {
            other.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException cause) {
                throw cause;
            }
            throw new IllegalStateException("a thread that reads the log failed", e.getCause());
        } catch (InterruptedException e) {
            throw new IllegalStateException("nothing interrupts the reading of a log", e);
        }
    }

    /** Runs in each thread until there are no more blocks or another thread failed. */
    private Void readBlocks() throws IOException {
        EntryParser parser = format.newParser(sink.detail());
        Predicate<QueryEvent> statementFilter = sink.statementFilter();
        boolean finished = false;
        try {
            Ticket ticket = process();
            while (ticket != null) {
                ticket.block.parse(parser, statementFilter);
                if (!turns.await(ticket.turn)) {
                    return null;
                }
                ticket.block.deliver(sink, accounts);
                turns.done();
                ticket = takeAfter(ticket);
            }
            finished = true;
        } finally {
            if (!finished) {
                turns.abandon();
            }
        }
        return null;
    }

    private Ticket process() throws IOException {
        synchronized (blocks) {
            LogBlock block = blocks.next();
            return block == null ? null : new Ticket(block, blocksTaken++);
        }
    }

    private Ticket takeAfter(Ticket done) throws IOException {
        synchronized (blocks) {
            blocks.recycle(done.block);
            return process();
        }
    }
}
