package io.tailrace.plan.change;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * Executions of a statement whose plan is captured now and then, by where they stand between the captures.
 *
 * <p>Those between two captures of one plan had it, as far as it is known. Those after the last capture have its plan
 * until a capture says otherwise. Those between two captures that differ had either; they are kept apart, because after
 * a change for the worse most of them are slow ones of the new plan. Executions may come later than captures of their
 * time.
 */
final class CapturedExecutions {

    private static final long NEVER = Long.MIN_VALUE;

    /** Since the last capture. */
    private PlanLatencyHistory unconfirmed = new PlanLatencyHistory("");
    /** Between the last capture of the old plan and the first of the new one. */
    private PlanLatencyHistory between = new PlanLatencyHistory("");
    /** First and last captures of the statement's plan, and of the one before; microseconds since 1970 UTC. */
    private long first = NEVER;

    private long last = NEVER;
    private long oldFirst = NEVER;
    private long oldLast = NEVER;

    PlanLatencyHistory unconfirmed() {
        return unconfirmed;
    }

    PlanLatencyHistory between() {
        return between;
    }

    long latestMicros() {
        return Math.max(last, unconfirmed.latestMicros());
    }

    /** A capture of this time is later than the last. */
    boolean isNext(long micros) {
        return micros > last;
    }

    /** No capture was made since, microseconds since 1970 UTC. */
    boolean isOlderThan(long micros) {
        return last < micros;
    }

    /** The first capture of the statement's plan. */
    void begin(long micros) {
        first = micros;
        last = micros;
    }

    /** The plan is still the same: so it was all the time. */
    void confirm(long micros, PlanLatencyHistory... ofPlan) {
        for (PlanLatencyHistory latencies : ofPlan) {
            latencies.addAll(unconfirmed);
        }
        unconfirmed = new PlanLatencyHistory("");
        last = micros;
    }

    /** The plan is another one. */
    void change() {
        between = unconfirmed;
        unconfirmed = new PlanLatencyHistory("");
        oldFirst = first;
        oldLast = last;
    }

    /**
     * Counts an execution.
     *
     * @param ofPlan all executions with the statement's plan
     * @param since those since it has it
     * @param ofOldPlan with the plan before; null where there was none
     */
    void add(
            long micros,
            double seconds,
            double rows,
            PlanLatencyHistory ofPlan,
            PlanLatencyHistory since,
            PlanLatencyHistory ofOldPlan) {
        if (micros >= last) {
            unconfirmed.add(micros, seconds, rows);
        } else if (micros >= first) {
            ofPlan.add(micros, seconds, rows);
            since.add(micros, seconds, rows);
        } else if (ofOldPlan != null && micros >= oldLast) {
            between.add(micros, seconds, rows);
        } else if (ofOldPlan != null && micros >= oldFirst) {
            ofOldPlan.add(micros, seconds, rows);
        }
    }

    /** All but what is {@link #unconfirmed()}. */
    void writeTimes(DataOutput out) throws IOException {
        between.write(out);
        out.writeLong(first);
        out.writeLong(last);
        out.writeLong(oldFirst);
        out.writeLong(oldLast);
    }

    static CapturedExecutions read(PlanLatencyHistory unconfirmed, DataInput in) throws IOException {
        CapturedExecutions captured = new CapturedExecutions();
        captured.unconfirmed = unconfirmed;
        captured.between = PlanLatencyHistory.read(in);
        captured.first = in.readLong();
        captured.last = in.readLong();
        captured.oldFirst = in.readLong();
        captured.oldLast = in.readLong();
        return captured;
    }
}
