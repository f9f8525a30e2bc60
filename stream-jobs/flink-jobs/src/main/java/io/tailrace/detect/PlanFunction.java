package io.tailrace.detect;

import io.tailrace.detection.detector.SlowerPlan;
import io.tailrace.event.Alert;
import io.tailrace.event.PlanChange;
import io.tailrace.plan.change.Change;
import io.tailrace.plan.change.Change.Executions;
import io.tailrace.plan.change.PlanHistory;
import io.tailrace.plan.change.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
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
    private static final long MICROS_PER_MILLI = 1000;

    private final RuleBroadcast rules;
    private transient ValueState<PlanHistory> histories;

    PlanFunction(RuleBroadcast rules) {
        this.rules = rules;
    }

    @Override
    public void open(OpenContext context) {
        histories = getRuntimeContext().getState(new ValueStateDescriptor<>("plans", new PlanHistorySerializer()));
    }

    @Override
    public void processBroadcastElement(RuleRecord push, Context context, Collector<Alert> out) throws Exception {
        rules.accept(push, context.getBroadcastState(RuleBroadcast.STATE));
    }

    @Override
    public void processElement(PlanSighting sighting, ReadOnlyContext context, Collector<Alert> out) throws Exception {
        PlanHistory known = histories.value();
        if (known == null && sighting.plan().isEmpty()) {
            return;
        }
        PlanHistory history = known == null ? new PlanHistory() : known;
        Optional<SlowerPlan> detector =
                rules.active(context.getBroadcastState(RuleBroadcast.STATE)).detector(SlowerPlan.class);
        if (sighting.isCapture()) {
            history.capture(
                    sighting.plan(), sighting.micros(), change -> tell(change, sighting, detector, context, out));
        } else {
            history.execution(
                    sighting.plan(),
                    sighting.micros(),
                    sighting.seconds(),
                    sighting.rowsExamined(),
                    detector.map(SlowerPlan::ratio).orElse(SlowerPlan.USUAL_RATIO),
                    change -> tell(change, sighting, detector, context, out));
        }
        histories.update(history);
        if (known == null) {
            lookLater(context.timerService().currentProcessingTime(), context.timerService());
        }
    }

    private static void lookLater(long now, TimerService timers) {
        timers.registerProcessingTimeTimer(now + LOOK.toMillis());
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Alert> out) throws Exception {
        PlanHistory history = histories.value();
        if (history == null) {
            return;
        }
        long now = context.timerService().currentProcessingTime();
        if (history.latestMicros() < (now - REMEMBERED.toMillis()) * MICROS_PER_MILLI) {
            histories.clear();
        } else {
            lookLater(now, context.timerService());
        }
    }

    private static void tell(
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
