package io.tailrace.flink.detection.plans;

import io.tailrace.detect.PlanHistorySerializer;
import io.tailrace.detect.PlanSighting;
import io.tailrace.detect.RuleRecord;
import io.tailrace.detection.alert.AlertContext;
import io.tailrace.detection.detector.pipeline.PlanRegressionDetector;
import io.tailrace.event.Alert;
import io.tailrace.event.PlanChange;
import io.tailrace.flink.detection.alerts.AlertRecordFactory;
import io.tailrace.flink.detection.rules.RuleBroadcastState;
import io.tailrace.plan.change.DetectedPlanChange;
import io.tailrace.plan.change.DetectedPlanChange.Executions;
import io.tailrace.plan.change.PlanHistory;
import io.tailrace.plan.change.PlanVerdict;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ReadOnlyBroadcastState;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.streaming.api.TimerService;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Tracks the plans of a statement on a server: emits plan changes, and raises an alert if a change made the statement
 * slower.
 *
 * <p>Statements whose plans are unknown have no state. A change without a verdict after a day has the verdict unknown.
 */
public final class PlanChangeFunction
        extends KeyedBroadcastProcessFunction<PlanSighting.Statement, PlanSighting, RuleRecord, Alert> {

    public static final OutputTag<PlanChange> CHANGES =
            new OutputTag<>("plan-changes", new AvroTypeInfo<>(PlanChange.class));

    private static final long serialVersionUID = 1;
    private static final Duration REMEMBERED = Duration.ofDays(35);
    /** Interval at which expired statements are removed. */
    private static final Duration CHECK_INTERVAL = Duration.ofDays(1);
    /**
     * If a change is older than its deadline when it is read, executions that are read within this time still count.
     */
    private static final Duration CATCHING_UP = Duration.ofHours(1);

    /**
     * The parsers' subtasks are not synchronized: executions of one statement arrive up to some seconds out of order.
     */
    private static final Duration WAIT = Duration.ofSeconds(5);

    private static final int MAX_WAITING = 2_000;
    private static final long MICROS_PER_MILLI = 1000;

    private final RuleBroadcastState rules;
    private transient ValueState<PlanHistory> histories;
    private transient ListState<PlanSighting> waiting;
    private transient ValueState<Integer> waitingCount;
    /** When waiting observations are applied. Of all timers only the one of this time counts. */
    private transient ValueState<Long> waitingUntil;
    /** When the next check is due, likewise. */
    private transient ValueState<Long> nextCheck;
    /** The latest applied observation, which identifies where the statement runs. */
    private transient ValueState<PlanSighting> latest;

    public PlanChangeFunction(RuleBroadcastState rules) {
        this.rules = rules;
    }

    @Override
    public void open(OpenContext context) {
        histories = getRuntimeContext().getState(new ValueStateDescriptor<>("plans", new PlanHistorySerializer()));
        waiting = getRuntimeContext()
                .getListState(new ListStateDescriptor<>("waiting", TypeInformation.of(PlanSighting.class)));
        waitingCount = getRuntimeContext().getState(new ValueStateDescriptor<>("waiting-count", Types.INT));
        waitingUntil = getRuntimeContext().getState(new ValueStateDescriptor<>("waiting-until", Types.LONG));
        nextCheck = getRuntimeContext().getState(new ValueStateDescriptor<>("look-at", Types.LONG));
        latest = getRuntimeContext()
                .getState(new ValueStateDescriptor<>("latest", TypeInformation.of(PlanSighting.class)));
    }

    @Override
    public void processBroadcastElement(RuleRecord push, Context context, Collector<Alert> out) throws Exception {
        rules.accept(push, context.getBroadcastState(RuleBroadcastState.STATE));
    }

    @Override
    public void processElement(PlanSighting observation, ReadOnlyContext context, Collector<Alert> out)
            throws Exception {
        // A waiting plan also counts, because the history begins with it.
        if (observation.plan().isEmpty() && histories.value() == null && waitingCount.value() == null) {
            return;
        }
        int count = waitingCount.value() == null ? 1 : waitingCount.value() + 1;
        waiting.add(observation);
        waitingCount.update(count);
        TimerService timers = context.timerService();
        if (count == 1) {
            setTimer(waitingUntil, timers.currentProcessingTime() + WAIT.toMillis(), timers);
        } else if (count >= MAX_WAITING) {
            clearTimer(waitingUntil, timers);
            follow(detector(context.getBroadcastState(RuleBroadcastState.STATE)), context, timers, out);
        }
    }

    private static void setTimer(ValueState<Long> timer, long millis, TimerService timers) throws IOException {
        timer.update(millis);
        timers.registerProcessingTimeTimer(millis);
    }

    private static void clearTimer(ValueState<Long> timer, TimerService timers) throws IOException {
        if (timer.value() != null) {
            timers.deleteProcessingTimeTimer(timer.value());
            timer.clear();
        }
    }

    private Optional<PlanRegressionDetector> detector(ReadOnlyBroadcastState<String, RuleRecord> state)
            throws Exception {
        return rules.active(state).detector(PlanRegressionDetector.class);
    }

    /** Applies the waiting observations in their order. */
    private void follow(
            Optional<PlanRegressionDetector> detector,
            ReadOnlyContext context,
            TimerService timers,
            Collector<Alert> out)
            throws Exception {
        List<PlanSighting> observations = new ArrayList<>();
        waiting.get().forEach(observations::add);
        observations.sort(PlanSighting.ORDER);
        waiting.clear();
        waitingCount.clear();
        if (observations.isEmpty()) {
            return;
        }
        PlanHistory known = histories.value();
        PlanHistory history = known == null ? new PlanHistory() : known;
        for (PlanSighting observation : observations) {
            follow(
                    history,
                    observation,
                    detector,
                    change -> emitChange(change, observation.of(history), detector, context, out));
        }
        histories.update(history);
        latest.update(observations.get(observations.size() - 1));
        scheduleCheck(history, timers);
    }

    private static void follow(
            PlanHistory history,
            PlanSighting observation,
            Optional<PlanRegressionDetector> detector,
            Consumer<DetectedPlanChange> changes) {
        if (observation.isCapture()) {
            history.capture(observation.database(), observation.plan(), observation.micros(), changes);
        } else {
            history.execution(
                    observation.database(),
                    observation.plan(),
                    observation.micros(),
                    observation.seconds(),
                    observation.rowsExamined(),
                    detector.map(PlanRegressionDetector::ratio).orElse(PlanRegressionDetector.DEFAULT_RATIO),
                    changes);
        }
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Alert> out) throws Exception {
        Optional<PlanRegressionDetector> detector = detector(context.getBroadcastState(RuleBroadcastState.STATE));
        if (isDue(waitingUntil, timestamp)) {
            waitingUntil.clear();
            follow(detector, context, context.timerService(), out);
        }
        if (histories.value() != null && isDue(nextCheck, timestamp)) {
            nextCheck.clear();
            check(detector, context, out);
        }
    }

    /** State of an earlier version has timers, but not their times. */
    private static boolean isDue(ValueState<Long> timer, long timestamp) throws IOException {
        return timer.value() == null || timer.value() <= timestamp;
    }

    private void check(Optional<PlanRegressionDetector> detector, OnTimerContext context, Collector<Alert> out)
            throws Exception {
        TimerService timers = context.timerService();
        long now = timers.currentProcessingTime();
        PlanHistory history = histories.value();
        if (history.latestMicros() < (now - REMEMBERED.toMillis()) * MICROS_PER_MILLI) {
            histories.clear();
            latest.clear();
            return;
        }
        PlanSighting observation = latest.value();
        if (observation != null) {
            history.abandon(
                    now * MICROS_PER_MILLI,
                    change -> emitChange(change, observation.of(history), detector, context, out));
            histories.update(history);
        }
        scheduleCheck(history, timers);
    }

    /** Schedules the check for expiry, or an earlier one when the verdict of its change is due. */
    private void scheduleCheck(PlanHistory history, TimerService timers) throws IOException {
        long now = timers.currentProcessingTime();
        long at = now + CHECK_INTERVAL.toMillis();
        if (history.deadlineMicros().isPresent()) {
            long deadline = history.deadlineMicros().getAsLong() / MICROS_PER_MILLI + 1;
            at = Math.min(at, deadline > now ? deadline : now + CATCHING_UP.toMillis());
        }
        if (nextCheck.value() == null || at < nextCheck.value()) {
            clearTimer(nextCheck, timers);
            setTimer(nextCheck, at, timers);
        }
    }

    private void emitChange(
            DetectedPlanChange change,
            PlanSighting observation,
            Optional<PlanRegressionDetector> detector,
            ReadOnlyContext context,
            Collector<Alert> out) {
        PlanChange record = record(change, observation);
        context.output(CHANGES, record);
        boolean alerts = detector.isPresent()
                && change.verdict() == PlanVerdict.SLOWER
                && !detector.get().isExcepted(observation.cluster(), observation.instance());
        if (alerts) {
            Map<String, String> alertContext = Map.of(
                    AlertContext.CLUSTER, observation.cluster(),
                    AlertContext.INSTANCE, observation.instance(),
                    AlertContext.DATABASE, observation.database());
            out.collect(AlertRecordFactory.of(detector.get().alert(record), alertContext, false, Instant.now()));
        }
    }

    static PlanChange record(DetectedPlanChange change, PlanSighting observation) {
        PlanChange record = new PlanChange();
        record.setCluster(observation.cluster());
        record.setInstance(observation.instance());
        record.setDatabase(observation.database());
        record.setQueryId(observation.queryId());
        record.setChangedAt(time(change.micros()));
        record.setOldPlan(change.oldPlan());
        record.setNewPlan(change.newPlan());
        record.setVerdict(change.verdict().name().toLowerCase(Locale.ROOT));
        record.setReason(change.reason());
        record.setBasis(change.basis().name().toLowerCase(Locale.ROOT));
        record.setOldPlanSeenAt(change.oldSeenMicros() == 0 ? null : time(change.oldSeenMicros()));
        record.setVerdictAt(change.verdict() == PlanVerdict.PENDING ? null : time(change.verdictMicros()));
        record.setRatio(known(change.ratio()));
        setExecutions(record, change.before(), change.after());
        record.setUpdatedAt(Instant.now().truncatedTo(ChronoUnit.MICROS));
        return record;
    }

    private static void setExecutions(PlanChange record, Executions before, Executions after) {
        record.setExecutionsBefore(before.count());
        record.setExecutionsAfter(after.count());
        record.setMedianBefore(known(before.median()));
        record.setMedianAfter(known(after.median()));
        record.setRowsExaminedBefore(known(before.rowsExamined()));
        record.setRowsExaminedAfter(known(after.rowsExamined()));
    }

    private static Double known(double value) {
        return Double.isNaN(value) ? null : value;
    }

    private static Instant time(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }
}
