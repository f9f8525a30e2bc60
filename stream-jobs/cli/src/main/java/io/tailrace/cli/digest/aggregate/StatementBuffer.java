package io.tailrace.cli.digest.aggregate;

import io.tailrace.event.QueryEvent;
import java.time.Instant;
import java.util.List;

/**
 * Buffers statements as rows of plain numbers before they are counted. Counting one accesses dozens of places in
 * memory, most of which are not cached if there are many groups. The buffer therefore appends rows sequentially and
 * counts them group by group when there are enough; the rows of a group keep their order.
 */
final class StatementBuffer {

    private static final int MIN_ROWS = 1 << 9;
    private static final int MAX_ROWS = 1 << 18;
    /** Average number of rows per group that makes counting efficient. */
    private static final int WORTH_A_VISIT = 8;

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
    /** Represents a number that the log does not contain. */
    private static final long NONE = -1;

    private long[] cells = new long[MIN_ROWS * WIDTH];
    /** The number of the group, by row. */
    private int[] groups = new int[MIN_ROWS];
    /** The rows, ordered by group. */
    private int[] order = new int[MIN_ROWS];

    private int size;

    boolean isFull() {
        return size == groups.length;
    }

    /** Adds the measurements and the origin of a statement of the group. */
    void add(StatementGroup group, QueryEvent event, NameDictionary names) {
        groups[size] = group.number;
        int row = size++ * WIDTH;
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

    /**
     * Counts all rows.
     *
     * @param numbered groups by their numbers
     */
    void count(List<StatementGroup> numbered, NameDictionary names) {
        int[] end = sort(numbered.size());
        int visits = 0;
        for (int number = 0, from = 0; number < end.length; from = end[number++]) {
            if (end[number] > from) {
                visits++;
                StatementGroup group = numbered.get(number);
                for (int i = from; i < end[number]; i++) {
                    group.countRow(this, order[i], names);
                }
            }
        }
        boolean tooSmall = isFull() && size < MAX_ROWS && size < visits * WORTH_A_VISIT;
        size = 0;
        if (tooSmall) {
            grow();
        }
    }

    /** Sorts the rows by group. Returns the end of each group in that order. */
    private int[] sort(int groupCount) {
        int[] next = new int[groupCount];
        for (int row = 0; row < size; row++) {
            next[groups[row]]++;
        }
        for (int number = 0, start = 0; number < groupCount; number++) {
            int rows = next[number];
            next[number] = start;
            start += rows;
        }
        for (int row = 0; row < size; row++) {
            order[next[groups[row]]++] = row;
        }
        return next;
    }

    private void grow() {
        int rows = 2 * groups.length;
        cells = new long[rows * WIDTH];
        groups = new int[rows];
        order = new int[rows];
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

    /** Returns the rows affected; negative if the log does not contain them. */
    long rowsAffected(int row) {
        return cell(row, ROWS_AFFECTED);
    }

    /** Returns the bytes sent; negative if the log does not contain them. */
    long bytesSent(int row) {
        return cell(row, BYTES_SENT);
    }

    /** Returns the event time in epoch microseconds. */
    long micros(int row) {
        return cell(row, MICROS);
    }

    double weight(int row) {
        return Double.longBitsToDouble(cell(row, WEIGHT));
    }

    /** Returns the number of the user's name. */
    int user(int row) {
        return high(cell(row, ACCOUNT));
    }

    /** Returns the number of the host's name. */
    int host(int row) {
        return (int) cell(row, ACCOUNT);
    }

    /** Returns the number of the database's name. */
    int database(int row) {
        return high(cell(row, DATABASE_AND_ERROR));
    }

    /** Returns the error code; 0 if there was none. */
    int errorCode(int row) {
        return (int) cell(row, DATABASE_AND_ERROR);
    }
}
