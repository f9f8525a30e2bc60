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
 * A part of a log file and what was found in it. It goes through three hands, one after the other: a framer cuts it
 * into pieces, a parser reads those that are entries, and a sink receives all of them in file order.
 */
final class LogBlock implements FrameListener {

    /** A piece of the file: an entry with what it means, or anything else that a framer finds. */
    private static final class Piece implements ParseListener {

        private final long from;
        private final long to;
        /** Null where it is no entry. */
        private EntryContext context;
        /** Null where it is not framing. */
        private FramingKind framing;
        /** Null where it is no dead letter. */
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
    /** File offset of the first of the bytes. */
    private long base;

    LogBlock(LogOrigin origin) {
        this.origin = origin;
    }

    boolean isEmpty() {
        return pieces.isEmpty();
    }

    /** Takes the bytes of the pieces, the first of which has the file offset {@code offset}. */
    void hold(byte[] held, long offset) {
        bytes = held;
        base = offset;
    }

    /** The bytes, for other use: they are no longer needed. */
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

    /** The same for bytes that are too many to keep. */
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
     * Reads the entries.
     *
     * @param statementFilter of which events the statement is wanted
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

    /** Gives all that was found to the sink, in file order, and books its bytes. */
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
