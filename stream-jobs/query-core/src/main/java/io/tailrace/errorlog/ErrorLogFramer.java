package io.tailrace.errorlog;

import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryLimits;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import io.tailrace.framing.PackedBooleans;
import io.tailrace.lexer.ByteText;
import io.tailrace.time.LogTime;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Splits an error log into messages. A message starts at a line with a time and includes the lines without one that
 * follow. Three kinds of entries contain several lines with times: a deadlock's report, a crash with the assertion
 * that caused it, and the output of InnoDB's monitor.
 *
 * <p>A message whose form proves that it has only one line ({@link MessageBoundaries#isWhole}) is reported with that
 * line; others are reported with the next line that starts a message. Lines that follow a reported message become a
 * separate entry.
 */
final class ErrorLogFramer implements EntryFramer {

    /**
     * Longest entry, bytes; less than {@link EntryLimits#MAX_ENTRY_LENGTH}, because a message has no statement of that
     * size. A longer one is not rejected but cut: what follows is a continuation.
     */
    static final int MAX_ENTRY_LENGTH = 4 << 20;

    /** Number of headers inside a literal that prove that it was never closed. */
    private static final int PROOFS = 3;

    private static final int MAX_TIME_LENGTH = 40;

    private static final int NOTHING = 0;
    private static final int MESSAGE = 1;
    private static final int DEADLOCK = 2;
    private static final int MONITOR = 3;
    private static final int CRASH = 4;
    /** Lines before the first time of the file, or after a hole: they get the next time. */
    private static final int UNTIMED = 5;

    private static final byte[] END_OF_MONITOR = ByteText.ascii("END OF INNODB MONITOR OUTPUT");
    private static final byte[] END_OF_CRASH = ByteText.ascii("information that should help you find out what is");
    private static final byte[] END_OF_MARIADB_CRASH = ByteText.ascii("Kernel version: ");
    private static final byte[] MARIADB = ByteText.ascii("ariadb");
    private static final byte[] SERVER_VERSION = ByteText.ascii("Server version: ");
    private static final byte[] MARIADB_VERSION = ByteText.ascii("MariaDB");

    private final ErrorLine header = new ErrorLine();
    private final QuotedStatementTracker statement = new QuotedStatementTracker();
    private final QuoteTracker quote = new QuoteTracker();

    private long position;
    private long pendingFrom;
    private int state = NOTHING;
    /** Offset of a line of equals signs, at which a monitor's output may start; -1 if the last line was not one. */
    private long ruleAt = -1;

    private boolean ending;
    private boolean assertion;
    private boolean mariaDb;
    private boolean ownTime;
    private boolean forged;
    private boolean ambiguous;
    private long firstProof = -1;
    private int proofs;
    /** Entries before this offset, after the one that was given up, may be text of its literal. */
    private long ambiguousUntil;
    /** The last time at the start of a message. */
    private byte[] time = new byte[0];

    static ErrorLogFramer restore(byte[] snapshot) {
        ErrorLogFramer framer = new ErrorLogFramer();
        framer.read(ByteBuffer.wrap(snapshot));
        return framer;
    }

    @Override
    public long line(byte[] buffer, int from, int to, long offset, FrameListener out) {
        position = offset + (to - from);
        int end = ByteText.withoutLineEnd(buffer, from, to);
        if (afterRule(buffer, from, end, out) || afterMonitor(buffer, from, end, offset, out)) {
            return position;
        }
        if (state != MONITOR
                && !insideLiteral()
                && end - from >= 10
                && buffer[from] == '='
                && QuotedStatementTracker.isRule(buffer, from, end)) {
            ruleAt = offset;
            limit(out);
            return position;
        }
        if (startsEntry(buffer, from, end)) {
            return header(buffer, from, offset, out);
        }
        other(buffer, from, end, offset, out);
        return position;
    }

    /**
     * Reads the line after one of equals signs; returns true if it starts a monitor's output and needs no further
     * processing.
     */
    private boolean afterRule(byte[] buffer, int from, int end, FrameListener out) {
        if (ruleAt < 0) {
            return false;
        }
        long rule = ruleAt;
        ruleAt = -1;
        if (MessageBoundaries.isMonitorHeader(buffer, from, end)) {
            int timeTo = Math.max(from, LogTime.end(buffer, from, end));
            timedBy(buffer, from, timeTo);
            close(rule, out);
            begin(MONITOR, rule);
            takeTime(buffer, from, timeTo);
            return true;
        }
        if (state == NOTHING) {
            begin(time.length > 0 ? MESSAGE : UNTIMED, rule);
        }
        return false;
    }

    /**
     * Reads the line after the last text of a monitor's output. It is a line of equals signs unless that is missing.
     */
    private boolean afterMonitor(byte[] buffer, int from, int end, long offset, FrameListener out) {
        if (!ending) {
            return false;
        }
        ending = false;
        boolean rule = QuotedStatementTracker.isRule(buffer, from, end);
        close(rule ? position : offset, out);
        return rule;
    }

    /** Returns whether the line starts an entry, or continues a deadlock's report with a separate header. */
    private boolean startsEntry(byte[] buffer, int from, int end) {
        boolean found = header.read(buffer, from, end);
        boolean level = header.levelTo > header.levelFrom || header.form != ErrorLine.Form.TEXT;
        return found && (state != MONITOR || level);
    }

    private long header(byte[] buffer, int from, long offset, FrameListener out) {
        if (insideLiteral()) {
            return headerInLiteral(buffer, from, offset, out);
        }
        if (state == DEADLOCK && MessageBoundaries.continuesDeadlock(buffer, header)) {
            statement.reset();
            if (MessageBoundaries.endsDeadlock(buffer, header.messageFrom, header.messageTo)) {
                close(position, out);
            }
            limit(out);
            return position;
        }
        boolean crash = MessageBoundaries.startsCrash(buffer, header.messageFrom, header.messageTo);
        if (crash && state == MESSAGE && assertion) {
            state = CRASH;
            return position;
        }
        if (header.form == ErrorLine.Form.TIME_OF_DAY && time.length == 0) {
            other(buffer, from, header.messageTo, offset, out);
            return position;
        }
        timedBy(buffer, header.timeFrom, header.timeTo);
        close(offset, out);
        begin(offset, buffer, crash, out);
        return position;
    }

    /** Returns whether the next text may be from the client, whatever it contains. */
    private boolean insideLiteral() {
        return statement.insideLiteral() || quote.isOpen();
    }

    /** Assigns the first time to the lines before it: they were written earlier, and this is the closest known time. */
    private void timedBy(byte[] buffer, int timeFrom, int timeTo) {
        if (state == UNTIMED && timeTo > timeFrom && timeTo - timeFrom <= MAX_TIME_LENGTH) {
            time = Arrays.copyOfRange(buffer, timeFrom, timeTo);
            state = MESSAGE;
        }
    }

    /**
     * Reads a header inside a literal. Either the literal contains it, or the literal never ends: the number of
     * headers decides.
     */
    private long headerInLiteral(byte[] buffer, int from, long offset, FrameListener out) {
        forged = true;
        firstProof = firstProof < 0 ? offset : firstProof;
        if (++proofs < PROOFS) {
            readLiteral(buffer, from, header.messageTo);
            limit(out);
            return position;
        }
        ambiguous = true;
        forged = false;
        ambiguousUntil = position;
        long resume = firstProof;
        position = resume;
        close(resume, out);
        return resume;
    }

    private void readLiteral(byte[] buffer, int from, int to) {
        if (statement.isOpen()) {
            statement.line(buffer, from, to);
        } else {
            quote.line(buffer, from, to);
        }
    }

    private void begin(long offset, byte[] buffer, boolean crash, FrameListener out) {
        begin(MESSAGE, offset);
        ownTime = header.form != ErrorLine.Form.TIME_OF_DAY;
        if (ownTime) {
            takeTime(buffer, header.timeFrom, header.timeTo);
        }
        if (header.form == ErrorLine.Form.JSON || header.form == ErrorLine.Form.WRAPPED) {
            close(position, out);
        } else if (crash) {
            state = CRASH;
        } else if (MessageBoundaries.startsDeadlock(buffer, header)) {
            state = DEADLOCK;
            if (MessageBoundaries.endsDeadlock(buffer, header.messageFrom, header.messageTo)) {
                close(position, out);
            }
        } else if (MessageBoundaries.isWhole(buffer, header)) {
            close(position, out);
        } else {
            assertion = MessageBoundaries.isAssertion(buffer, header.messageFrom, header.messageTo);
            boolean ended = quoted(buffer, header.messageFrom, header.messageTo);
            if (!ended && !statement.isOpen()) {
                quote.line(buffer, header.messageFrom, header.messageTo);
            }
        }
    }

    /**
     * Reads a statement that the line quotes, if there is one. Returns whether the server ended it in this line: then
     * nothing is open, however many quotation marks the names before the statement have.
     */
    private boolean quoted(byte[] buffer, int from, int to) {
        int start = MessageBoundaries.quotedStatement(buffer, from, to);
        if (start == to) {
            return false;
        }
        boolean quote = buffer[start] == '\'' || buffer[start] == '"';
        statement.begin(buffer, start, start);
        return quotedLine(buffer, quote ? start + 1 : start, to);
    }

    /** Reads a line of a quoted statement. Returns whether text of the server after it, outside of a literal, ends it. */
    private boolean quotedLine(byte[] buffer, int from, int to) {
        int tail = MessageBoundaries.tail(buffer, from, to);
        statement.line(buffer, from, tail < 0 ? to : tail);
        if (tail >= 0 && !statement.insideLiteral()) {
            statement.reset();
            return true;
        }
        if (tail >= 0) {
            statement.line(buffer, tail, to);
        }
        return false;
    }

    private void begin(int newState, long offset) {
        state = newState;
        pendingFrom = offset;
        ownTime = false;
        assertion = false;
        mariaDb = false;
        forged = false;
        ambiguous = false;
        firstProof = -1;
        proofs = 0;
        statement.reset();
        quote.reset();
    }

    private void takeTime(byte[] buffer, int from, int to) {
        if (to > from && to - from <= MAX_TIME_LENGTH) {
            time = Arrays.copyOfRange(buffer, from, to);
            ownTime = true;
        }
    }

    /** Reads a line without a header. */
    private void other(byte[] buffer, int from, int end, long offset, FrameListener out) {
        switch (state) {
            case NOTHING -> first(buffer, from, end, offset, out);
            case DEADLOCK -> {
                statement.line(buffer, from, end);
                if (!statement.insideLiteral() && MessageBoundaries.endsDeadlock(buffer, from, end)) {
                    close(position, out);
                }
            }
            case MONITOR -> {
                statement.line(buffer, from, end);
                ending = !statement.insideLiteral() && ByteText.startsWith(buffer, from, end, END_OF_MONITOR);
            }
            case CRASH -> crash(buffer, from, end, out);
            default -> {
                assertion |= MessageBoundaries.isAssertion(buffer, from, end);
                if (statement.isOpen()) {
                    quotedLine(buffer, from, end);
                } else if (quote.isOpen()) {
                    quote.line(buffer, from, end);
                } else {
                    quoted(buffer, from, end);
                }
            }
        }
        limit(out);
    }

    private void first(byte[] buffer, int from, int end, long offset, FrameListener out) {
        if (ByteText.skipBlanks(buffer, from, end) == end) {
            out.framing(offset, position, FramingKind.BLANK);
            pendingFrom = position;
        } else if (InnoDbStatusOutput.isAround(buffer, from, end)) {
            out.framing(offset, position, FramingKind.DOCUMENT);
            pendingFrom = position;
        } else {
            begin(time.length > 0 ? MESSAGE : UNTIMED, offset);
            assertion = MessageBoundaries.isAssertion(buffer, from, end);
            boolean crash = time.length > 0 && MessageBoundaries.startsCrash(buffer, from, end);
            state = crash ? CRASH : state;
        }
    }

    private void crash(byte[] buffer, int from, int end, FrameListener out) {
        statement.line(buffer, from, end);
        if (statement.insideLiteral()) {
            return;
        }
        boolean version = ByteText.startsWith(buffer, from, end, SERVER_VERSION)
                && ByteText.indexOf(buffer, from, end, MARIADB_VERSION) > 0;
        mariaDb |= version || ByteText.indexOf(buffer, from, end, MARIADB) >= 0;
        boolean last = ByteText.startsWith(buffer, from, end, END_OF_MARIADB_CRASH)
                || !mariaDb && ByteText.startsWith(buffer, from, end, END_OF_CRASH);
        if (last) {
            close(position, out);
        }
    }

    private void limit(FrameListener out) {
        long longest = state == UNTIMED ? EntryLimits.MAX_REJECTION_LENGTH : MAX_ENTRY_LENGTH;
        if (state != NOTHING && position - pendingFrom > longest) {
            close(position, out);
            ruleAt = -1;
        }
    }

    /** Reports what is pending before an offset. */
    private void close(long to, FrameListener out) {
        if (state == UNTIMED) {
            out.rejected(
                    pendingFrom,
                    to,
                    DeadLetterCode.NO_ENTRY_START,
                    "expected a time at the start of a message, found none before it");
        } else if (state != NOTHING) {
            out.entry(pendingFrom, to, context());
        }
        state = NOTHING;
        ending = false;
        pendingFrom = to;
        statement.reset();
        quote.reset();
    }

    private EntryContext context() {
        boolean doubtful = !ambiguous && pendingFrom < ambiguousUntil;
        if (ownTime && !forged && !ambiguous && !doubtful) {
            return EntryContext.NONE;
        }
        String inherited = ownTime ? "" : new String(time, StandardCharsets.ISO_8859_1);
        return new EntryContext("", inherited, forged || doubtful, ambiguous || doubtful);
    }

    @Override
    public long pendingFrom() {
        return state != NOTHING ? pendingFrom : ruleAt >= 0 ? ruleAt : position;
    }

    @Override
    public void end(FrameListener out) {
        if (ruleAt >= 0 && state == NOTHING) {
            begin(time.length > 0 ? MESSAGE : UNTIMED, ruleAt);
        }
        ruleAt = -1;
        close(position, out);
    }

    @Override
    public void hole(long resumeAt, FrameListener out) {
        end(out);
        time = new byte[0];
        position = resumeAt;
        pendingFrom = resumeAt;
    }

    @Override
    public byte[] snapshot() {
        ByteBuffer out = ByteBuffer.allocate(72 + time.length);
        out.putLong(position)
                .putLong(pendingFrom)
                .put((byte) state)
                .putLong(ruleAt)
                .put(PackedBooleans.pack(ending, assertion, mariaDb, ownTime, forged, ambiguous, quote.isOpen()));
        out.putLong(firstProof).put((byte) proofs);
        statement.write(out);
        out.put((byte) time.length).put(time).putLong(ambiguousUntil);
        return Arrays.copyOf(out.array(), out.position());
    }

    private void read(ByteBuffer in) {
        position = in.getLong();
        pendingFrom = in.getLong();
        state = in.get();
        ruleAt = in.getLong();
        byte flags = in.get();
        ending = PackedBooleans.get(flags, 0);
        assertion = PackedBooleans.get(flags, 1);
        mariaDb = PackedBooleans.get(flags, 2);
        ownTime = PackedBooleans.get(flags, 3);
        forged = PackedBooleans.get(flags, 4);
        ambiguous = PackedBooleans.get(flags, 5);
        quote.restore(PackedBooleans.get(flags, 6));
        firstProof = in.getLong();
        proofs = in.get();
        statement.restore(in);
        time = new byte[in.get()];
        in.get(time);
        // Snapshots of 0.1 before the field was added end here.
        ambiguousUntil = in.hasRemaining() ? in.getLong() : 0;
    }
}
