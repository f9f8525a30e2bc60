package io.tailrace.detect;

import io.tailrace.detection.detector.SlowerPlan;
import io.tailrace.event.Alert;
import io.tailrace.event.PlanChange;
import io.tailrace.plan.change.Change;
import io.tailrace.plan.change.Change.Executions;
import io.tailrace.plan.change.PlanHistory;
import io.tailrace.plan.change.Verdict;
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
 * Follows the plans of a statement on a server: tells changes, and raises an alert where one made it slower.
 *
 * <p>Nothing is remembered of statements whose plans nobody tells.
 */
final class PlanFunction
        extends KeyedBroadcastProcessFunction<PlanSighting.Statement, PlanSighting, RuleRecord, Alert> {

    static final OutputTag<PlanChange> CHANGES = new OutputTag<>("plan-changes", new AvroTypeInfo<>(PlanChange.class));

    private static final long serialVersionUID = 1;
    private static final Duration REMEMBERED = Duration.ofDays(35);
    private static final Duration LOOK = Duration.ofDays(1);
    /** The parsers' subtasks are not in step: executions of one statement come up to some seconds out of order. */
    private static final Duration WAIT = Duration.ofSeconds(5);

    private static final int MOST_WAITING = 2_000;
    private static final long MICROS_PER_MILLI = 1000;

    private final RuleBroadcast rules;
    private transient ValueState<PlanHistory> histories;
    private transient ListState<PlanSighting> waiting;
    private transient ValueState<Integer> waitingCount;

    PlanFunction(RuleBroadcast rules) {
        this.rules = rules;
    }

    @Override
    public void open(OpenContext context) {
        histories = getRuntimeContext().getState(new ValueStateDescriptor<>("plans", new PlanHistorySerializer()));
        waiting = getRuntimeContext()
                .getListState(new ListStateDescriptor<>("waiting", TypeInformation.of(PlanSighting.class)));
        waitingCount = getRuntimeContext().getState(new ValueStateDescriptor<>("waiting-count", Types.INT));
    }

    @Override
    public void processBroadcastElement(RuleRecord push, Context context, Collector<Alert> out) throws Exception {
        rules.accept(push, context.getBroadcastState(RuleBroadcast.STATE));
    }

    @Override
    public void processElement(PlanSighting sighting, ReadOnlyContext context, Collector<Alert> out) throws Exception {
        if (sighting.plan().isEmpty() && histories.value() == null) {
            return;
        }
        int count = waitingCount.value() == null ? 1 : waitingCount.value() + 1;
        waiting.add(sighting);
        waitingCount.update(count);
        if (count == 1) {
            TimerService timers = context.timerService();
            timers.registerProcessingTimeTimer(timers.currentProcessingTime() + WAIT.toMillis());
        }
        if (count >= MOST_WAITING) {
            follow(detector(context.getBroadcastState(RuleBroadcast.STATE)), context, context.timerService(), out);
        }
    }

    private Optional<SlowerPlan> detector(ReadOnlyBroadcastState<String, RuleRecord> state) throws Exception {
        return rules.active(state).detector(SlowerPlan.class);
    }

    /** What waited, in its order. */
    private void follow(
            Optional<SlowerPlan> detector, ReadOnlyContext context, TimerService timers, Collector<Alert> out)
            throws Exception {
        List<PlanSighting> sightings = new ArrayList<>();
        waiting.get().forEach(sightings::add);
        sightings.sort(PlanSighting.ORDER);
        waiting.clear();
        waitingCount.clear();
        PlanHistory known = histories.value();
        PlanHistory history = known == null ? new PlanHistory() : known;
        for (PlanSighting sighting : sightings) {
            follow(history, sighting, detector, change -> tell(change, sighting, detector, context, out));
        }
        histories.update(history);
        if (known == null) {
            timers.registerProcessingTimeTimer(timers.currentProcessingTime() + LOOK.toMillis());
        }
    }

    private static void follow(
            PlanHistory history, PlanSighting sighting, Optional<SlowerPlan> detector, Consumer<Change> changes) {
        if (sighting.isCapture()) {
            history.capture(sighting.plan(), sighting.micros(), changes);
        } else {
            history.execution(
                    sighting.plan(),
                    sighting.micros(),
                    sighting.seconds(),
                    sighting.rowsExamined(),
                    detector.map(SlowerPlan::ratio).orElse(SlowerPlan.USUAL_RATIO),
                    changes);
        }
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Alert> out) throws Exception {
        TimerService timers = context.timerService();
        if (waitingCount.value() != null) {
            follow(detector(context.getBroadcastState(RuleBroadcast.STATE)), context, timers, out);
        } else if (histories.value() != null) {
            forgetOrLookLater(timers);
        }
    }

    private void forgetOrLookLater(TimerService timers) throws IOException {
        long now = timers.currentProcessingTime();
        if (histories.value().latestMicros() < (now - REMEMBERED.toMillis()) * MICROS_PER_MILLI) {
            histories.clear();
        } else {
            timers.registerProcessingTimeTimer(now + LOOK.toMillis());
        }
    }

    private void tell(
            Change change,
            PlanSighting sighting,
            Optional<SlowerPlan> detector,
            ReadOnlyContext context,
            Collector<Alert> out) {
        PlanChange record = record(change, sighting);
        context.output(CHANGES, record);
        boolean wanted = detector.isPresent()
                && change.verdict() == Verdict.SLOWER
                && !detector.get().isExcepted(sighting.cluster(), sighting.instance());
        if (wanted) {
            Map<String, String> about = Map.of(
                    About.CLUSTER, sighting.cluster(),
                    About.INSTANCE, sighting.instance(),
                    About.DATABASE, sighting.database());
            out.collect(AlertRecords.of(detector.get().alert(record), about, false, Instant.now()));
        }
    }

    private static PlanChange record(Change change, PlanSighting sighting) {
        PlanChange record = new PlanChange();
        record.setCluster(sighting.cluster());
        record.setInstance(sighting.instance());
        record.setDatabase(sighting.database());
        record.setQueryId(sighting.queryId());
        record.setChangedAt(time(change.micros()));
        record.setOldPlan(change.oldPlan());
        record.setNewPlan(change.newPlan());
        record.setVerdict(change.verdict().name().toLowerCase(Locale.ROOT));
        record.setVerdictAt(change.verdict() == Verdict.PENDING ? null : time(change.verdictMicros()));
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
