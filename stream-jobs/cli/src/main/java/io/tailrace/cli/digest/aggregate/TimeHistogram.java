package io.tailrace.cli.digest.aggregate;

import java.util.Arrays;

/**
 * Counts statements and their durations by time, in slots of 2^n seconds. Only slots that are not empty need memory, so
 * one wrong time of another year does not affect the rest. If there are too many, adjacent slots are merged.
 */
public final class TimeHistogram {

    /** Receives the slots in ascending order. */
    interface Visitor {

        /**
         * Receives one slot.
         *
         * @param from epoch seconds
         * @param width seconds
         * @param weight statements
         * @param time their query time, seconds
         */
        void slot(long from, long width, double weight, double time);
    }

    /** Numbers per slot: its index, its statements and their time. All slots of one group are adjacent in memory. */
    private static final int WIDTH = 3;

    private final int limit;
    private double[] cells = new double[WIDTH];
    private int used;
    private int shift;
    private int last;

    /** Creates a histogram with at most this number of slots. */
    TimeHistogram(int limit) {
        this.limit = limit;
    }

    void add(long epochSecond, double weight, double time) {
        long slot = epochSecond >> shift;
        if (last >= used || slot(last) != slot) {
            last = place(slot, epochSecond);
        }
        cells[last * WIDTH + 1] += weight;
        cells[last * WIDTH + 2] += time;
    }

    private long slot(int place) {
        return (long) cells[place * WIDTH];
    }

    private double weight(int place) {
        return cells[place * WIDTH + 1];
    }

    private double time(int place) {
        return cells[place * WIDTH + 2];
    }

    private int place(long slot, long epochSecond) {
        int from = 0;
        int to = used;
        while (from < to) {
            int middle = from + to >>> 1;
            if (slot(middle) < slot) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        if (from < used && slot(from) == slot) {
            return from;
        }
        if (used < limit) {
            insert(from, slot);
            return from;
        }
        coarsen();
        return place(epochSecond >> shift, epochSecond);
    }

    private void insert(int place, long slot) {
        if ((used + 1) * WIDTH > cells.length) {
            cells = Arrays.copyOf(cells, cells.length * 2);
        }
        int from = place * WIDTH;
        System.arraycopy(cells, from, cells, from + WIDTH, (used - place) * WIDTH);
        set(place, slot, 0, 0);
        used++;
    }

    private void set(int place, long slot, double weight, double time) {
        cells[place * WIDTH] = slot;
        cells[place * WIDTH + 1] = weight;
        cells[place * WIDTH + 2] = time;
    }

    /** Doubles the width of the slots, at least once, until a quarter of the capacity is free. */
    private void coarsen() {
        do {
            shift++;
            int kept = 0;
            for (int i = 0; i < used; i++) {
                long slot = slot(i) >> 1;
                if (kept > 0 && slot(kept - 1) == slot) {
                    set(kept - 1, slot, weight(kept - 1) + weight(i), time(kept - 1) + time(i));
                } else {
                    set(kept, slot, weight(i), time(i));
                    kept++;
                }
            }
            used = kept;
        } while (used > limit * 3 / 4);
    }

    public boolean isEmpty() {
        return used == 0;
    }

    void visit(Visitor visitor) {
        for (int i = 0; i < used; i++) {
            visitor.slot(slot(i) << shift, 1L << shift, weight(i), time(i));
        }
    }

    /** Returns weights in columns of equal width between two times (epoch seconds); statements outside are ignored. */
    public double[] weights(long from, long to, int columns) {
        double[] result = new double[columns];
        visit((start, width, weight, time) -> spread(result, from, to, start, width, weight));
        return result;
    }

    /** Returns seconds of query time in such columns. */
    public double[] times(long from, long to, int columns) {
        double[] result = new double[columns];
        visit((start, width, weight, time) -> spread(result, from, to, start, width, time));
        return result;
    }

    private static void spread(double[] columns, long from, long to, long start, long width, double amount) {
        double column = Math.max(1, to - from) / (double) columns.length;
        double begin = Math.max(start, from);
        double end = Math.min(start + width, Math.max(to, from + 1));
        if (begin >= end) {
            return;
        }
        int first = (int) Math.min(columns.length - 1, (begin - from) / column);
        int latest = (int) Math.min(columns.length - 1, Math.nextDown((end - from) / column));
        for (int i = first; i <= latest; i++) {
            double overlap = Math.min(end, from + (i + 1) * column) - Math.max(begin, from + i * column);
            columns[i] += amount * Math.max(0, overlap) / (end - begin);
        }
    }
}
