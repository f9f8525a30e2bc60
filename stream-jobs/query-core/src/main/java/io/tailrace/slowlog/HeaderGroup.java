package io.tailrace.slowlog;

import io.tailrace.framing.PackedBooleans;
import java.nio.ByteBuffer;

/**
 * A group of header lines within a statement that is not complete. It is either the start of the next entry, or text
 * of the statement that resembles one.
 *
 * <p>A server writes {@code # User@Host}, {@code # Query_time} and {@code SET timestamp=…;}, and then a statement. A
 * client's statement cannot contain {@code SET timestamp=…;} outside of literals and comments and continue after it.
 * So the group is proven when a line follows that does not start an entry itself.
 */
final class HeaderGroup {

    enum Verdict {
        /** There is no group, or it is not decided yet. */
        OPEN,
        /** The group is text of the statement. */
        REFUTED,
        /** The group starts an entry. */
        PROVEN
    }

    private static final int NONE = 0;
    private static final int TIME = 1;
    private static final int USER = 2;
    private static final int QUERY_TIME = 3;
    private static final int STAMPED = 4;

    private int step;
    long from;
    boolean inside;
    boolean afterStatement;
    /** The line before the group ends with a semicolon, like every complete entry. */
    boolean afterSemicolon;
    /** Its time header is not before that of the current entry. */
    boolean fits;

    long timestamp;
    long querySeconds;

    boolean isOpen() {
        return step != NONE;
    }

    /**
     * Returns whether the group contains what only a complete header contains, so that a semicolon after it belongs
     * to the header. Within a literal this requires that its last line was read, because a quotation mark in the
     * group may have closed the literal.
     */
    boolean holdsSemicolon() {
        return step >= (inside ? STAMPED : QUERY_TIME);
    }

    void clear() {
        step = NONE;
        from = 0;
        inside = false;
        afterStatement = false;
        afterSemicolon = false;
        fits = false;
        timestamp = 0;
        querySeconds = 0;
    }

    /**
     * Starts a group.
     *
     * @param offset file offset of its first line
     * @param insideLiteral whether a literal, comment or block is open before it
     * @param statementMayEnd whether the text before it may be a complete statement
     */
    void start(SlowLogLine line, long offset, boolean insideLiteral, boolean statementMayEnd) {
        clear();
        step = line == SlowLogLine.TIME ? TIME : USER;
        from = offset;
        inside = insideLiteral;
        afterStatement = statementMayEnd;
    }

    /** Reads the line after the group. */
    Verdict next(SlowLogLine line, byte[] bytes, int lineFrom, int lineTo) {
        return switch (step) {
            case NONE -> Verdict.OPEN;
            case TIME -> line == SlowLogLine.USER ? advance(USER) : Verdict.REFUTED;
            case USER -> afterUser(line, bytes, lineFrom, lineTo);
            case QUERY_TIME -> afterQueryTime(line, bytes, lineFrom, lineTo);
            default -> afterTimestamp(line);
        };
    }

    private Verdict advance(int next) {
        step = next;
        return Verdict.OPEN;
    }

    private Verdict afterUser(SlowLogLine line, byte[] bytes, int from, int to) {
        if (line == SlowLogLine.QUERY_TIME) {
            querySeconds = SlowLogFields.leadingSeconds(bytes, from, to);
            return advance(QUERY_TIME);
        }
        return line == SlowLogLine.HASH ? Verdict.OPEN : Verdict.REFUTED;
    }

    private Verdict afterQueryTime(SlowLogLine line, byte[] bytes, int lineFrom, int lineTo) {
        return switch (line) {
            case HASH, USE -> Verdict.OPEN;
            case SET_TIMESTAMP -> {
                timestamp = SlowLogLine.timestampValue(bytes, lineFrom, lineTo);
                yield advance(STAMPED);
            }
            case ADMINISTRATOR_COMMAND -> Verdict.PROVEN;
            default -> afterStatement ? Verdict.PROVEN : Verdict.REFUTED;
        };
    }

    private static Verdict afterTimestamp(SlowLogLine line) {
        if (line == SlowLogLine.BLANK) {
            return Verdict.OPEN;
        }
        boolean anotherEntry = line.startsEntry() || line == SlowLogLine.BANNER_VERSION;
        return anotherEntry ? Verdict.REFUTED : Verdict.PROVEN;
    }

    void write(ByteBuffer out) {
        byte flags = PackedBooleans.pack(inside, afterStatement, afterSemicolon, fits);
        out.put((byte) step).put(flags).putLong(from).putLong(timestamp).putLong(querySeconds);
    }

    void read(ByteBuffer in) {
        step = in.get();
        byte flags = in.get();
        inside = PackedBooleans.get(flags, 0);
        afterStatement = PackedBooleans.get(flags, 1);
        afterSemicolon = PackedBooleans.get(flags, 2);
        fits = PackedBooleans.get(flags, 3);
        from = in.getLong();
        timestamp = in.getLong();
        querySeconds = in.getLong();
    }
}
