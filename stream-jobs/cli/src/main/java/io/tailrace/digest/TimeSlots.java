package io.tailrace.digest;

import java.util.Arrays;

/**
 * Statements and their seconds counted by time, in slots of 2^n seconds. Only slots that hold something take room, so
 * that one stray time of another year does not spoil the rest; when there are too many, neighbours become one.
 */
public final class TimeSlots {

    /** Receives the slots in ascending order. */
    interface Visitor {

        /**
         * So much came in the slot.
         *
         * @param from epoch seconds
         * @param width seconds
         * @param weight statements
         * @param time their query time, seconds
         */
        void slot(long from, long width, double weight, double time);
    }

    private final int most;
    private long[] slots = new long[1];
    private double[] weights = new double[1];
    private double[] times = new double[1];
    private int used;
    private int shift;
    private int last;

    /** At most so many slots. */
    TimeSlots(int most) {
        this.most = most;
    }

    void add(long epochSecond, double weight, double time) {
        long slot = epochSecond >> shift;
        if (last >= used || slots[last] != slot) {
            last = place(slot, epochSecond);
        }
        weights[last] += weight;
        times[last] += time;
    }

    private int place(long slot, long epochSecond) {
        int place = Arrays.binarySearch(slots, 0, used, slot);
        if (place >= 0) {
            return place;
        }
        if (used < most) {
            return insert(-place - 1, slot);
        }
        coarsen();
        return place(epochSecond >> shift, epochSecond);
    }

    private int insert(int place, long slot) {
        if (used == slots.length) {
            slots = Arrays.copyOf(slots, used * 2);
            weights = Arrays.copyOf(weights, used * 2);
            times = Arrays.copyOf(times, used * 2);
        }
        System.arraycopy(slots, place, slots, place + 1, used - place);
        System.arraycopy(weights, place, weights, place + 1, used - place);
        System.arraycopy(times, place, times, place + 1, used - place);
        slots[place] = slot;
        weights[place] = 0;
        times[place] = 0;
        used++;
        return place;
    }

    /** Doubles the width of the slots, at least once, until a quarter of the room is free. */
    private void coarsen() {
        do {
            shift++;
            int kept = 0;
            for (int i = 0; i < used; i++) {
                long slot = slots[i] >> 1;
                if (kept > 0 && slots[kept - 1] == slot) {
                    weights[kept - 1] += weights[i];
                    times[kept - 1] += times[i];
                } else {
                    slots[kept] = slot;
                    weights[kept] = weights[i];
                    times[kept] = times[i];
                    kept++;
                }
            }
            used = kept;
        } while (used > most * 3 / 4);
    }

    boolean isEmpty() {
        return used == 0;
    }

    void visit(Visitor visitor) {
        for (int i = 0; i < used; i++) {
            visitor.slot(slots[i] << shift, 1L << shift, weights[i], times[i]);
        }
    }

    /** Weights in so many columns of equal width between two times (epoch seconds); what lies outside is left out. */
    public double[] weights(long from, long to, int columns) {
        double[] result = new double[columns];
        visit((start, width, weight, time) -> spread(result, from, to, start, width, weight));
        return result;
    }

    /** Seconds of query time in such columns. */
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
