package io.tailrace.plan.change;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * The plans of one statement on one server, with the latencies of its executions.
 *
 * <p>If the log contains each execution's plan, a plan becomes the statement's plan with the third consecutive
 * execution, because the optimizer may choose another one for a rare value. If plans are captured periodically, each
 * capture decides; {@link CapturedExecutions} describes the executions between two captures.
 *
 * <p>A history has one {@link PlanBasis}, because EXPLAIN and the log may describe the same plan differently. A log
 * that contains plans takes precedence over captures. A change of the basis is not a plan change; the history
 * restarts.
 *
 * <p>One statement may run in the databases of many tenants, with a different plan in each. Only captures of one
 * database are used: the first that was captured, until it has no captures for a day.
 *
 * <p>The size is bounded to {@value #PLANS} plans; the least recent ones are discarded.
 */
public final class PlanHistory {

    /** Minimum number of executions before a change for a verdict. */
    public static final int MIN_BEFORE = LatencyComparison.MIN_BEFORE;

    private static final byte VERSION = 3;
    /** Versions of the state that can be read. Captures were added in version 2, databases in version 3. */
    private static final byte WITH_CAPTURES = 2;

    private static final byte WITH_DATABASE = 3;

    private static final int PLANS = 8;
    private static final int IN_A_ROW = 3;
    private static final long HOUR_MICROS = 3_600_000_000L;
    private static final long DAY_MICROS = 24 * HOUR_MICROS;
    /**
     * Maximum number of changes reported per hour, or per day for captures: a statement that alternates between two
     * plans has no plan change.
     */
    private static final int MAX_CHANGES = 4;

    private PlanBasis basis = PlanBasis.LOGGED;
    /** Database whose captures are used; empty if there are none, or if captures do not name it. */
    private String database = "";
    /** Time of the latest execution without a plan in the log. */
    private long unnamedMicros = Long.MIN_VALUE;

    private final List<PlanLatencyHistory> plans = new ArrayList<>();
    private CapturedExecutions captured = new CapturedExecutions();
    /** Executions with the statement's plan since the statement has it. */
    private PlanLatencyHistory since = new PlanLatencyHistory("");
    /** Executions with the plan that may become the statement's plan. */
    private PlanLatencyHistory candidate = new PlanLatencyHistory("");

    private String current = "";
    private int inARow;
    private long candidateMicros;
    /** Start of the hour or day in which changes are counted. */
    private long countedFrom = Long.MIN_VALUE;

    private int changesCounted;
    private String oldPlan = "";
    private long oldSeenMicros;
    private long changeMicros;
    private int tests;
    private boolean pending;
    /** The verdict was set to unknown after a day. Later executions may still decide it. */
    private boolean givenUp;

    /** Returns the latest event time, microseconds since 1970 UTC; Long.MIN_VALUE if there was no event. */
    public long latestMicros() {
        return plans.stream().mapToLong(PlanLatencyHistory::latestMicros).reduce(captured.latestMicros(), Math::max);
    }

    /** Returns the hash of the statement's plan; empty before the first one. */
    public String current() {
        return current;
    }

    /**
     * Returns the database whose captures are used; empty if the log contains plans, or no capture named its
     * database.
     */
    public String database() {
        return database;
    }

    /**
     * Returns the time at which the verdict of a pending change becomes unknown, microseconds since 1970 UTC; empty
     * if no change is pending.
     */
    public OptionalLong deadlineMicros() {
        return pending && !givenUp ? OptionalLong.of(changeMicros + DAY_MICROS) : OptionalLong.empty();
    }

    /**
     * Adds an execution. If captures are used, executions in other databases are ignored.
     *
     * @param in database; empty if unknown
     * @param plan hash of its plan; empty if the log does not contain it
     * @param micros event time, microseconds since 1970 UTC
     * @param seconds duration of the execution
     * @param minRatio ratio of medians, above 1, below which a change makes no difference
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
            restart(PlanBasis.LOGGED, micros, "the log now contains plans", changes);
        }
        latencies(plan).add(micros, seconds, rowsExamined);
        follow(plan, micros).ifPresent(followed -> followed.add(micros, seconds, rowsExamined));
        if (inARow >= IN_A_ROW) {
            change(candidateMicros, changes);
        }
    }

    /**
     * Adds a capture. A capture is ignored if it is not later than the last one, if it is from another database than
     * the one that is used, or if the log contains plans, until the statement ran for a day without one. That day is
     * measured by executions, because captures may be read long before the executions of the same time.
     *
     * @param of database; empty if the capture does not name it
     */
    public void capture(String of, String plan, long micros, Consumer<DetectedPlanChange> changes) {
        if (basis == PlanBasis.LOGGED && !current.isEmpty()) {
            if (unnamedMicros == Long.MIN_VALUE || unnamedMicros - latestMicros() < DAY_MICROS) {
                return;
            }
            restart(PlanBasis.CAPTURED, micros, "the log no longer contains plans", changes);
        }
        basis = PlanBasis.CAPTURED;
        if (!captured.isNext(micros)) {
            return;
        }
        if (!isFollowed(of)) {
            if (!captured.isOlderThan(micros - DAY_MICROS)) {
                return;
            }
            restart(PlanBasis.CAPTURED, micros, "captures are now of another database", changes);
        }
        if (database.isEmpty()) {
            database = of;
        }
        followCapture(plan, micros, changes);
    }

    /** Returns false if the database is known to be another one. */
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

    /**
     * Counts how often in a row a plan other than the statement's occurred. Returns the latencies to which the
     * execution belongs; empty for another plan before the statement's latest execution with its plan, such as lines
     * that a backfill repaired: it precedes what is known.
     */
    private Optional<PlanLatencyHistory> follow(String plan, long micros) {
        if (current.isEmpty()) {
            current = plan;
            since = new PlanLatencyHistory(plan);
        }
        if (plan.equals(current)) {
            if (micros >= candidateMicros) {
                inARow = 0;
            }
            return Optional.of(since);
        }
        if (micros < since.latestMicros()) {
            return Optional.empty();
        }
        if (inARow == 0 || !plan.equals(candidate.plan())) {
            candidate = new PlanLatencyHistory(plan);
            candidateMicros = micros;
            inARow = 0;
        }
        inARow++;
        return Optional.of(candidate);
    }

    /** Makes the candidate the statement's plan. */
    private void change(long micros, Consumer<DetectedPlanChange> changes) {
        abandon(micros, "another plan followed after " + counted(after().executions()), changes);
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
     * Sets the verdict of a change that is still pending after a day to unknown.
     *
     * @param nowMicros clock time, microseconds since 1970 UTC
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

    /**
     * Returns the latencies before the change. For captured plans these include the executions between the two
     * captures, if there are too few before.
     */
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

    /**
     * Returns the latencies after the change. Unconfirmed executions are included, because the next capture may be
     * late.
     */
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

    /** Writes the state, starting with its version. */
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

    /** @throws IOException also if a later version wrote the state */
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
