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
    /** Maximum fraction of values without a bucket: a server does not read its sums and buckets at the same time. */
    private static final double MAX_UNPLACED = 0.01;
    /** Below this number of units, the multiple next to a bucket is the true value. */
    private static final double EXACT_UNITS = 49;

    private final double unit;

    /** Each bucket and its weight in one number, in ascending order, because there may be very many of these arrays. */
    private long[] cells = new long[FIRST_CAPACITY];

    private int used;

    private double weight;
    /** The part of the weight that is in buckets. */
    private double placed;

    private double sum;
    private double smallest = Double.POSITIVE_INFINITY;
    private double largest;
    private boolean areExtremesUnknown;

    /** Creates a histogram of values that are multiples of a unit, so that small quantiles are exact. */
    public LatencyHistogram(double unit) {
        this.unit = unit;
    }

    /** Counts a value of at least 0 with a weight, which is a whole number. */
    public void add(double value, double times) {
        weight += times;
        sum += value * times;
        extremes(value, value);
        place(value, times);
    }

    /** Counts values of which only the sum is known: quantiles and extremes are unknown then. */
    void addSum(double times, double total) {
        weight += times;
        sum += total;
        areExtremesUnknown |= times > 0;
    }

    /** Counts values of which the sum, the smallest and the largest are known. {@link #place} adds the quantiles. */
    void addSum(double times, double total, double min, double max) {
        weight += times;
        sum += total;
        extremes(min, max);
    }

    private void extremes(double min, double max) {
        smallest = Math.min(smallest, min);
        largest = Math.max(largest, max);
    }

    /** Puts counted values of about {@code value} into their bucket. */
    void place(double value, double times) {
        placed += times;
        count(value > 0 ? (int) Math.round(Math.log(value) / LOG_BASE) : ZERO, (long) times);
    }

    /** Adds the counts of another histogram. */
    void addAll(LatencyHistogram other) {
        weight += other.weight;
        placed += other.placed;
        sum += other.sum;
        extremes(other.smallest, other.largest);
        areExtremesUnknown |= other.areExtremesUnknown;
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

    /** Returns the smallest value; NaN if it is unknown. */
    public double smallest() {
        if (weight == 0) {
            return 0;
        }
        return areExtremesUnknown ? Double.NaN : smallest;
    }

    /** Returns the largest value; NaN if it is unknown. */
    public double largest() {
        return areExtremesUnknown ? Double.NaN : largest;
    }

    public double average() {
        return weight == 0 ? 0 : sum / weight;
    }

    /** Returns whether quantiles are known: nearly all values are in buckets. */
    public boolean hasQuantiles() {
        return placed >= weight * (1 - MAX_UNPLACED);
    }

    /** Returns the value below which a fraction (0 to 1) of the weight is; NaN if it is unknown. */
    public double quantile(double part) {
        if (!hasQuantiles()) {
            return Double.NaN;
        }
        double wanted = part * placed;
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
        return areExtremesUnknown ? value : Math.max(smallest, Math.min(largest, value));
    }
}
