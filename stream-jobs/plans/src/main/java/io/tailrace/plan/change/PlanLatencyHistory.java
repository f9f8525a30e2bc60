package io.tailrace.plan.change;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * How long a statement took with one plan: all its executions, and the medians of the latest stretches of time, whose
 * spread says how much it varies by itself, with load and data, while the plan stays.
 */
final class PlanLatencyHistory {

    /** Executions that make a stretch's median worth something. */
    static final int STRETCH_EXECUTIONS = 20;

    private static final long STRETCH_MICROS = 180_000_000L;
    private static final int STRETCHES = 16;

    private final String plan;
    private BucketedLatencies all = new BucketedLatencies();
    private BucketedLatencies stretch = new BucketedLatencies();
    private long stretchFrom = Long.MIN_VALUE;
    private final double[] medians = new double[STRETCHES];
    private int stretches;
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

    /** Mean; NaN before the first execution. */
    double rowsExamined() {
        return rowsExamined / executions;
    }

    /** The plan was seen, without an execution. */
    void seen(long micros) {
        latest = Math.max(latest, micros);
    }

    void add(long micros, double seconds, double rows) {
        seen(micros);
        all.add(seconds);
        executions++;
        rowsExamined += rows;
        if (stretchFrom == Long.MIN_VALUE) {
            stretchFrom = micros;
        }
        stretch.add(seconds);
        if (micros - stretchFrom >= STRETCH_MICROS && stretch.total() >= STRETCH_EXECUTIONS) {
            medians[stretches++ % STRETCHES] = stretch.logMedian();
            stretch = new BucketedLatencies();
            stretchFrom = Long.MIN_VALUE;
        }
    }

    /** Executions of which it is clear only now that they had this plan. */
    void addAll(PlanLatencyHistory others) {
        seen(others.latest);
        all.addAll(others.all);
        executions += others.executions;
        rowsExamined += others.rowsExamined;
        for (int i = 0; i < Math.min(others.stretches, STRETCHES); i++) {
            medians[stretches++ % STRETCHES] = others.medians[i];
        }
    }

    /** How many stretches there are to compare, at most {@value #STRETCHES}. */
    int stretches() {
        return Math.min(stretches, STRETCHES);
    }

    /** Standard deviation of the stretches' medians on the natural logarithmic scale. */
    double spread() {
        int n = stretches();
        double mean = Arrays.stream(medians, 0, n).sum() / n;
        return Math.sqrt(Arrays.stream(medians, 0, n)
                        .map(median -> (median - mean) * (median - mean))
                        .sum()
                / (n - 1));
    }

    void write(DataOutput out) throws IOException {
        out.writeUTF(plan);
        all.write(out);
        stretch.write(out);
        out.writeLong(stretchFrom);
        out.writeInt(stretches);
        for (int i = 0; i < stretches(); i++) {
            out.writeFloat((float) medians[i]);
        }
        out.writeLong(executions);
        out.writeDouble(rowsExamined);
        out.writeLong(latest);
    }

    static PlanLatencyHistory read(DataInput in) throws IOException {
        PlanLatencyHistory latencies = new PlanLatencyHistory(in.readUTF());
        latencies.all = BucketedLatencies.read(in);
        latencies.stretch = BucketedLatencies.read(in);
        latencies.stretchFrom = in.readLong();
        latencies.stretches = in.readInt();
        for (int i = 0; i < latencies.stretches(); i++) {
            latencies.medians[i] = in.readFloat();
        }
        latencies.executions = in.readLong();
        latencies.rowsExamined = in.readDouble();
        latencies.latest = in.readLong();
        return latencies;
    }
}
