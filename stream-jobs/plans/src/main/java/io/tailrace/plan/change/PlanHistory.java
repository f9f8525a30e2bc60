package io.tailrace.plan.change;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/**
 * The plans of one statement on one server, and what its executions tell of them.
 *
 * <p>A log that names each execution's plan tells a change by itself: a plan is the statement's plan from the third
 * execution in a row on, for the optimizer may choose another for a rare value. Where plans are captured now and then,
 * each capture decides; executions since the last one belong to its plan when the next capture says the same, and to
 * none when it does not.
 *
 * <p>Its size is bounded: {@value #PLANS} plans, the least recent are forgotten.
 */
public final class PlanHistory {

    private static final byte VERSION = 1;
    private static final int PLANS = 8;
    private static final int IN_A_ROW = 3;
    private static final long HOUR_MICROS = 3_600_000_000L;
    /** Changes told in an hour, at most: a statement that goes back and forth has two plans and no change. */
    private static final int MOST_CHANGES = 4;

    private final List<PlanLatencies> plans = new ArrayList<>();
    /** Executions since the last capture. */
    private PlanLatencies unconfirmed = new PlanLatencies("");
    /** Executions with the statement's plan since it has that. */
    private PlanLatencies since = new PlanLatencies("");
    /** Executions with the plan that may be becoming the statement's. */
    private PlanLatencies candidate = new PlanLatencies("");

    private String current = "";
    private int inARow;
    private long candidateMicros;
    private long hourFrom = Long.MIN_VALUE;
    private int changesInHour;
    private String oldPlan = "";
    private long changeMicros;
    private int looks;
    private boolean pending;

    /** Latest event time, microseconds since 1970 UTC; Long.MIN_VALUE where nothing was seen. */
    public long latestMicros() {
        return plans.stream().mapToLong(PlanLatencies::latestMicros).reduce(unconfirmed.latestMicros(), Math::max);
    }

    /** Hash of the plan that the statement has; empty before the first. */
    public String current() {
        return current;
    }

    /**
     * The statement ran.
     *
     * @param plan hash of its plan; empty where the log does not say
     * @param micros event time, microseconds since 1970 UTC
     * @param seconds that it took
     * @param leastRatio of medians, above 1, below which a change is no difference
     */
    public void execution(
            String plan,
            long micros,
            double seconds,
            double rowsExamined,
            double leastRatio,
            Consumer<Change> changes) {
        if (plan.isEmpty()) {
            unconfirmed.add(micros, seconds, rowsExamined);
        } else {
            latencies(plan).add(micros, seconds, rowsExamined);
            follow(plan, micros).add(micros, seconds, rowsExamined);
            if (inARow >= IN_A_ROW) {
                change(changes);
            }
        }
        decide(micros, leastRatio, changes);
    }

    /** A capture says what the plan is. */
    public void capture(String plan, long micros, Consumer<Change> changes) {
        if (plan.equals(current)) {
            latencies(plan).addAll(unconfirmed);
            since.addAll(unconfirmed);
        }
        unconfirmed = new PlanLatencies("");
        latencies(plan).seen(micros);
        follow(plan, micros);
        if (inARow > 0) {
            change(changes);
        }
    }

    private PlanLatencies latencies(String plan) {
        for (PlanLatencies known : plans) {
            if (known.plan().equals(plan)) {
                return known;
            }
        }
        if (plans.size() == PLANS) {
            plans.remove(plans.stream()
                    .filter(known ->
                            !known.plan().equals(current) && !known.plan().equals(oldPlan))
                    .min(Comparator.comparingLong(PlanLatencies::latestMicros))
                    .orElseThrow());
        }
        PlanLatencies fresh = new PlanLatencies(plan);
        plans.add(fresh);
        return fresh;
    }

    /** Counts how often in a row another plan than the statement's came. Returns what the execution belongs to. */
    private PlanLatencies follow(String plan, long micros) {
        if (current.isEmpty()) {
            current = plan;
            since = new PlanLatencies(plan);
        }
        if (plan.equals(current)) {
            inARow = 0;
            return since;
        }
        if (inARow == 0 || !plan.equals(candidate.plan())) {
            candidate = new PlanLatencies(plan);
            candidateMicros = micros;
            inARow = 0;
        }
        inARow++;
        return candidate;
    }

    private void change(Consumer<Change> changes) {
        oldPlan = current;
        current = candidate.plan();
        since = candidate;
        candidate = new PlanLatencies("");
        changeMicros = candidateMicros;
        inARow = 0;
        looks = 0;
        pending = isTold(changeMicros);
        if (pending) {
            changes.accept(change(Verdict.PENDING, 0));
        }
    }

    private boolean isTold(long micros) {
        if (hourFrom == Long.MIN_VALUE || micros - hourFrom >= HOUR_MICROS) {
            hourFrom = micros;
            changesInHour = 0;
        }
        return ++changesInHour <= MOST_CHANGES;
    }

    private void decide(long micros, double leastRatio, Consumer<Change> changes) {
        if (!pending) {
            return;
        }
        int due = Comparison.looksDue(since.executions() + unconfirmed.executions());
        if (due > looks) {
            looks = due;
            Verdict verdict = Comparison.at(due, latencies(oldPlan), after(), leastRatio);
            if (verdict != Verdict.PENDING) {
                pending = false;
                changes.accept(change(verdict, micros));
            }
        }
    }

    /** What is not confirmed counts too: the next capture may be long in coming. */
    private PlanLatencies after() {
        PlanLatencies both = new PlanLatencies(current);
        both.addAll(since);
        both.addAll(unconfirmed);
        return both;
    }

    private Change change(Verdict verdict, long micros) {
        return new Change(
                oldPlan,
                current,
                changeMicros,
                verdict,
                micros,
                Change.Executions.of(latencies(oldPlan)),
                Change.Executions.of(after()));
    }

    /** Writes the state, its version first. */
    public void write(DataOutput out) throws IOException {
        out.writeByte(VERSION);
        out.writeByte(plans.size());
        for (PlanLatencies plan : plans) {
            plan.write(out);
        }
        unconfirmed.write(out);
        since.write(out);
        out.writeUTF(current);
        candidate.write(out);
        out.writeByte(inARow);
        out.writeLong(candidateMicros);
        out.writeLong(hourFrom);
        out.writeInt(changesInHour);
        out.writeUTF(oldPlan);
        out.writeLong(changeMicros);
        out.writeByte(looks);
        out.writeBoolean(pending);
    }

    /** @throws IOException also if it was written by a later version */
    public static PlanHistory read(DataInput in) throws IOException {
        byte version = in.readByte();
        if (version != VERSION) {
            throw new IOException("plan history of version " + version + ", this program reads " + VERSION);
        }
        PlanHistory history = new PlanHistory();
        int plans = in.readByte();
        for (int i = 0; i < plans; i++) {
            history.plans.add(PlanLatencies.read(in));
        }
        history.unconfirmed = PlanLatencies.read(in);
        history.since = PlanLatencies.read(in);
        history.current = in.readUTF();
        history.candidate = PlanLatencies.read(in);
        history.inARow = in.readByte();
        history.candidateMicros = in.readLong();
        history.hourFrom = in.readLong();
        history.changesInHour = in.readInt();
        history.oldPlan = in.readUTF();
        history.changeMicros = in.readLong();
        history.looks = in.readByte();
        history.pending = in.readBoolean();
        return history;
    }
}
