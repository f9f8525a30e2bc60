package io.tailrace.digest;

import io.tailrace.event.QueryEvent;
import java.time.Instant;
import java.util.Arrays;

/**
 * Statements of a group that are not counted yet, as rows of plain numbers. Counting one goes to dozens of places in
 * memory, most of them far from the processor where classes are many; what is told here goes to one place, and the
 * dozens are visited once for several statements.
 */
final class Backlog {

    /** Statements that are counted at once. */
    static final int MOST = 8;

    private static final int QUERY_TIME = 0;
    private static final int LOCK_TIME = 1;
    private static final int ROWS_SENT = 2;
    private static final int ROWS_EXAMINED = 3;
    private static final int ROWS_AFFECTED = 4;
    private static final int BYTES_SENT = 5;
    private static final int MICROS = 6;
    private static final int WEIGHT = 7;
    private static final int ACCOUNT = 8;
    private static final int DATABASE_AND_ERROR = 9;
    private static final int WIDTH = 10;
    /** Stands for a number that the log does not tell. */
    private static final long NONE = -1;

    private long[] cells = new long[WIDTH];
    private int size;

    int size() {
        return size;
    }

    boolean isFull() {
        return size == MOST;
    }

    void clear() {
        size = 0;
    }

    void add(QueryEvent event, Names names) {
        int row = size++ * WIDTH;
        if (row == cells.length) {
            cells = Arrays.copyOf(cells, row == WIDTH ? 2 * WIDTH : MOST * WIDTH);
        }
        Instant time = event.getEventTime();
        Integer error = event.getErrorCode();
        cells[row + QUERY_TIME] = Double.doubleToRawLongBits(event.getQueryTime());
        cells[row + LOCK_TIME] = Double.doubleToRawLongBits(event.getLockTime());
        cells[row + ROWS_SENT] = event.getRowsSent();
        cells[row + ROWS_EXAMINED] = event.getRowsExamined();
        cells[row + ROWS_AFFECTED] = orNone(event.getRowsAffected());
        cells[row + BYTES_SENT] = orNone(event.getBytesSent());
        cells[row + MICROS] = time.getEpochSecond() * 1_000_000 + time.getNano() / 1_000;
        cells[row + WEIGHT] = Double.doubleToRawLongBits(event.getWeight());
        cells[row + ACCOUNT] = pair(names.number(event.getUser()), names.number(Grouping.host(event)));
        cells[row + DATABASE_AND_ERROR] = pair(names.number(event.getDatabase()), error == null ? 0 : error);
    }

    private static long orNone(Long value) {
        return value == null ? NONE : value;
    }

    private static long pair(int high, int low) {
        return (long) high << Integer.SIZE | low & 0xffff_ffffL;
    }

    private long cell(int row, int column) {
        return cells[row * WIDTH + column];
    }

    private static int high(long pair) {
        return (int) (pair >> Integer.SIZE);
    }

    double queryTime(int row) {
        return Double.longBitsToDouble(cell(row, QUERY_TIME));
    }

    double lockTime(int row) {
        return Double.longBitsToDouble(cell(row, LOCK_TIME));
    }

    long rowsSent(int row) {
        return cell(row, ROWS_SENT);
    }

    long rowsExamined(int row) {
        return cell(row, ROWS_EXAMINED);
    }

    /** Negative where the log does not tell. */
    long rowsAffected(int row) {
        return cell(row, ROWS_AFFECTED);
    }

    /** Negative where the log does not tell. */
    long bytesSent(int row) {
        return cell(row, BYTES_SENT);
    }

    /** Epoch microseconds of the event's time. */
    long micros(int row) {
        return cell(row, MICROS);
    }

    double weight(int row) {
        return Double.longBitsToDouble(cell(row, WEIGHT));
    }

    /** Number of the user's name. */
    int user(int row) {
        return high(cell(row, ACCOUNT));
    }

    /** Number of the host's name. */
    int host(int row) {
        return (int) cell(row, ACCOUNT);
    }

    /** Number of the database's name. */
    int database(int row) {
        return high(cell(row, DATABASE_AND_ERROR));
    }

    /** 0 where there was none. */
    int errorCode(int row) {
        return (int) cell(row, DATABASE_AND_ERROR);
    }
}
