package io.tailrace.plan.change;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * The plans of one statement on one server, and what its executions show of them.
 *
 * <p>A log that names each execution's plan shows a change by itself: a plan is the statement's plan from the third
 * execution in a row on, for the optimizer may choose another for a rare value. Where plans are captured now and then,
 * each capture decides: see {@link CapturedExecutions} for what becomes of the executions between two captures.
 *
 * <p>A history has one {@link PlanBasis}: what EXPLAIN says and what the log says may differ for one and the same plan.
 * A log that names plans is believed alone; a change of basis is no change of plan, and the history restarts.
 *
 * <p>One statement may run in the databases of many tenants, with a plan in each. Captures are followed of one
 * database: the first that was captured, until it was not for a day.
 *
 * <p>Its size is bounded: {@value #PLANS} plans, the least recent are forgotten.
 */
public final class PlanHistory {

    /** Executions needed before a change, for its verdict. */
    public static final int MIN_BEFORE = LatencyComparison.MIN_BEFORE;

    private static final byte VERSION = 3;
    /** Versions that can be read know captures from 2 on, and databases from 3 on. */
    private static final byte WITH_CAPTURES = 2;

    private static final byte WITH_DATABASE = 3;

    private static final int PLANS = 8;
    private static final int IN_A_ROW = 3;
    private static final long HOUR_MICROS = 3_600_000_000L;
    private static final long DAY_MICROS = 24 * HOUR_MICROS;
    /**
     * Changes reported in an hour, or of captures in a day: a statement that goes back and forth has two plans and no
     * change.
     */
    private static final int MAX_CHANGES = 4;

    private PlanBasis basis = PlanBasis.LOGGED;
    /** Whose captures are followed; empty where none was captured, or the captures do not say. */
    private String database = "";
    /** Latest execution of which the log did not name the plan. */
    private long unnamedMicros = Long.MIN_VALUE;

    private final List<PlanLatencyHistory> plans = new ArrayList<>();
    private CapturedExecutions captured = new CapturedExecutions();
    /** Executions with the statement's plan since it has that. */
    private PlanLatencyHistory since = new PlanLatencyHistory("");
    /** Executions with the plan that may be becoming the statement's. */
    private PlanLatencyHistory candidate = new PlanLatencyHistory("");

    private String current = "";
    private int inARow;
    private long candidateMicros;
    /** Begin of the hour or day in which changes are counted. */
    private long countedFrom = Long.MIN_VALUE;

    private int changesCounted;
    private String oldPlan = "";
    private long oldSeenMicros;
    private long changeMicros;
    private int tests;
    private boolean pending;
    /** The change was called unknown after a day. Executions that come later may decide it still. */
    private boolean givenUp;

    /** Latest event time, microseconds since 1970 UTC; Long.MIN_VALUE where nothing was seen. */
    public long latestMicros() {
        return plans.stream().mapToLong(PlanLatencyHistory::latestMicros).reduce(captured.latestMicros(), Math::max);
    }

    /** Hash of the plan that the statement has; empty before the first. */
    public String current() {
        return current;
    }

    /** The database whose captures are followed; empty where the log names plans, or no capture said its database. */
    public String database() {
        return database;
    }

    /** When a change without a verdict is called unknown, microseconds since 1970 UTC; empty where there is none. */
    public OptionalLong deadlineMicros() {
        return pending && !givenUp ? OptionalLong.of(changeMicros + DAY_MICROS) : OptionalLong.empty();
    }

    /**
     * The statement ran. Where captures are followed, those in other databases than theirs are passed over.
     *
     * @param in database; empty where the log does not say
     * @param plan hash of its plan; empty where the log does not say
     * @param micros event time, microseconds since 1970 UTC
     * @param seconds that it took
     * @param minRatio of medians, above 1, below which a change is no difference
     */
    public void execution(
            String in,
            String plan,
            long micros,
            double seconds,
            double rowsExamined,
            double minRatio,
            Consumer<DetectedPlanChange> changes) {
        if (!plan.isEmpty()) {
            logged(plan, micros, seconds, rowsExamined, changes);
        } else if (basis == PlanBasis.CAPTURED && isFollowed(in)) {
            captured.add(
                    micros,
                    seconds,
                    rowsExamined,
                    latencies(current),
                    since,
                    oldPlan.isEmpty() ? null : latencies(oldPlan));
        } else {
            unnamedMicros = Math.max(unnamedMicros, micros);
            return;
        }
        decide(micros, minRatio, changes);
    }

    private void logged(
            String plan, long micros, double seconds, double rowsExamined, Consumer<DetectedPlanChange> changes) {
        if (basis == PlanBasis.CAPTURED) {
            restart(PlanBasis.LOGGED, micros, "the log names plans since", changes);
        }
        latencies(plan).add(micros, seconds, rowsExamined);
        follow(plan, micros).add(micros, seconds, rowsExamined);
        if (inARow >= IN_A_ROW) {
            change(candidateMicros, changes);
        }
    }

    /**
     * A capture says what the plan is. One that is not later than the last is passed over: it was read twice, or too
     * late. So is each of another database than the one that is followed; and each while the log names plans, until the
     * statement ran without a name for a day. That day is one of its executions: captures may be read long before the
     * executions of their time.
     *
     * @param of database; empty where the capture does not say
     */
    public void capture(String of, String plan, long micros, Consumer<DetectedPlanChange> changes) {
        if (basis == PlanBasis.LOGGED && !current.isEmpty()) {
            if (unnamedMicros == Long.MIN_VALUE || unnamedMicros - latestMicros() < DAY_MICROS) {
                return;
            }
            restart(PlanBasis.CAPTURED, micros, "the log names no plans since", changes);
        }
        basis = PlanBasis.CAPTURED;
        if (!captured.isNext(micros)) {
            return;
        }
        if (!isFollowed(of)) {
            if (!captured.isOlderThan(micros - DAY_MICROS)) {
                return;
            }
            restart(PlanBasis.CAPTURED, micros, "captures are of another database since", changes);
        }
        if (database.isEmpty()) {
            database = of;
        }
        followCapture(plan, micros, changes);
    }

    /** False where it is known that it is another one. */
    private boolean isFollowed(String other) {
        return other.isEmpty() || database.isEmpty() || other.equals(database);
    }

    private void followCapture(String plan, long micros, Consumer<DetectedPlanChange> changes) {
        if (plan.equals(current)) {
            captured.confirm(micros, latencies(plan), since);
        } else if (current.isEmpty()) {
            current = plan;
            since = new PlanLatencyHistory(plan);
            captured.begin(micros);
        } else {
            candidate = new PlanLatencyHistory(plan);
            change(micros, changes);
            captured.begin(micros);
        }
        latencies(plan).seen(micros);
    }

    private void restart(PlanBasis since, long micros, String reason, Consumer<DetectedPlanChange> changes) {
        abandon(micros, reason, changes);
        pending = false;
        basis = since;
        database = "";
        unnamedMicros = Long.MIN_VALUE;
        plans.clear();
        captured = new CapturedExecutions();
        this.since = new PlanLatencyHistory("");
        candidate = new PlanLatencyHistory("");
        current = "";
        oldPlan = "";
        inARow = 0;
    }

    private PlanLatencyHistory latencies(String plan) {
        for (PlanLatencyHistory known : plans) {
            if (known.plan().equals(plan)) {
                return known;
            }
        }
        if (plans.size() == PLANS) {
            plans.remove(plans.stream()
                    .filter(known ->
                            !known.plan().equals(current) && !known.plan().equals(oldPlan))
                    .min(Comparator.comparingLong(PlanLatencyHistory::latestMicros))
                    .orElseThrow());
        }
        PlanLatencyHistory fresh = new PlanLatencyHistory(plan);
        plans.add(fresh);
        return fresh;
    }

    /** Counts how often in a row another plan than the statement's came. Returns what the execution belongs to. */
    private PlanLatencyHistory follow(String plan, long micros) {
        if (current.isEmpty()) {
            current = plan;
            since = new PlanLatencyHistory(plan);
        }
        if (plan.equals(current)) {
            inARow = 0;
            return since;
        }
        if (inARow == 0 || !plan.equals(candidate.plan())) {
            candidate = new PlanLatencyHistory(plan);
            candidateMicros = micros;
            inARow = 0;
        }
        inARow++;
        return candidate;
    }

    /** The candidate is the statement's plan from now on. */
    private void change(long micros, Consumer<DetectedPlanChange> changes) {
        abandon(micros, "another plan came after " + counted(after().executions()), changes);
        oldSeenMicros = latencies(current).latestMicros();
        oldPlan = current;
        current = candidate.plan();
        since = candidate;
        candidate = new PlanLatencyHistory("");
        changeMicros = micros;
        inARow = 0;
        tests = 0;
        givenUp = false;
        pending = isReported(changeMicros);
        captured.change();
        if (pending) {
            changes.accept(change(PlanVerdict.PENDING, "", 0));
        }
    }

    private boolean isReported(long micros) {
        long counted = basis == PlanBasis.CAPTURED ? DAY_MICROS : HOUR_MICROS;
        if (countedFrom == Long.MIN_VALUE || micros - countedFrom >= counted) {
            countedFrom = micros;
            changesCounted = 0;
        }
        return ++changesCounted <= MAX_CHANGES;
    }

    private void decide(long micros, double minRatio, Consumer<DetectedPlanChange> changes) {
        if (!pending) {
            return;
        }
        int due = LatencyComparison.testDue(
                since.executions() + captured.unconfirmed().executions());
        if (due > tests) {
            tests = due;
            PlanVerdict verdict = LatencyComparison.at(due, before(), after(), minRatio);
            if (verdict != PlanVerdict.PENDING) {
                pending = false;
                changes.accept(change(verdict, verdict == PlanVerdict.UNKNOWN ? tooFew() : "", micros));
            }
        }
    }

    /**
     * Calls a change unknown that has no verdict after a day, so that nobody waits for ever.
     *
     * @param nowMicros by the clock, microseconds since 1970 UTC
     */
    public void abandon(long nowMicros, Consumer<DetectedPlanChange> changes) {
        if (deadlineMicros().isPresent() && nowMicros >= deadlineMicros().getAsLong()) {
            abandon(nowMicros, tooFew(), changes);
        }
    }

    private void abandon(long micros, String reason, Consumer<DetectedPlanChange> changes) {
        if (pending && !givenUp) {
            givenUp = true;
            changes.accept(change(PlanVerdict.UNKNOWN, reason, micros));
        }
    }

    private String tooFew() {
        long before = before().executions();
        return before < LatencyComparison.MIN_BEFORE
                ? counted(before) + " before the change"
                : counted(after().executions()) + " since the change";
    }

    private static String counted(long executions) {
        return executions == 1 ? "1 execution" : executions + " executions";
    }

    /** Of captured plans also what ran between the two captures, where too few ran before that. */
    private PlanLatencyHistory before() {
        PlanLatencyHistory known = latencies(oldPlan);
        if (basis == PlanBasis.LOGGED || known.executions() >= LatencyComparison.MIN_BEFORE) {
            return known;
        }
        PlanLatencyHistory both = new PlanLatencyHistory(oldPlan);
        both.addAll(known);
        both.addAll(captured.between());
        return both;
    }

    /** What is not confirmed counts too: the next capture may be long in coming. */
    private PlanLatencyHistory after() {
        PlanLatencyHistory both = new PlanLatencyHistory(current);
        both.addAll(since);
        both.addAll(captured.unconfirmed());
        return both;
    }

    private DetectedPlanChange change(PlanVerdict verdict, String reason, long micros) {
        return new DetectedPlanChange(
                basis,
                oldPlan,
                current,
                oldSeenMicros,
                changeMicros,
                verdict,
                reason,
                micros,
                DetectedPlanChange.Executions.of(before()),
                DetectedPlanChange.Executions.of(after()));
    }

    /** Writes the state, its version first. */
    public void write(DataOutput out) throws IOException {
        out.writeByte(VERSION);
        out.writeByte(plans.size());
        for (PlanLatencyHistory plan : plans) {
            plan.write(out);
        }
        captured.unconfirmed().write(out);
        since.write(out);
        out.writeUTF(current);
        candidate.write(out);
        out.writeByte(inARow);
        out.writeLong(candidateMicros);
        out.writeLong(countedFrom);
        out.writeInt(changesCounted);
        out.writeUTF(oldPlan);
        out.writeLong(changeMicros);
        out.writeByte(tests);
        out.writeBoolean(pending);
        out.writeByte(basis.ordinal());
        out.writeLong(oldSeenMicros);
        out.writeBoolean(givenUp);
        captured.writeTimes(out);
        out.writeUTF(database);
        out.writeLong(unnamedMicros);
    }

    /** @throws IOException also if it was written by a later version */
    public static PlanHistory read(DataInput in) throws IOException {
        byte version = in.readByte();
        if (version < 1 || version > VERSION) {
            throw new IOException("plan history of version " + version + ", this program reads " + VERSION);
        }
        PlanHistory history = new PlanHistory();
        int plans = in.readByte();
        for (int i = 0; i < plans; i++) {
            history.plans.add(PlanLatencyHistory.read(in));
        }
        PlanLatencyHistory unconfirmed = PlanLatencyHistory.read(in);
        history.since = PlanLatencyHistory.read(in);
        history.current = in.readUTF();
        history.candidate = PlanLatencyHistory.read(in);
        history.inARow = in.readByte();
        history.candidateMicros = in.readLong();
        history.countedFrom = in.readLong();
        history.changesCounted = in.readInt();
        history.oldPlan = in.readUTF();
        history.changeMicros = in.readLong();
        history.tests = in.readByte();
        history.pending = in.readBoolean();
        if (version >= WITH_CAPTURES) {
            history.basis = PlanBasis.values()[in.readByte()];
            history.oldSeenMicros = in.readLong();
            history.givenUp = in.readBoolean();
            history.captured = CapturedExecutions.read(unconfirmed, in);
        }
        if (version >= WITH_DATABASE) {
            history.database = in.readUTF();
            history.unnamedMicros = in.readLong();
        }
        return history;
    }
}
