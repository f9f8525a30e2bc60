package io.tailrace.generallog;

import io.tailrace.audit.record.ProtocolCommand;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryLimits;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import io.tailrace.framing.PackedBooleans;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.StatementScanner;
import io.tailrace.session.SessionTracker;
import io.tailrace.session.SessionTracker.Session;
import io.tailrace.session.UseStatement;
import io.tailrace.time.LogTime;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Splits a general log into commands and tracks the open connections. A command starts at a line with a thread id and
 * a command's name. A statement includes the lines that follow, and only the next command ends it, because the log
 * contains no final semicolon.
 *
 * <p>A literal or comment may contain lines that resemble commands; they start no command. If, however, {@value
 * #PROOFS} of them name open connections and are in the order of time before the literal ends, then the literal was
 * never closed (servers log statements before they parse them), and reading continues at the first of them. One is
 * enough if the literal has ended according to NO_BACKSLASH_ESCAPES.
 */
final class GeneralLogFramer implements EntryFramer {

    /**
     * Versions 0 and 1 contain the open quote instead of the state of {@link #plain}. Version 0 contains neither the
     * thread nor the USE statement.
     */
    private static final byte SNAPSHOT_VERSION = 2;

    private static final int PROOFS = 3;
    private static final int MAX_TIME_LENGTH = 40;

    private static final int NOTHING = 0;
    private static final int STATEMENT = 1;
    /** Lines that belong to no command. */
    private static final int STRAY = 2;
    /** The same, before the first command with a known time. */
    private static final int UNKNOWN = 3;

    private static final int BANNER = 4;

    static final byte[] DENIED = ByteText.ascii("Access denied for user '");

    /** Maximum difference by which threads overtake each other, microseconds. */
    private static final long MAX_OVERTAKING = 2_000_000;

    private final LogTime times = new LogTime();
    private final GeneralLine header = new GeneralLine();
    private final ConnectArgument account = new ConnectArgument();
    private final StatementScanner scanner = new StatementScanner();
    /** Provides a second reading when {@code SELECT 'c:\temp\'} seems never to end. */
    private final StatementScanner plain = new StatementScanner(false);
    /** Reads the statements that the server executes, not those that it prepares. */
    private final UseStatement use = new UseStatement();

    private SessionTracker sessions = new SessionTracker();

    private long position;
    private long pendingFrom;
    private int state = UNKNOWN;
    private boolean forged;
    private boolean ambiguous;
    private long firstProof = -1;
    private long secondProof = -1;
    private int proofs;
    private String time = "";
    private boolean ownTime;
    private Session session = Session.UNKNOWN;
    private long threadId;
    /** The current command is the first one of its connection since a login. */
    private boolean loggedIn;

    static GeneralLogFramer restore(byte[] snapshot) {
        GeneralLogFramer framer = new GeneralLogFramer();
        framer.read(ByteBuffer.wrap(snapshot));
        return framer;
    }

    @Override
    public long line(byte[] buffer, int from, int to, long offset, FrameListener out) {
        position = offset + (to - from);
        int end = ByteText.withoutLineEnd(buffer, from, to);
        if (GeneralLine.isBanner(buffer, from, end)) {
            banner(offset, out);
            return position;
        }
        if (state == BANNER && GeneralLine.isBannerTail(buffer, from, end)) {
            out.framing(offset, position, FramingKind.BANNER);
            pendingFrom = position;
            return position;
        }
        if (header.read(buffer, from, end) && (header.hasTime() || !time.isEmpty())) {
            return header(buffer, offset, out);
        }
        other(buffer, from, end, offset, out);
        return position;
    }

    /**
     * Handles a banner: the server has started and numbers its threads from the beginning, or has reopened the log.
     * Within a literal, the log cannot show whether the client wrote the banner or the literal was never closed.
     */
    private void banner(long offset, FrameListener out) {
        ambiguous |= state == STATEMENT && scanner.insideLiteral();
        finish(offset, out);
        out.framing(offset, position, FramingKind.BANNER);
        pendingFrom = position;
        state = BANNER;
        sessions.clear();
    }

    private long header(byte[] buffer, long offset, FrameListener out) {
        if (state == STATEMENT && scanner.insideLiteral()) {
            return headerInLiteral(buffer, offset, out);
        }
        close(offset, out);
        begin(buffer, offset, out);
        return position;
    }

    private long headerInLiteral(byte[] buffer, long offset, FrameListener out) {
        boolean plausible = isPlausible(buffer);
        proofs += plausible ? 1 : 0;
        firstProof = plausible && proofs == 1 ? offset : firstProof;
        secondProof = plausible && proofs == 2 ? offset : secondProof;
        if (plausible && header.command == ProtocolCommand.CONNECT) {
            sessions.starts(header.threadId);
        }
        boolean closedWithoutEscapes = proofs == 1 && plausible && !plain.insideLiteral();
        if (proofs < PROOFS && !closedWithoutEscapes) {
            forged = true;
            read(buffer, header.timeFrom, header.argumentTo);
            limit(out);
            return position;
        }
        forged = false;
        ambiguous = true;
        long resume = firstProof;
        position = resume;
        close(resume, out);
        return resume;
    }

    private void read(byte[] buffer, int from, int to) {
        scanner.line(buffer, from, to);
        plain.line(buffer, from, to);
        use.line(buffer, from, to);
    }

    /**
     * Returns whether a header is plausible: its connection is open or opens, and its time is not before the last
     * command.
     */
    private boolean isPlausible(byte[] buffer) {
        boolean known = !contradictsConnections();
        String headerTime = time(buffer);
        return known
                && (headerTime.isEmpty() || headerTime.length() != time.length() || headerTime.compareTo(time) >= 0);
    }

    /**
     * Returns whether a command is before the previous one by more than threads overtake each other. Then the clock
     * was set back, or one of the two is forged.
     */
    private boolean contradictsTime(byte[] buffer) {
        String headerTime = time(buffer);
        if (headerTime.length() != time.length() || headerTime.compareTo(time) >= 0) {
            return false;
        }
        return micros(time) - micros(headerTime) > MAX_OVERTAKING;
    }

    private long micros(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        return times.micros(bytes, 0, bytes.length, "UTC");
    }

    private boolean contradictsConnections() {
        return header.command != ProtocolCommand.CONNECT && sessions.contradicts(header.threadId);
    }

    private String time(byte[] buffer) {
        int length = Math.min(header.timeTo - header.timeFrom, MAX_TIME_LENGTH);
        return latin1(buffer, header.timeFrom, header.timeFrom + length);
    }

    private static String latin1(byte[] buffer, int from, int to) {
        return new String(buffer, from, to - from, StandardCharsets.ISO_8859_1);
    }

    private void begin(byte[] buffer, long offset, FrameListener out) {
        pendingFrom = offset;
        state = STATEMENT;
        ownTime = header.hasTime();
        ambiguous = contradictsTime(buffer) || contradictsConnections();
        time = ownTime ? time(buffer) : time;
        forged = false;
        firstProof = -1;
        secondProof = -1;
        proofs = 0;
        scanner.reset();
        plain.reset();
        if (header.command == ProtocolCommand.QUERY || header.command == ProtocolCommand.EXECUTE) {
            use.start();
        } else {
            use.stop();
        }
        session(buffer);
        if (header.command.hasStatement()) {
            read(buffer, header.argumentFrom, header.argumentTo);
            limit(out);
        } else {
            close(position, out);
        }
    }

    /** Records what the command states about its connection. */
    private void session(byte[] buffer) {
        long id = header.threadId;
        threadId = id;
        int from = header.argumentFrom;
        int to = header.argumentTo;
        switch (header.command) {
            case CONNECT, CHANGE_USER -> connect(buffer, id, from, to);
            case INIT_DB -> {
                if (!ByteText.startsWith(buffer, from, to, DENIED)) {
                    sessions.use(id, latin1(buffer, from, to));
                } else if (!sessions.of(id).isNew()
                        && deniedDatabase(buffer).equals(sessions.of(id).database())) {
                    sessions.use(id, ""); // the server refused the USE before it
                }
            }
            default -> {}
        }
        session = sessions.of(id);
        loggedIn = session.isNew() && provesLogin(buffer);
        if (loggedIn) {
            sessions.loggedIn(id);
        }
        if (header.command == ProtocolCommand.QUIT) {
            sessions.quit(id);
        }
    }

    /** Records at the end of a statement which database it leaves to its connection. */
    private void endStatement() {
        String database = use.database();
        if (database != null) {
            sessions.use(threadId, database);
            session = new Session(session.account(), database, false);
        }
        use.stop();
    }

    /** Records that a statement was not read to its end, so it may have changed the database. */
    private void forgetDatabase() {
        if (use.isStarted()) {
            sessions.use(threadId, "");
            use.stop();
        }
    }

    /**
     * Returns whether the command proves that the login succeeded. If the account has no privilege on the database of
     * the login, the server refuses the login and logs a refused selection of that database.
     */
    private boolean provesLogin(byte[] buffer) {
        return switch (header.command) {
            case CONNECT, CHANGE_USER -> false;
            case INIT_DB -> !ByteText.startsWith(buffer, header.argumentFrom, header.argumentTo, DENIED)
                    || !deniedDatabase(buffer).equals(session.database());
            default -> true;
        };
    }

    private String deniedDatabase(byte[] buffer) {
        int to = header.argumentTo;
        int at = ByteText.lastIndexOf(buffer, header.argumentFrom, to, GeneralLogParser.TO_DATABASE);
        int from = at < 0 ? to : at + GeneralLogParser.TO_DATABASE.length;
        return latin1(buffer, from, Math.max(from, to - 1));
    }

    private void connect(byte[] buffer, long id, int from, int to) {
        sessions.starts(id);
        boolean named = account.read(buffer, from, to);
        if (named && !account.denied) {
            String name = latin1(buffer, account.userFrom, account.userTo)
                    + '@'
                    + latin1(buffer, account.hostFrom, account.hostTo);
            sessions.connect(id, name, latin1(buffer, account.databaseFrom, account.databaseTo));
        } else {
            sessions.quit(id);
        }
    }

    private void other(byte[] buffer, int from, int end, long offset, FrameListener out) {
        boolean blank = ByteText.skipBlanks(buffer, from, end) == end;
        boolean idle = state == NOTHING || state == BANNER || state == UNKNOWN && pendingFrom == offset;
        if (state == STATEMENT) {
            read(buffer, from, end);
        } else if (blank && idle) {
            out.framing(offset, position, FramingKind.BLANK);
            pendingFrom = position;
        } else if (idle) {
            pendingFrom = offset;
            state = time.isEmpty() ? UNKNOWN : STRAY;
        }
        limit(out);
    }

    private void limit(FrameListener out) {
        long length = position - pendingFrom;
        if (state == STATEMENT && length > EntryLimits.MAX_ENTRY_LENGTH) {
            forgetDatabase();
            out.rejected(
                    pendingFrom,
                    position,
                    DeadLetterCode.ENTRY_TOO_LARGE,
                    "expected an entry of at most " + EntryLimits.MAX_ENTRY_LENGTH + " bytes");
            state = NOTHING;
            pendingFrom = position;
        } else if ((state == STRAY || state == UNKNOWN) && length > EntryLimits.MAX_REJECTION_LENGTH) {
            close(position, out);
        }
    }

    /** Reports what is pending before an offset. */
    private void close(long to, FrameListener out) {
        if (to > pendingFrom) {
            switch (state) {
                case STATEMENT -> {
                    endStatement();
                    out.entry(pendingFrom, to, context());
                }
                case STRAY -> out.rejected(
                        pendingFrom,
                        to,
                        DeadLetterCode.STRAY_TEXT,
                        "expected a command's first line: time, thread id, command");
                case UNKNOWN -> out.rejected(
                        pendingFrom,
                        to,
                        DeadLetterCode.NO_ENTRY_START,
                        "expected a command with a time, found none before it");
                default -> {}
            }
        }
        state = time.isEmpty() ? UNKNOWN : NOTHING;
        pendingFrom = to;
    }

    private EntryContext context() {
        return new EntryContext(
                session.database(), ownTime ? "" : time, session.account(), loggedIn, forged, ambiguous);
    }

    @Override
    public long pendingFrom() {
        return pendingFrom;
    }

    @Override
    public void end(FrameListener out) {
        finish(position, out);
    }

    /**
     * Ends the file. If the open literal contains one or two headers, it never ends, so they start commands. Their
     * connections are unknown.
     */
    private void finish(long to, FrameListener out) {
        boolean open = state == STATEMENT && scanner.insideLiteral();
        if (open && firstProof >= 0) {
            forged = false;
            ambiguous = true;
            long second = secondProof;
            closeAtProof(firstProof, out);
            if (second >= 0) {
                closeAtProof(second, out);
            }
        }
        close(to, out);
    }

    private void closeAtProof(long proof, FrameListener out) {
        close(proof, out);
        state = STATEMENT;
        ownTime = false;
        session = Session.UNKNOWN;
        loggedIn = false;
    }

    @Override
    public void hole(long resumeAt, FrameListener out) {
        finish(position, out);
        sessions.clear();
        time = "";
        state = UNKNOWN;
        position = resumeAt;
        pendingFrom = resumeAt;
    }

    @Override
    public byte[] snapshot() {
        byte[] open = sessions.write();
        byte[] when = time.getBytes(StandardCharsets.ISO_8859_1);
        byte[] user = session.account().getBytes(StandardCharsets.ISO_8859_1);
        byte[] database = session.database().getBytes(StandardCharsets.ISO_8859_1);
        byte[] used = use.write();
        int texts = when.length + user.length + database.length + used.length;
        ByteBuffer out = ByteBuffer.allocate(86 + open.length + texts);
        boolean second = secondProof >= 0;
        out.put(SNAPSHOT_VERSION)
                .putLong(position)
                .putLong(pendingFrom)
                .put((byte) state)
                .put(PackedBooleans.pack(forged, ambiguous, ownTime, second, loggedIn))
                .putLong(firstProof);
        if (second) {
            out.putLong(secondProof);
        }
        out.put((byte) proofs).putInt(scanner.state()).putInt(plain.state());
        out.putLong(threadId);
        put(out, used);
        put(out, when);
        put(out, user);
        put(out, database);
        out.put(open);
        return Arrays.copyOf(out.array(), out.position());
    }

    private static void put(ByteBuffer out, byte[] value) {
        out.putShort((short) value.length).put(value);
    }

    /** Snapshots of earlier versions begin with the position, whose first byte is 0. */
    private void read(ByteBuffer in) {
        byte version = in.get(0);
        if (version < 0 || version > SNAPSHOT_VERSION) {
            throw new IllegalArgumentException(
                    "expected a snapshot of version 0 to " + SNAPSHOT_VERSION + ", found " + version);
        }
        in.position(version == 0 ? 0 : 1);
        position = in.getLong();
        pendingFrom = in.getLong();
        state = in.get();
        byte flags = in.get();
        forged = PackedBooleans.get(flags, 0);
        ambiguous = PackedBooleans.get(flags, 1);
        ownTime = PackedBooleans.get(flags, 2);
        loggedIn = PackedBooleans.get(flags, 4);
        firstProof = in.getLong();
        secondProof = PackedBooleans.get(flags, 3) ? in.getLong() : -1;
        proofs = in.get();
        scanner.restore(in.getInt());
        if (version == SNAPSHOT_VERSION) {
            plain.restore(in.getInt());
        } else {
            restorePlain(in.get());
        }
        if (version > 0) {
            threadId = in.getLong();
            use.read(text(in).getBytes(StandardCharsets.ISO_8859_1));
        }
        time = text(in);
        String user = text(in);
        session = new Session(user, text(in), false);
        byte[] open = new byte[in.remaining()];
        in.get(open);
        sessions = SessionTracker.read(open);
    }

    /** Restores the second reading by the quote that is open, an asterisk for a comment, or 0. */
    private void restorePlain(byte open) {
        plain.reset();
        byte[] opened = open == 0 ? new byte[0] : open == '*' ? new byte[] {'/', '*'} : new byte[] {open};
        plain.line(opened, 0, opened.length);
    }

    private static String text(ByteBuffer in) {
        byte[] value = new byte[in.getShort()];
        in.get(value);
        return new String(value, StandardCharsets.ISO_8859_1);
    }
}
