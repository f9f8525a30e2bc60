package io.tailrace.plan.change;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * Counts durations of executions in logarithmic buckets 5 % wide, which is sufficient for medians and a comparison by
 * ranks. Beyond {@value #MAX_COUNT} executions all counts are halved, so that the latest have the most weight.
 */
final class BucketedLatencies {

    /** Maximum number of executions. */
    static final int MAX_COUNT = 4096;

    private static final double WIDTH = Math.log(1.05);
    private static final int MAX_BUCKET = 1000;

    private int[] buckets = new int[8];
    private int[] counts = new int[8];
    private int size;
    private int total;

    int total() {
        return total;
    }

    boolean isEmpty() {
        return total == 0;
    }

    /** @param seconds duration of an execution; less than a microsecond counts as one */
    void add(double seconds) {
        count(bucket(seconds), 1);
        if (total > MAX_COUNT) {
            halve();
        }
    }

    void addAll(BucketedLatencies others) {
        for (int i = 0; i < others.size; i++) {
            count(others.buckets[i], others.counts[i]);
        }
        while (total > MAX_COUNT) {
            halve();
        }
    }

    private static int bucket(double seconds) {
        double micros = Math.max(1, seconds * 1e6);
        return (int) Math.min(MAX_BUCKET, Math.round(Math.log(micros) / WIDTH));
    }

    private void count(int bucket, int times) {
        int at = Arrays.binarySearch(buckets, 0, size, bucket);
        if (at < 0) {
            at = -at - 1;
            makeRoom(at);
            buckets[at] = bucket;
        }
        counts[at] += times;
        total += times;
    }

    private void makeRoom(int at) {
        if (size == buckets.length) {
            buckets = Arrays.copyOf(buckets, 2 * size);
            counts = Arrays.copyOf(counts, 2 * size);
        }
        System.arraycopy(buckets, at, buckets, at + 1, size - at);
        System.arraycopy(counts, at, counts, at + 1, size - at);
        counts[at] = 0;
        size++;
    }

    private void halve() {
        int kept = 0;
        total = 0;
        for (int i = 0; i < size; i++) {
            int half = counts[i] / 2;
            if (half > 0) {
                buckets[kept] = buckets[i];
                counts[kept++] = half;
                total += half;
            }
        }
        size = kept;
    }

    /** Returns the natural logarithm of the median in microseconds; NaN if there are no executions. */
    double logMedian() {
        return logAtRank(total / 2.0);
    }

    /** Returns twice the standard error of the median on the logarithmic scale: half of a 95 % interval. */
    double logMedianError() {
        double ranks = Math.sqrt(total);
        return (logAtRank(total / 2.0 + ranks) - logAtRank(total / 2.0 - ranks)) / 2;
    }

    /** Returns the median in seconds; NaN if there are no executions. */
    double median() {
        return Math.exp(logMedian()) / 1e6;
    }

    private double logAtRank(double rank) {
        double below = 0;
        for (int i = 0; i < size; i++) {
            if (below + counts[i] >= rank || i == size - 1) {
                double within = Math.min(1, Math.max(0, (rank - below) / counts[i]));
                return (buckets[i] - 0.5 + within) * WIDTH;
            }
            below += counts[i];
        }
        return Double.NaN;
    }

    /**
     * Returns by how many standard deviations other executions are slower than these, by their ranks (Mann–Whitney
     * test, corrected for ties); negative if they are faster. Returns 0 if one of them is empty or all are equal.
     */
    double slownessOf(BucketedLatencies others) {
        double pairs = (double) total * others.total;
        double all = total + others.total;
        double slower = 0;
        double ties = 0;
        double below = 0;
        for (int i = 0, j = 0; i < size || j < others.size; ) {
            int bucket = Math.min(
                    i < size ? buckets[i] : Integer.MAX_VALUE, j < others.size ? others.buckets[j] : Integer.MAX_VALUE);
            double own = i < size && buckets[i] == bucket ? counts[i++] : 0;
            double other = j < others.size && others.buckets[j] == bucket ? others.counts[j++] : 0;
            slower += other * (below + own / 2);
            below += own;
            double tied = own + other;
            ties += tied * tied * tied - tied;
        }
        double variance = pairs / 12 * (all + 1 - ties / (all * (all - 1)));
        return variance > 0 ? (slower - pairs / 2) / Math.sqrt(variance) : 0;
    }

    void write(DataOutput out) throws IOException {
        out.writeShort(size);
        for (int i = 0; i < size; i++) {
            out.writeShort(buckets[i]);
            out.writeShort(counts[i]);
        }
    }

    static BucketedLatencies read(DataInput in) throws IOException {
        BucketedLatencies latencies = new BucketedLatencies();
        int size = in.readUnsignedShort();
        for (int i = 0; i < size; i++) {
            int bucket = in.readUnsignedShort();
            latencies.count(bucket, in.readUnsignedShort());
        }
        return latencies;
    }
}
