package io.tailrace.digest;

import java.util.Arrays;

/**
 * Weighted values counted in logarithmic buckets, as the store's rollups count them: {@code round(ln x / ln 1.02)},
 * and one bucket for zero. Any quantile is within 1 % of the true value; the smallest, the largest and the sum are
 * exact.
 */
public final class LogBuckets {

    /** Receives the buckets in ascending order. */
    interface Visitor {

        /** So large a weight has values of about {@code value}. */
        void bucket(double value, double weight);
    }

    private static final double LOG_BASE = Math.log(1.02);
    private static final int ZERO = Integer.MIN_VALUE;
    /** Small, for of many classes there is but one statement. */
    private static final int FIRST_CAPACITY = 2;
    /** Below so many units the whole multiple next to a bucket is the true value. */
    private static final double EXACT_UNITS = 49;

    private final double unit;

    /** Buckets in ascending order, with their weights. */
    private int[] buckets = new int[FIRST_CAPACITY];

    private double[] weights = new double[FIRST_CAPACITY];
    private int used;

    private double weight;
    private double sum;
    private double smallest = Double.POSITIVE_INFINITY;
    private double largest;

    /** Buckets of values that are multiples of a unit: small quantiles are exact then. */
    public LogBuckets(double unit) {
        this.unit = unit;
    }

    /** Counts a value of at least 0 so many times. */
    public void add(double value, double times) {
        weight += times;
        sum += value * times;
        smallest = Math.min(smallest, value);
        largest = Math.max(largest, value);
        int bucket = value > 0 ? (int) Math.round(Math.log(value) / LOG_BASE) : ZERO;
        int place = place(bucket);
        weights[place] += times;
    }

    /** Counts all that the other one counted. */
    void addAll(LogBuckets other) {
        weight += other.weight;
        sum += other.sum;
        smallest = Math.min(smallest, other.smallest);
        largest = Math.max(largest, other.largest);
        for (int i = 0; i < other.used; i++) {
            int place = place(other.buckets[i]);
            weights[place] += other.weights[i];
        }
    }

    private int place(int bucket) {
        int place = Arrays.binarySearch(buckets, 0, used, bucket);
        return place < 0 ? insert(-place - 1, bucket) : place;
    }

    private int insert(int place, int bucket) {
        if (used == buckets.length) {
            buckets = Arrays.copyOf(buckets, used * 2);
            weights = Arrays.copyOf(weights, used * 2);
        }
        System.arraycopy(buckets, place, buckets, place + 1, used - place);
        System.arraycopy(weights, place, weights, place + 1, used - place);
        buckets[place] = bucket;
        weights[place] = 0;
        used++;
        return place;
    }

    void visit(Visitor visitor) {
        for (int i = 0; i < used; i++) {
            visitor.bucket(bounded(buckets[i]), weights[i]);
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

    /** The value below which so large a part (0 to 1) of the weight lies. */
    public double quantile(double part) {
        double wanted = part * weight;
        double seen = 0;
        for (int i = 0; i < used; i++) {
            seen += weights[i];
            if (seen >= wanted) {
                return bounded(buckets[i]);
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
