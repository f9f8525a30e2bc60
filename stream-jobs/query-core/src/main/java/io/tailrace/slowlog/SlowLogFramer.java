package io.tailrace.slowlog;

import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryLimits;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import io.tailrace.framing.PackedBooleans;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.StatementScanner;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Splits a slow log of MySQL 5.0 to 9.x, Percona Server or MariaDB into entries. docs/FORMATS.md documents the rules
 * and their reasons.
 *
 * <p>An entry is reported with the line that contains its statement's final semicolon. A header inside a literal or
 * comment starts no entry. A literal is considered never closed after {@value UnterminatedLiteralEvidence#ENOUGH}
 * headers that fit the log, or after one such header and a banner, the file's end or {@value #LITERAL_LIMIT} bytes.
 * Such literals occur because servers log statements that they rejected, and statements under NO_BACKSLASH_ESCAPES.
 */
final class SlowLogFramer implements EntryFramer {

    /** Size of an entry from which one proof is enough, bytes. */
    static final int LITERAL_LIMIT = 16 << 20;

    private static final byte SNAPSHOT_VERSION = 1;

    /** Upper limit of the size of a snapshot, bytes. */
    private static final int SNAPSHOT_ROOM = 1024;

    // Snapshots contain the numbers of states: a new one is the last one.
    private enum State {
        /** Outside entries. */
        BETWEEN,
        /** Within the server's banner. */
        BANNER,
        /** After an entry's first header line. */
        HEADERS,
        /** Within a {@code use} whose database name contains a line feed. */
        USE_OPEN,
        /** After {@code use}. */
        AFTER_USE,
        /** After {@code SET timestamp}, or within the statement. */
        STATEMENT,
        /** Among lines that belong to no entry. */
        SKIPPING
    }

    private final StatementScanner scanner = new StatementScanner();
    private final HeaderGroup group = new HeaderGroup();
    private final UnterminatedLiteralEvidence proofs = new UnterminatedLiteralEvidence();
    private final InheritedContext inherited = new InheritedContext();

    private State state = State.BETWEEN;
    /** Next offset to read. */
    private long position;
    /** First byte not yet reported. */
    private long start;

    private DeadLetterCode skipCode = DeadLetterCode.NO_ENTRY_START;
    private boolean entrySeen;
    /** Every entry of this log starts with a time: MySQL since 5.7.2, which writes it as ISO 8601. */
    private boolean everyEntryHasTime;

    private boolean ownTime;
    /** The entry's header contains a separate user line. */
    private boolean ownUser;

    private boolean ownDatabase;
    private boolean statementStarted;
    private long entryTimestamp;

    private boolean forgedHeader;
    private boolean lineEndsWithSemicolon;
    private int bannerStep;
    private long bannerFrom;
    private boolean statementMayEndAtBanner;
    /**
     * Entries that start before this offset are ambiguous: they follow a literal that was never closed, or contradict
     * the order of time.
     */
    private long ambiguousUntil;

    @Override
    public long line(byte[] buffer, int from, int to, long offset, FrameListener out) {
        position = offset + (to - from);
        int end = ByteText.withoutLineEnd(buffer, from, to);
        SlowLogLine line = SlowLogLine.of(buffer, from, end);
        switch (state) {
            case BETWEEN -> between(line, buffer, from, end, offset, out);
            case BANNER -> banner(line, buffer, from, end, offset, out);
            case HEADERS -> headers(line, buffer, from, end, offset, out);
            case USE_OPEN -> useOpen(line, buffer, from, end, offset, out);
            case AFTER_USE -> afterUse(line, buffer, from, end, offset, out);
            case STATEMENT -> statement(line, buffer, from, end, offset, out);
            case SKIPPING -> skipping(line, buffer, from, end, offset, out);
        }
        if (state != State.BETWEEN && position - start > EntryLimits.MAX_ENTRY_LENGTH) {
            rejectTooLarge(out);
        }
        return position;
    }

    @Override
    public long pendingFrom() {
        return state == State.BETWEEN ? position : start;
    }

    @Override
    public void end(FrameListener out) {
        finish(out);
    }

    @Override
    public void hole(long resumeAt, FrameListener out) {
        finish(out);
        state = State.BETWEEN;
        position = resumeAt;
        start = resumeAt;
        entrySeen = false;
        inherited.forget();
    }

    private void between(SlowLogLine line, byte[] bytes, int from, int end, long offset, FrameListener out) {
        start = offset;
        if (startsEntry(line)) {
            startEntry(line, bytes, from, end);
        } else if (line == SlowLogLine.BLANK) {
            out.framing(offset, position, FramingKind.BLANK);
        } else if (line.isBanner()) {
            startBanner(line, out);
        } else {
            skipCode = entrySeen ? DeadLetterCode.STRAY_TEXT : DeadLetterCode.NO_ENTRY_START;
            state = State.SKIPPING;
        }
    }

    /**
     * Returns whether the line starts an entry. After a hole, a user line may belong to an entry whose time was lost.
     */
    private boolean startsEntry(SlowLogLine line) {
        return line.startsEntry() && (line != SlowLogLine.USER || entrySeen || !everyEntryHasTime);
    }

    private void startBanner(SlowLogLine line, FrameListener out) {
        inherited.forget();
        everyEntryHasTime = false;
        entrySeen = true;
        state = State.BANNER;
        if (line == SlowLogLine.BANNER_HEADS) {
            endBanner(position, out);
        }
    }

    private void banner(SlowLogLine line, byte[] bytes, int from, int end, long offset, FrameListener out) {
        if (line == SlowLogLine.BANNER_HEADS) {
            endBanner(position, out);
        } else if (line != SlowLogLine.BANNER_PORT) {
            endBanner(offset, out);
            between(line, bytes, from, end, offset, out);
        }
    }

    private void endBanner(long to, FrameListener out) {
        out.framing(start, to, FramingKind.BANNER);
        state = State.BETWEEN;
    }

    private void startEntry(SlowLogLine line, byte[] bytes, int from, int end) {
        state = State.HEADERS;
        entrySeen = true;
        ownTime = false;
        ownUser = false;
        ownDatabase = false;
        statementStarted = false;
        entryTimestamp = 0;
        forgedHeader = false;
        proofs.clear();
        bannerStep = 0;
        group.clear();
        scanner.reset();
        header(line, bytes, from, end);
    }

    private void header(SlowLogLine line, byte[] bytes, int from, int end) {
        if (line == SlowLogLine.TIME || line == SlowLogLine.TIME_AND_USER) {
            if (inherited.isFarAfter(bytes, from, end)) {
                ambiguousUntil = Math.max(ambiguousUntil, start + 1);
            }
            ownTime |= inherited.takeTime(bytes, from, end);
            everyEntryHasTime = inherited.timeIsIso();
        }
        // After a line with both, the user line may follow again.
        ownUser |= line == SlowLogLine.USER;
    }

    private void headers(SlowLogLine line, byte[] bytes, int from, int end, long offset, FrameListener out) {
        boolean continues = line == SlowLogLine.USER && !ownUser;
        switch (line) {
            case TIME, USER, TIME_AND_USER -> {
                if (continues) {
                    header(line, bytes, from, end);
                } else {
                    rejectAndStart(line, bytes, from, end, offset, out);
                }
            }
            case ADMINISTRATOR_COMMAND -> complete(position, out);
            case QUERY_TIME, HASH -> ownUser = true;
            case USE -> use(bytes, from, end);
            case SET_TIMESTAMP -> timestamp(bytes, from, end);
            case BANNER_VERSION -> rejectAndStart(line, bytes, from, end, offset, out);
            default -> firstOfStatement(line, bytes, from, end, offset, out);
        }
    }

    /** Rejects the entry, which has no statement yet, because another one or a banner follows. */
    private void rejectAndStart(SlowLogLine line, byte[] bytes, int from, int end, long offset, FrameListener out) {
        rejectIncomplete(offset, out);
        between(line, bytes, from, end, offset, out);
    }

    private void timestamp(byte[] bytes, int from, int end) {
        entryTimestamp = SlowLogLine.timestampValue(bytes, from, end);
        state = State.STATEMENT;
    }

    private void use(byte[] bytes, int from, int end) {
        ownDatabase = true;
        inherited.takeDatabase(bytes, from, end);
        state = bytes[end - 1] == ';' ? State.AFTER_USE : State.USE_OPEN;
    }

    private void useOpen(SlowLogLine line, byte[] bytes, int from, int end, long offset, FrameListener out) {
        if (line.startsEntry() || line == SlowLogLine.BANNER_VERSION) {
            rejectAndStart(line, bytes, from, end, offset, out);
            return;
        }
        inherited.appendToDatabase(bytes, from, end);
        if (end > from && bytes[end - 1] == ';') {
            state = State.AFTER_USE;
        }
    }

    private void afterUse(SlowLogLine line, byte[] bytes, int from, int end, long offset, FrameListener out) {
        switch (line) {
            case TIME, USER, TIME_AND_USER, BANNER_VERSION -> {
                // The use line was the statement itself: servers before 5.1 may write no SET timestamp.
                complete(offset, out);
                between(line, bytes, from, end, offset, out);
            }
            case SET_TIMESTAMP -> timestamp(bytes, from, end);
            default -> firstOfStatement(line, bytes, from, end, offset, out);
        }
    }

    private void firstOfStatement(SlowLogLine line, byte[] bytes, int from, int end, long offset, FrameListener out) {
        state = State.STATEMENT;
        statement(line, bytes, from, end, offset, out);
    }

    private void statement(SlowLogLine line, byte[] bytes, int from, int end, long offset, FrameListener out) {
        if (!statementStarted && line == SlowLogLine.ADMINISTRATOR_COMMAND) {
            complete(position, out);
            return;
        }
        statementStarted = true;
        forgedHeader |= proofs.areRefutedBy(line, bytes, from, end);
        if (group.isOpen() && closesRun(line, bytes, from, end, offset, out)) {
            return;
        }
        if (line.startsEntry() && !group.isOpen()) {
            group.start(line, offset, scanner.inside(), scanner.mayBeComplete());
            group.afterSemicolon = lineEndsWithSemicolon;
            group.fits = !ownTime || line == SlowLogLine.USER || !inherited.isAfter(bytes, from, end);
        }
        lineEndsWithSemicolon = end > from && bytes[end - 1] == ';';
        if (bannerProven(line, bytes, from, end, offset, out)) {
            return;
        }
        scanner.line(bytes, from, end);
        if (scanner.complete() && !group.holdsSemicolon()) {
            endOfStatement(out);
        } else if (!proofs.isEmpty() && position - start > LITERAL_LIMIT) {
            abandonLiteral(out);
        }
    }

    /**
     * Ends a statement. If an entry ends here in both readings of a literal, the reading without headers in the
     * literal is used.
     */
    private void endOfStatement(FrameListener out) {
        if (proofs.endEntryHere()) {
            abandonLiteral(out);
        } else {
            forgedHeader |= group.isOpen() || !proofs.isEmpty();
            complete(position, out);
        }
    }

    /** Reads a line after an open group of header lines; returns true if the line needs no further processing. */
    private boolean closesRun(SlowLogLine line, byte[] bytes, int from, int end, long offset, FrameListener out) {
        HeaderGroup.Verdict verdict = group.next(line, bytes, from, end);
        if (verdict == HeaderGroup.Verdict.OPEN) {
            return false;
        }
        if (verdict == HeaderGroup.Verdict.REFUTED) {
            return runIsText(line, bytes, from, end, offset, out);
        }
        return group.inside ? proofAgainstLiteral(line, bytes, from, end, offset, out) : nextEntryFound(out);
    }

    private boolean runIsText(SlowLogLine line, byte[] bytes, int from, int end, long offset, FrameListener out) {
        forgedHeader = true;
        boolean statementEnded = group.holdsSemicolon() && scanner.complete();
        group.clear();
        if (statementEnded) {
            complete(offset, out);
            between(line, bytes, from, end, offset, out);
        }
        return statementEnded;
    }

    /**
     * Continues at the group, which starts the next entry. If it interrupts the current entry, and a header within
     * its literal follows an entry's end, the literal was never closed.
     */
    private boolean nextEntryFound(FrameListener out) {
        if (!group.afterStatement && !proofs.isEmpty() && proofs.endsEntry(0)) {
            abandonLiteral(out);
            return true;
        }
        if (group.afterStatement) {
            forgedHeader |= !proofs.isEmpty();
            complete(group.from, out);
        } else {
            rejectIncomplete(group.from, out);
        }
        resumeAt(group.from);
        return true;
    }

    /**
     * Adds a proof. If the statement would have ended with the group's own semicolon, it cannot continue, so the
     * literal was never closed.
     */
    private boolean proofAgainstLiteral(
            SlowLogLine line, byte[] bytes, int from, int end, long offset, FrameListener out) {
        if (!group.fits || !timestampFits()) {
            return runIsText(line, bytes, from, end, offset, out);
        }
        boolean statementEnded = scanner.complete();
        proofs.add(group, line, bytes, from, end);
        group.clear();
        if (proofs.areEnough() || statementEnded) {
            abandonLiteral(out);
            return true;
        }
        return false;
    }

    /** Returns whether the group's entry ended after the current one was logged, as every later entry of a log does. */
    private boolean timestampFits() {
        return group.timestamp + group.querySeconds >= entryTimestamp;
    }

    private void abandonLiteral(FrameListener out) {
        ambiguousUntil = position;
        endAtProof(0, out);
        resumeAt(proofs.from(0));
    }

    private void endAtProof(int proof, FrameListener out) {
        if (proofs.endsEntry(proof)) {
            complete(proofs.from(proof), out);
        } else {
            reject(proofs.from(proof), DeadLetterCode.UNTERMINATED_LITERAL, out);
        }
        start = proofs.from(proof);
    }

    private boolean bannerProven(SlowLogLine line, byte[] bytes, int from, int end, long offset, FrameListener out) {
        if (line == SlowLogLine.BANNER_VERSION) {
            bannerStep = 1;
            boolean atLineStart = SlowLogLine.bannerStart(bytes, from, end) == from;
            bannerFrom = atLineStart ? offset : position;
            statementMayEndAtBanner = atLineStart && scanner.mayBeComplete();
        } else if (line == SlowLogLine.BANNER_PORT && bannerStep == 1) {
            bannerStep = 2;
        } else if (line == SlowLogLine.BANNER_HEADS && bannerStep == 2) {
            cutAtBanner(out);
            return true;
        } else {
            bannerStep = 0;
        }
        return false;
    }

    private void cutAtBanner(FrameListener out) {
        long banner = bannerFrom;
        if (!proofs.isEmpty()) {
            abandonLiteral(out);
        } else {
            if (statementMayEndAtBanner) {
                complete(banner, out);
            } else {
                rejectIncomplete(banner, out);
            }
            resumeAt(banner);
        }
    }

    private void skipping(SlowLogLine line, byte[] bytes, int from, int end, long offset, FrameListener out) {
        if (startsEntry(line) || line == SlowLogLine.BANNER_VERSION) {
            rejectSkipped(offset, out);
            between(line, bytes, from, end, offset, out);
        } else if (position - start > EntryLimits.MAX_REJECTION_LENGTH) {
            rejectSkipped(position, out);
            start = position;
        }
    }

    private void complete(long to, FrameListener out) {
        if (to - start > EntryLimits.MAX_ENTRY_LENGTH) {
            reject(to, DeadLetterCode.ENTRY_TOO_LARGE, out);
        } else {
            out.entry(start, to, context());
        }
        state = State.BETWEEN;
    }

    private EntryContext context() {
        String inheritedTime = ownTime ? "" : inherited.time();
        String inheritedDatabase = ownDatabase ? "" : inherited.database();
        boolean ambiguous = start < ambiguousUntil || !proofs.isEmpty();
        if (inheritedTime.isEmpty() && inheritedDatabase.isEmpty() && !forgedHeader && !ambiguous) {
            return EntryContext.NONE;
        }
        return new EntryContext(inheritedDatabase, inheritedTime, forgedHeader, ambiguous);
    }

    private void rejectIncomplete(long to, FrameListener out) {
        reject(to, DeadLetterCode.INCOMPLETE, out);
    }

    private void rejectTooLarge(FrameListener out) {
        reject(position, DeadLetterCode.ENTRY_TOO_LARGE, out);
        skipCode = DeadLetterCode.ENTRY_TOO_LARGE;
        start = position;
        state = State.SKIPPING;
    }

    private void rejectSkipped(long to, FrameListener out) {
        if (to > start) {
            reject(to, skipCode, out);
        }
    }

    private void reject(long to, DeadLetterCode code, FrameListener out) {
        out.rejected(
                start,
                to,
                code,
                switch (code) {
                    case INCOMPLETE -> "expected the rest of an entry in state " + state
                            + ", found the next or the end";
                    case ENTRY_TOO_LARGE -> "expected an entry of at most " + EntryLimits.MAX_ENTRY_LENGTH + " bytes";
                    case UNTERMINATED_LITERAL -> "expected the end of a literal or comment, found headers of later entries";
                    case NO_ENTRY_START -> "expected the first line of an entry's header";
                    default -> "expected the first line of the next entry's header, found text after the final semicolon";
                });
        start = to;
    }

    private void resumeAt(long offset) {
        position = offset;
        start = offset;
        group.clear();
        state = State.BETWEEN;
    }

    private void finish(FrameListener out) {
        switch (state) {
            case BETWEEN -> {}
            case BANNER -> endBanner(position, out);
            case SKIPPING -> rejectSkipped(position, out);
            case STATEMENT -> finishStatement(out);
            default -> rejectIncomplete(position, out);
        }
        state = State.BETWEEN;
    }

    private void finishStatement(FrameListener out) {
        if (group.isOpen() && !group.inside && group.afterStatement) {
            complete(group.from, out);
            start = group.from;
            rejectIncomplete(position, out);
        } else if (scanner.mayBeComplete()) {
            forgedHeader |= group.isOpen() || !proofs.isEmpty();
            complete(position, out);
        } else {
            finishLiteral(out);
        }
    }

    /**
     * Ends a literal that never closes: the headers in it start entries. No further input will cause them to be read
     * again.
     */
    private void finishLiteral(FrameListener out) {
        for (int proof = 0; proof < proofs.count(); proof++) {
            endAtProof(proof, out);
        }
        if (!proofs.isEmpty() && lineEndsWithSemicolon) {
            complete(position, out);
        } else {
            rejectIncomplete(position, out);
        }
    }

    @Override
    public byte[] snapshot() {
        ByteBuffer out = ByteBuffer.allocate(SNAPSHOT_ROOM);
        out.put(SNAPSHOT_VERSION).put((byte) state.ordinal()).put((byte) skipCode.ordinal());
        out.put(PackedBooleans.pack(
                entrySeen,
                ownTime,
                ownUser,
                ownDatabase,
                statementStarted,
                forgedHeader,
                statementMayEndAtBanner,
                lineEndsWithSemicolon));
        out.putLong(position).putLong(start).putLong(entryTimestamp).putInt(scanner.state());
        out.put((byte) bannerStep).putLong(bannerFrom).putLong(ambiguousUntil);
        group.write(out);
        proofs.write(out);
        inherited.write(out);
        out.put(PackedBooleans.pack(everyEntryHasTime));
        return Arrays.copyOf(out.array(), out.position());
    }

    static SlowLogFramer restore(byte[] snapshot) {
        ByteBuffer buffer = ByteBuffer.wrap(snapshot);
        byte version = buffer.get();
        if (version != SNAPSHOT_VERSION) {
            throw new IllegalArgumentException(
                    "expected version " + SNAPSHOT_VERSION + " of a slow log framer's snapshot, found " + version);
        }
        SlowLogFramer framer = new SlowLogFramer();
        framer.read(buffer);
        return framer;
    }

    private void read(ByteBuffer in) {
        state = State.values()[in.get()];
        skipCode = DeadLetterCode.values()[in.get()];
        byte flags = in.get();
        entrySeen = PackedBooleans.get(flags, 0);
        ownTime = PackedBooleans.get(flags, 1);
        ownUser = PackedBooleans.get(flags, 2);
        ownDatabase = PackedBooleans.get(flags, 3);
        statementStarted = PackedBooleans.get(flags, 4);
        forgedHeader = PackedBooleans.get(flags, 5);
        statementMayEndAtBanner = PackedBooleans.get(flags, 6);
        lineEndsWithSemicolon = PackedBooleans.get(flags, 7);
        position = in.getLong();
        start = in.getLong();
        entryTimestamp = in.getLong();
        scanner.restore(in.getInt());
        bannerStep = in.get();
        bannerFrom = in.getLong();
        ambiguousUntil = in.getLong();
        group.read(in);
        proofs.read(in);
        inherited.read(in);
        everyEntryHasTime = in.hasRemaining() && in.get() != 0; // earlier snapshots end before it
    }
}
