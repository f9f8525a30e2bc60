package io.tailrace.errorlog;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.StatementScanner;
import java.nio.ByteBuffer;

/**
 * Tracks the statements that a message quotes, line by line, and distinguishes their lines from those of the server. A
 * statement starts
 *
 * <ul>
 *   <li>on the line after {@code MySQL thread id 20, …, query id 101 …}, in InnoDB's dumps of transactions,
 *   <li>after {@code Query (0x7f…): }, in a crash,
 *   <li>after {@code Query: '}, {@code Statement: } and similar texts, in a message.
 * </ul>
 *
 * <p>It ends before the next line that only the server writes, unless a literal or comment is open, because then the
 * client may have sent that line. InnoDB cuts statements, and a literal that was cut never closes. So at the lengths
 * at which InnoDB cuts, the line counts as the server's. Not thread-safe.
 */
final class QuotedStatementTracker {

    /** Lengths at which InnoDB cuts statements, in bytes: in the monitor, in old servers, in deadlocks. */
    private static final int[] CUTS = {600, 1024, 3000};

    private static final byte[] THREAD_ID = ByteText.ascii("thread id ");
    private static final byte[] QUERY_ID = ByteText.ascii("query id ");
    private static final byte[] CRASH_QUERY = ByteText.ascii("Query (");
    private static final byte[] CRASH_QUERY_END = ByteText.ascii("): ");
    private static final byte[] OLD_CRASH_QUERY = ByteText.ascii("thd->query at 0x");
    private static final byte[] OLD_CRASH_QUERY_END = ByteText.ascii(" = ");
    private static final byte[] INVALID = ByteText.ascii("is an invalid pointer");

    private static final byte[][] SERVER_LINES = {
        ByteText.ascii("***"),
        ByteText.ascii("RECORD LOCKS"),
        ByteText.ascii("TABLE LOCK"),
        ByteText.ascii("---TRANSACTION"),
        ByteText.ascii("TRANSACTION "),
        ByteText.ascii("------- TRX"),
        ByteText.ascii("Trx read view"),
        ByteText.ascii("Trx #rec"),
        ByteText.ascii("ROLLING BACK"),
        ByteText.ascii("Foreign key constraint fails"),
        ByteText.ascii("Record lock, heap"),
        ByteText.ascii("END OF INNODB MONITOR"),
        ByteText.ascii("MySQL thread id "),
        ByteText.ascii("MariaDB thread id "),
        ByteText.ascii("mysql tables in use"),
        ByteText.ascii("Connection ID (thread ID): "),
        ByteText.ascii("thd->thread_id="),
        ByteText.ascii("Trying to add in "),
        ByteText.ascii("WSREP: "),
    };

    private final StatementScanner scanner = new StatementScanner();
    private boolean active;
    /** Bytes of the statement so far, including the line feeds between its lines. */
    private int length;

    void reset() {
        active = false;
        scanner.reset();
        length = 0;
    }

    /** Returns whether the next line, or the rest of this one, belongs to a statement. */
    boolean isOpen() {
        return active;
    }

    /** Returns whether the next text is from the client, whatever it contains. */
    boolean insideLiteral() {
        return active && scanner.insideLiteral() && !mayBeCut();
    }

    private boolean mayBeCut() {
        for (int cut : CUTS) {
            if (length - 1 == cut) {
                return true;
            }
        }
        return false;
    }

    /**
     * Reads a line without its line end.
     *
     * @return index from which the line belongs to a statement; {@code to} if it does not
     */
    int line(byte[] bytes, int from, int to) {
        if (active && !(endsBefore(bytes, from, to) && !insideLiteral())) {
            read(bytes, from, to);
            return from;
        }
        active = false;
        int start = startIn(bytes, from, to);
        if (start < to) {
            begin();
            read(bytes, start, to);
        } else if (isTransactionLine(bytes, from, to)) {
            begin();
        }
        return start;
    }

    /** Starts a statement at {@code from} of a line, at the position that a marker identified. */
    void begin(byte[] bytes, int from, int to) {
        begin();
        read(bytes, from, to);
    }

    private void begin() {
        active = true;
        scanner.reset();
        length = 0;
    }

    private void read(byte[] bytes, int from, int to) {
        scanner.line(bytes, from, to);
        length += to - from + 1;
    }

    static boolean isTransactionLine(byte[] bytes, int from, int to) {
        int thread = ByteText.indexOf(bytes, from, Math.min(to, from + 24), THREAD_ID);
        return thread > 0 && ByteText.indexOf(bytes, thread, to, QUERY_ID) > 0;
    }

    private static boolean endsBefore(byte[] bytes, int from, int to) {
        for (byte[] line : SERVER_LINES) {
            if (ByteText.startsWith(bytes, from, to, line)) {
                return true;
            }
        }
        return isRule(bytes, from, to);
    }

    /** Returns whether a line consists of dashes or equals signs, as between the monitor's sections. */
    static boolean isRule(byte[] bytes, int from, int to) {
        if (to - from < 3 || bytes[from] != '-' && bytes[from] != '=') {
            return false;
        }
        for (int i = from + 1; i < to; i++) {
            if (bytes[i] != bytes[from]) {
                return false;
            }
        }
        return true;
    }

    /** Returns the index of a crash's statement in the line, or {@code to}. */
    private static int startIn(byte[] bytes, int from, int to) {
        int after = after(bytes, from, to, CRASH_QUERY, CRASH_QUERY_END);
        after = after < 0 ? after(bytes, from, to, OLD_CRASH_QUERY, OLD_CRASH_QUERY_END) : after;
        boolean statement = after >= 0 && !ByteText.startsWith(bytes, after, to, INVALID);
        return statement ? after : to;
    }

    private static int after(byte[] bytes, int from, int to, byte[] opening, byte[] closing) {
        if (!ByteText.startsWith(bytes, from, to, opening)) {
            return -1;
        }
        int end = ByteText.indexOf(bytes, from, Math.min(to, from + 60), closing);
        return end < 0 ? -1 : end + closing.length;
    }

    void write(ByteBuffer out) {
        out.put((byte) (active ? 1 : 0)).putInt(scanner.state()).putInt(length);
    }

    void restore(ByteBuffer in) {
        active = in.get() != 0;
        scanner.restore(in.getInt());
        length = in.getInt();
    }
}
