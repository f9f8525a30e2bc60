package io.tailrace.cli.digest.aggregate;

import java.util.Arrays;

/**
 * Counts weighted values in logarithmic buckets, like the rollups in ClickHouse: {@code round(ln x / ln 1.02)}, and one
 * bucket for zero. Any quantile is within 1 % of the true value; the smallest, the largest and the sum are exact.
 */
public final class LatencyHistogram {

    /** Receives the buckets in ascending order. */
    interface Visitor {

        /** Receives the weight of values of about {@code value}. */
        void bucket(double value, double weight);
    }

    private static final double LOG_BASE = Math.log(1.02);
    /** Below the bucket of any double, and a short. */
    private static final int ZERO = Short.MIN_VALUE;
    /** Small, because many classes have only one statement. */
    private static final int FIRST_CAPACITY = 2;
    /** Bits of a cell's weight; the higher bits are its bucket. */
    private static final int WEIGHT_BITS = 48;

    private static final long WEIGHTS = (1L << WEIGHT_BITS) - 1;
    /** Below this number of units, the multiple next to a bucket is the true value. */
    private static final double EXACT_UNITS = 49;

    private final double unit;

    /** Each bucket and its weight in one number, in ascending order, because there may be very many of these arrays. */
    private long[] cells = new long[FIRST_CAPACITY];

    private int used;

    private double weight;
    private double sum;
    private double smallest = Double.POSITIVE_INFINITY;
    private double largest;

    /** Creates a histogram of values that are multiples of a unit, so that small quantiles are exact. */
    public LatencyHistogram(double unit) {
        this.unit = unit;
    }

    /** Counts a value of at least 0 with a weight, which is a whole number. */
    public void add(double value, double times) {
        weight += times;
        sum += value * times;
        smallest = Math.min(smallest, value);
        largest = Math.max(largest, value);
        count(value > 0 ? (int) Math.round(Math.log(value) / LOG_BASE) : ZERO, (long) times);
    }

    /** Adds the counts of another histogram. */
    void addAll(LatencyHistogram other) {
        weight += other.weight;
        sum += other.sum;
        smallest = Math.min(smallest, other.smallest);
        largest = Math.max(largest, other.largest);
        for (int i = 0; i < other.used; i++) {
            count(bucket(other.cells[i]), other.cells[i] & WEIGHTS);
        }
    }

    private static int bucket(long cell) {
        return (int) (cell >> WEIGHT_BITS);
    }

    private void count(int bucket, long times) {
        int place = place(bucket);
        if (place == used || bucket(cells[place]) != bucket) {
            insert(place, (long) bucket << WEIGHT_BITS);
        }
        cells[place] += times;
    }

    /** Returns the index of the bucket, or its insertion point. */
    private int place(int bucket) {
        long first = (long) bucket << WEIGHT_BITS;
        int from = 0;
        int to = used;
        while (from < to) {
            int middle = from + to >>> 1;
            if (cells[middle] < first) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from;
    }

    private void insert(int place, long cell) {
        if (used == cells.length) {
            cells = Arrays.copyOf(cells, used * 2);
        }
        System.arraycopy(cells, place, cells, place + 1, used - place);
        cells[place] = cell;
        used++;
    }

    void visit(Visitor visitor) {
        for (int i = 0; i < used; i++) {
            visitor.bucket(bounded(bucket(cells[i])), cells[i] & WEIGHTS);
        }
    }

    public double weight() {
        return weight;
    }

    public double sum() {
        return sum;
    }

    public double smallest() {
        return used == 0 ? 0 : smallest;
    }

    public double largest() {
        return largest;
    }

    public double average() {
        return weight == 0 ? 0 : sum / weight;
    }

    /** Returns the value below which a fraction (0 to 1) of the weight is. */
    public double quantile(double part) {
        double wanted = part * weight;
        double seen = 0;
        for (int i = 0; i < used; i++) {
            seen += cells[i] & WEIGHTS;
            if (seen >= wanted) {
                return bounded(bucket(cells[i]));
            }
        }
        return largest;
    }

    private double bounded(int bucket) {
        double value = bucket == ZERO ? 0 : Math.exp(bucket * LOG_BASE);
        if (value < EXACT_UNITS * unit) {
            value = Math.rint(value / unit) * unit;
        }
        return Math.max(smallest, Math.min(largest, value));
    }
}
