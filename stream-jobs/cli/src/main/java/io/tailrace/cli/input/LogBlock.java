package io.tailrace.cli.input;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.LogOrigin;
import io.tailrace.framing.ParseListener;
import io.tailrace.lexer.ByteText;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * A part of a log file with its contents. It passes three stages: a framer splits it into pieces, a parser
 * parses those that are entries, and a sink receives all of them in file order.
 */
final class LogBlock implements FrameListener {

    /** A piece of the file: an entry with its parsed event, or another piece that a framer found. */
    private static final class Piece implements ParseListener {

        private final long from;
        private final long to;
        /** Null if it is not an entry. */
        private EntryContext context;
        /** Null if it is not framing. */
        private FramingKind framing;
        /** Null if it is not a dead letter. */
        private DeadLetterCode code;

        private String message;
        private boolean isWithoutBytes;
        private Object event;
        private String fingerprint;
        private String statement;
        private Predicate<QueryEvent> statementFilter;

        Piece(long from, long to) {
            this.from = from;
            this.to = to;
        }

        @Override
        public boolean needsStatement(QueryEvent query) {
            return statementFilter.test(query);
        }

        @Override
        public void query(QueryEvent query, String textOfClass, String text) {
            event = query;
            fingerprint = textOfClass;
            statement = text;
        }

        @Override
        public void audit(AuditEvent audit, String textOfClass, String text) {
            event = audit;
            fingerprint = textOfClass;
            statement = text;
        }

        @Override
        public void error(ErrorEvent error) {
            event = error;
        }

        @Override
        public void rejected(DeadLetterCode why, String text) {
            code = why;
            message = text;
        }
    }

    private final LogOrigin origin;
    private final List<Piece> pieces = new ArrayList<>();
    private byte[] bytes;
    /** File offset of the first byte. */
    private long base;

    LogBlock(LogOrigin origin) {
        this.origin = origin;
    }

    boolean isEmpty() {
        return pieces.isEmpty();
    }

    /** Takes the bytes of the pieces; the first byte has the file offset {@code offset}. */
    void hold(byte[] held, long offset) {
        bytes = held;
        base = offset;
    }

    /** Returns the bytes for reuse, because they are no longer needed. */
    byte[] release() {
        return bytes;
    }

    @Override
    public void entry(long from, long to, EntryContext context) {
        add(from, to).context = context;
    }

    @Override
    public void framing(long from, long to, FramingKind kind) {
        add(from, to).framing = kind;
    }

    @Override
    public void rejected(long from, long to, DeadLetterCode code, String message) {
        add(from, to).rejected(code, message);
    }

    /** Rejects a range whose bytes are too many to store. */
    void rejectedWithoutBytes(long from, long to, DeadLetterCode code, String message) {
        rejected(from, to, code, message);
        pieces.get(pieces.size() - 1).isWithoutBytes = true;
    }

    private Piece add(long from, long to) {
        Piece piece = new Piece(from, to);
        pieces.add(piece);
        return piece;
    }

    /**
     * Parses the entries.
     *
     * @param statementFilter selects the events whose statement is needed
     */
    void parse(EntryParser parser, Predicate<QueryEvent> statementFilter) {
        for (Piece piece : pieces) {
            if (piece.context != null) {
                piece.statementFilter = statementFilter;
                parser.parse(
                        new LogEntry(origin, 1, piece.from, bytes, at(piece.from), at(piece.to), piece.context), piece);
            }
        }
    }

    private int at(long offset) {
        return (int) (offset - base);
    }

    /** Passes all pieces to the sink, in file order, and accounts for their bytes. */
    void deliver(LogEventHandler sink, ByteAccounting accounts) {
        for (Piece piece : pieces) {
            if (piece.code != null) {
                refuse(piece, sink, accounts);
            } else if (piece.framing != null) {
                framing(piece, sink, accounts);
            } else {
                accounts.events.add(piece.to - piece.from);
                event(piece, sink);
            }
        }
    }

    private void framing(Piece piece, LogEventHandler sink, ByteAccounting accounts) {
        accounts.framing(piece.framing, piece.to - piece.from);
        if (piece.framing == FramingKind.BANNER) {
            int from = at(piece.from);
            sink.banner(ByteText.utf8(bytes, from, ByteText.lineFeed(bytes, from, at(piece.to))));
        }
    }

    private void refuse(Piece piece, LogEventHandler sink, ByteAccounting accounts) {
        long length = piece.to - piece.from;
        int from = piece.isWithoutBytes ? 0 : at(piece.from);
        int to = piece.isWithoutBytes ? 0 : at(piece.to);
        accounts.deadLetter(piece.code, length);
        boolean byParser = piece.context != null;
        sink.deadLetter(new LogEventHandler.Refusal(
                origin, byParser, piece.from, length, bytes, from, to, piece.code, piece.message));
    }

    private static void event(Piece piece, LogEventHandler sink) {
        if (piece.event instanceof QueryEvent query) {
            sink.query(query, piece.fingerprint, piece.statement);
        } else if (piece.event instanceof AuditEvent audit) {
            sink.audit(audit, piece.fingerprint, piece.statement);
        } else if (piece.event instanceof ErrorEvent error) {
            sink.error(error);
        } else {
            throw new IllegalStateException("a parser left out the entry at byte " + piece.from);
        }
    }
}
