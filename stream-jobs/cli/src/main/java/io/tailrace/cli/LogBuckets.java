package io.tailrace.cli;

import java.util.Arrays;

/**
 * Weighted values counted in logarithmic buckets, as the store's rollups count them: {@code round(ln x / ln 1.02)},
 * and one bucket for zero. Any quantile is within 1 % of the true value; the smallest, the largest and the sum are
 * exact.
 */
final class LogBuckets {

    private static final double LOG_BASE = Math.log(1.02);
    private static final int ZERO = Integer.MIN_VALUE;
    private static final int FIRST_CAPACITY = 8;

    /** Buckets in ascending order, with their weights. */
    private int[] buckets = new int[FIRST_CAPACITY];

    private double[] weights = new double[FIRST_CAPACITY];
    private int used;

    private double weight;
    private double sum;
    private double smallest = Double.POSITIVE_INFINITY;
    private double largest;

    /** Counts a value of at least 0 so many times. */
    void add(double value, double times) {
        weight += times;
        sum += value * times;
        smallest = Math.min(smallest, value);
        largest = Math.max(largest, value);
        int bucket = value > 0 ? (int) Math.round(Math.log(value) / LOG_BASE) : ZERO;
        int place = Arrays.binarySearch(buckets, 0, used, bucket);
        if (place < 0) {
            place = insert(-place - 1, bucket);
        }
        weights[place] += times;
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

    double weight() {
        return weight;
    }

    double sum() {
        return sum;
    }

    double smallest() {
        return used == 0 ? 0 : smallest;
    }

    double largest() {
        return largest;
    }

    double average() {
        return weight == 0 ? 0 : sum / weight;
    }

    /** The value below which so large a part (0 to 1) of the weight lies. */
    double quantile(double part) {
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
        return Math.max(smallest, Math.min(largest, value));
    }
}
