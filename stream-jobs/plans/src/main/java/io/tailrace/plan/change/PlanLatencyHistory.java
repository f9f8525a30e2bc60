package io.tailrace.plan.change;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * The latencies of a statement with one plan: all its executions, and the medians of the latest intervals. The spread
 * of these medians shows how much the statement varies with load and data while the plan stays the same.
 */
final class PlanLatencyHistory {

    /** Minimum number of executions for the median of an interval. */
    static final int INTERVAL_EXECUTIONS = 20;

    private static final long INTERVAL_MICROS = 180_000_000L;
    private static final int INTERVALS = 16;

    private final String plan;
    private BucketedLatencies all = new BucketedLatencies();
    private BucketedLatencies interval = new BucketedLatencies();
    private long intervalFrom = Long.MIN_VALUE;
    private final double[] medians = new double[INTERVALS];
    private int intervals;
    private long executions;
    private double rowsExamined;
    private long latest = Long.MIN_VALUE;

    PlanLatencyHistory(String plan) {
        this.plan = plan;
    }

    String plan() {
        return plan;
    }

    BucketedLatencies all() {
        return all;
    }

    long executions() {
        return executions;
    }

    long latestMicros() {
        return latest;
    }

    /** Returns the mean; NaN before the first execution. */
    double rowsExamined() {
        return rowsExamined / executions;
    }

    /** Records that the plan was seen, without an execution. */
    void seen(long micros) {
        latest = Math.max(latest, micros);
    }

    void add(long micros, double seconds, double rows) {
        seen(micros);
        all.add(seconds);
        executions++;
        rowsExamined += rows;
        if (intervalFrom == Long.MIN_VALUE) {
            intervalFrom = micros;
        }
        interval.add(seconds);
        if (micros - intervalFrom >= INTERVAL_MICROS && interval.total() >= INTERVAL_EXECUTIONS) {
            medians[intervals++ % INTERVALS] = interval.logMedian();
            interval = new BucketedLatencies();
            intervalFrom = Long.MIN_VALUE;
        }
    }

    /** Adds executions whose plan is known only now. */
    void addAll(PlanLatencyHistory others) {
        seen(others.latest);
        all.addAll(others.all);
        executions += others.executions;
        rowsExamined += others.rowsExamined;
        for (int i = 0; i < Math.min(others.intervals, INTERVALS); i++) {
            medians[intervals++ % INTERVALS] = others.medians[i];
        }
    }

    /** Returns the number of intervals for a comparison, at most {@value #INTERVALS}. */
    int intervals() {
        return Math.min(intervals, INTERVALS);
    }

    /** Returns the standard deviation of the intervals' medians on the natural logarithmic scale. */
    double spread() {
        int n = intervals();
        double mean = Arrays.stream(medians, 0, n).sum() / n;
        return Math.sqrt(Arrays.stream(medians, 0, n)
                        .map(median -> (median - mean) * (median - mean))
                        .sum()
                / (n - 1));
    }

    void write(DataOutput out) throws IOException {
        out.writeUTF(plan);
        all.write(out);
        interval.write(out);
        out.writeLong(intervalFrom);
        out.writeInt(intervals);
        for (int i = 0; i < intervals(); i++) {
            out.writeFloat((float) medians[i]);
        }
        out.writeLong(executions);
        out.writeDouble(rowsExamined);
        out.writeLong(latest);
    }

    static PlanLatencyHistory read(DataInput in) throws IOException {
        PlanLatencyHistory latencies = new PlanLatencyHistory(in.readUTF());
        latencies.all = BucketedLatencies.read(in);
        latencies.interval = BucketedLatencies.read(in);
        latencies.intervalFrom = in.readLong();
        latencies.intervals = in.readInt();
        for (int i = 0; i < latencies.intervals(); i++) {
            latencies.medians[i] = in.readFloat();
        }
        latencies.executions = in.readLong();
        latencies.rowsExamined = in.readDouble();
        latencies.latest = in.readLong();
        return latencies;
    }
}
