package io.tailrace.plan.change;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * Assigns executions to the plans of captures by their position between the captures.
 *
 * <p>Executions between two captures of the same plan are assigned to it. Executions after the last capture are
 * assigned to its plan until the next capture. Executions between two different captures may have had either plan.
 * They are stored separately, because after a change for the worse most of them are slow ones of the new plan.
 * Executions may arrive later than captures of the same time.
 */
final class CapturedExecutions {

    private static final long NEVER = Long.MIN_VALUE;

    /** Executions since the last capture. */
    private PlanLatencyHistory unconfirmed = new PlanLatencyHistory("");
    /** Executions between the last capture of the old plan and the first of the new one. */
    private PlanLatencyHistory between = new PlanLatencyHistory("");
    /** First and last captures of the statement's plan, and of the previous plan; microseconds since 1970 UTC. */
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

    /** Returns whether a capture of this time is later than the last one. */
    boolean isNext(long micros) {
        return micros > last;
    }

    /** Returns whether no capture was made since this time, microseconds since 1970 UTC. */
    boolean isOlderThan(long micros) {
        return last < micros;
    }

    /** Records the first capture of the statement's plan. */
    void begin(long micros) {
        first = micros;
        last = micros;
    }

    /** Records a capture of the same plan, which confirms the executions since the last capture. */
    void confirm(long micros, PlanLatencyHistory... ofPlan) {
        for (PlanLatencyHistory latencies : ofPlan) {
            latencies.addAll(unconfirmed);
        }
        unconfirmed = new PlanLatencyHistory("");
        last = micros;
    }

    /** Records a capture of another plan. */
    void change() {
        between = unconfirmed;
        unconfirmed = new PlanLatencyHistory("");
        oldFirst = first;
        oldLast = last;
    }

    /**
     * Adds an execution.
     *
     * @param ofPlan all executions with the statement's plan
     * @param since executions since the statement has this plan
     * @param ofOldPlan executions with the previous plan; null if there is none
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

    /** Writes everything except {@link #unconfirmed()}. */
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
