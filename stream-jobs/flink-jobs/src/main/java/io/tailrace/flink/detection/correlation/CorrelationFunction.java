package io.tailrace.flink.detection.correlation;

import io.tailrace.detect.Evidence;
import io.tailrace.detect.GroupWindowSerializer;
import io.tailrace.detect.RuleRecord;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.correlation.CorrelationEvaluator;
import io.tailrace.detection.correlation.GroupWindow;
import io.tailrace.detection.detector.DetectorState;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.detector.StatefulDetector;
import io.tailrace.detection.event.ActionReference;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.history.InstanceHistory;
import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.flink.detection.alerts.AlertRecordFactory;
import io.tailrace.flink.detection.rules.ActiveRules;
import io.tailrace.flink.detection.rules.ExceptionCounters;
import io.tailrace.flink.detection.rules.RuleBroadcastState;
import io.tailrace.flink.detection.state.GroupKey;
import io.tailrace.flink.runtime.RenamedMetrics;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.TimeDomain;
import org.apache.flink.streaming.api.TimerService;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Holds the state of correlations and detectors, one group at a time: keyed by {@link Evidence#key()}.
 *
 * <p>A correlation may use correlations: an alert here is sent as evidence to those that use it, in a later stage with
 * the same function. The stages are chained because a group of one correlation is in another subtask than that of the
 * next, and Flink's graphs have no cycles.
 *
 * <p>Evidence from a push that has not arrived here yet waits for it.
 */
public final class CorrelationFunction
        extends KeyedBroadcastProcessFunction<String, Evidence, RuleRecord, io.tailrace.event.Alert> {

    private static final long serialVersionUID = 1;
    private static final long MICROS_PER_MILLI = 1000;
    /** The value of an engine without a watermark: small, but safe to subtract from. */
    private static final long NO_WATERMARK = Long.MIN_VALUE / 2;

    private static final long RETRY_MILLIS = 50;
    private static final Duration MAX_WAIT = Duration.ofSeconds(30);
    /** Number of expiry checks within the lifetime of state. */
    private static final int EXPIRY_CHECKS = 4;

    private final RuleBroadcastState rules;
    private final OutputTag<Evidence> forNextStages;

    private transient ValueState<GroupWindow> windows;
    private transient ValueState<byte[]> detectorStates;
    private transient ListState<Evidence> waiting;
    private transient ValueState<Long> waitingUntil;
    private transient Counter orphanedInputs;
    private transient ExceptionCounters exceptions;

    /** @param forNextStages side output for evidence of dependent correlations */
    public CorrelationFunction(RuleBroadcastState rules, OutputTag<Evidence> forNextStages) {
        this.rules = rules;
        this.forNextStages = forNextStages;
    }

    @Override
    public void open(OpenContext context) {
        windows = getRuntimeContext().getState(new ValueStateDescriptor<>("window", new GroupWindowSerializer()));
        detectorStates = getRuntimeContext()
                .getState(
                        new ValueStateDescriptor<>("detector", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
        waiting = getRuntimeContext().getListState(new ListStateDescriptor<>("waiting", EvidenceTypes.STORED));
        waitingUntil = getRuntimeContext().getState(new ValueStateDescriptor<>("waiting-until", Long.class));
        orphanedInputs = RenamedMetrics.counter(getRuntimeContext().getMetricGroup(), "orphaned-correlation-inputs");
        exceptions = new ExceptionCounters(getRuntimeContext().getMetricGroup());
    }

    @Override
    public void processBroadcastElement(RuleRecord push, Context context, Collector<io.tailrace.event.Alert> out)
            throws Exception {
        rules.accept(push, context.getBroadcastState(RuleBroadcastState.STATE));
    }

    @Override
    public void processElement(Evidence evidence, ReadOnlyContext context, Collector<io.tailrace.event.Alert> out)
            throws Exception {
        ActiveRules active = rules.active(context.getBroadcastState(RuleBroadcastState.STATE));
        if (evidence.push() > active.offset()) {
            bufferUntilRulesArrive(evidence, context.timerService());
        } else {
            process(evidence, active, context.timerService(), outputs(active, context, out));
        }
    }

    private void bufferUntilRulesArrive(Evidence evidence, TimerService timers) throws Exception {
        waiting.add(evidence);
        long now = timers.currentProcessingTime();
        if (waitingUntil.value() == null) {
            waitingUntil.update(now + MAX_WAIT.toMillis());
        }
        timers.registerProcessingTimeTimer(now + RETRY_MILLIS);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<io.tailrace.event.Alert> out)
            throws Exception {
        ActiveRules active = rules.active(context.getBroadcastState(RuleBroadcastState.STATE));
        if (context.timeDomain() == TimeDomain.PROCESSING_TIME) {
            takeWaiting(active, context, out);
        } else {
            expireState(active, context, out);
        }
    }

    private void takeWaiting(ActiveRules active, OnTimerContext context, Collector<io.tailrace.event.Alert> out)
            throws Exception {
        boolean tooLong =
                waitingUntil.value() != null && context.timerService().currentProcessingTime() >= waitingUntil.value();
        boolean ready = true;
        for (Evidence evidence : waiting.get()) {
            ready &= evidence.push() <= active.offset();
        }
        if (!ready && !tooLong) {
            long now = context.timerService().currentProcessingTime();
            context.timerService().registerProcessingTimeTimer(now + RETRY_MILLIS);
            return;
        }
        for (Evidence evidence : waiting.get()) {
            process(evidence, active, context.timerService(), outputs(active, context, out));
        }
        waiting.clear();
        waitingUntil.clear();
    }

    /** Returns the output for an alert about a group, with the context of the event that caused it. */
    private BiConsumer<RaisedAlert, Evidence> outputs(
            ActiveRules active, ReadOnlyContext context, Collector<io.tailrace.event.Alert> out) {
        return (alert, evidence) -> {
            boolean alerts = active.correlator(alert.rule().key())
                    .map(correlator -> correlator.rule().alerts())
                    .orElse(true);
            if (alerts) {
                out.collect(AlertRecordFactory.of(alert, evidence.about(), evidence.late(), Instant.now()));
            }
            forwardToDependents(alert, alerts, evidence, active, context);
        };
    }

    /** An alert is a match for the correlations that use its rule; its fields are those of its entity. */
    private void forwardToDependents(
            RaisedAlert alert, boolean isRaised, Evidence evidence, ActiveRules active, ReadOnlyContext context) {
        String key = alert.rule().key();
        for (CorrelationEvaluator user : active.using(key)) {
            DetectionEvent event = event(alert);
            if (exceptions.covers(active, user.rule().header().key(), event)) {
                continue;
            }
            List<String> values = user.rule().field().isEmpty()
                    ? List.of()
                    : event.values(user.rule().fieldOf(key, user.rule().field())).stream()
                            .map(Object::toString)
                            .toList();
            for (List<String> group : user.groups(key, event)) {
                context.output(
                        forNextStages,
                        new Evidence(
                                active.offset(),
                                active.level(user),
                                user.rule().header().key(),
                                group,
                                key,
                                alert.evidenceId(isRaised),
                                alert.id(),
                                alert.micros(),
                                0,
                                values,
                                0,
                                evidence.statement(),
                                alert.late() || evidence.late(),
                                evidence.about()));
            }
        }
    }

    private static DetectionEvent event(RaisedAlert alert) {
        DetectionEvent.Builder event = DetectionEvent.builder(alert.id(), alert.micros(), LogSource.ANY);
        alert.entity().forEach(event::text);
        return event.build();
    }

    private void process(
            Evidence evidence, ActiveRules active, TimerService timers, BiConsumer<RaisedAlert, Evidence> outputs)
            throws Exception {
        Optional<CorrelationEvaluator> correlator = active.correlator(evidence.consumer());
        Optional<StatefulDetector> detector = active.detector(evidence.consumer());
        Consumer<RaisedAlert> fired = alert -> outputs.accept(alert, evidence);
        if (correlator.isPresent() && isOf(correlator.get().rule(), evidence)) {
            count(evidence, correlator.get(), timers, fired);
        } else if (detector.isPresent()) {
            observe(evidence, detector.get(), timers, fired);
        } else {
            orphanedInputs.inc();
        }
    }

    /** A push may have changed the rules and groups of a correlation since the evidence was created. */
    private static boolean isOf(CorrelationRule rule, Evidence evidence) {
        return isOf(rule, evidence.group()) && rule.rules().contains(evidence.rule());
    }

    private static boolean isOf(CorrelationRule rule, List<String> group) {
        return rule.groupBy().size() == group.size();
    }

    private void count(
            Evidence evidence, CorrelationEvaluator correlator, TimerService timers, Consumer<RaisedAlert> fired)
            throws IOException {
        CorrelationRule rule = correlator.rule();
        GroupWindow known = windows.value();
        GroupWindow window = known == null ? new GroupWindow() : known;
        long watermark = watermarkMicros(timers);
        correlator.add(evidence.rule(), event(evidence, rule), evidence.group(), window, watermark, fired);
        if (known == null && window.isEmpty()) {
            return;
        }
        windows.update(window);
        if (!rule.isEvaluatedOnArrival()) {
            timers.registerEventTimeTimer(Math.floorDiv(evidence.micros(), MICROS_PER_MILLI) + 1);
        }
        if (known == null) {
            scheduleTimer(Math.max(evidence.micros(), watermark), lifetime(rule), timers);
        }
    }

    private static DetectionEvent event(Evidence evidence, CorrelationRule rule) {
        DetectionEvent.Builder event = DetectionEvent.builder(evidence.eventId(), evidence.micros(), LogSource.ANY)
                .order(evidence.order())
                .known("statement", evidence.statement());
        if (!rule.field().isEmpty()) {
            event.texts(rule.fieldOf(evidence.rule(), rule.field()), evidence.values());
        }
        DetectionEvent built = event.build();
        built.history(history(evidence));
        built.actionFrom(each -> new ActionReference(evidence.actionId(), evidence.micros(), evidence.order()));
        return built;
    }

    private static int history(Evidence evidence) {
        String days = evidence.about().get(DetectionEvent.HISTORY);
        return days == null ? InstanceHistory.LONG : Integer.parseInt(days);
    }

    /** Returns how long a group is kept without events, in microseconds. */
    private long lifetime(CorrelationRule rule) {
        return rule.timespanMicros() + rules.latenessMicros();
    }

    private void observe(Evidence evidence, StatefulDetector detector, TimerService timers, Consumer<RaisedAlert> fired)
            throws IOException {
        byte[] known = detectorStates.value();
        DetectorState state =
                known == null ? detector.newState() : detector.readState(new DataInputDeserializer(known));
        if (detector.isForgotten(state, evidence.micros())) {
            state = detector.newState();
        }
        if (detector.update(state, observation(evidence), fired)) {
            DataOutputSerializer out = new DataOutputSerializer(known == null ? 128 : known.length + 32);
            state.write(out);
            detectorStates.update(out.getCopyOfBuffer());
            if (known == null) {
                scheduleTimer(Math.max(evidence.micros(), watermarkMicros(timers)), detector.ttlMicros(), timers);
            }
        }
    }

    private static Observation observation(Evidence evidence) {
        return new Observation(
                evidence.consumer(),
                evidence.group(),
                evidence.values(),
                evidence.amount(),
                evidence.micros(),
                evidence.eventId(),
                evidence.actionId(),
                evidence.statement(),
                evidence.late(),
                history(evidence));
    }

    /** Times are rounded, so that timers of one group at about the same time are one timer. */
    private static void scheduleTimer(long micros, long lifetimeMicros, TimerService timers) {
        long step = Math.max(MICROS_PER_MILLI * MICROS_PER_MILLI, lifetimeMicros / EXPIRY_CHECKS);
        long at = Math.floorDiv(micros + lifetimeMicros, step) * step + step;
        timers.registerEventTimeTimer(at / MICROS_PER_MILLI);
    }

    /** Evaluates windows that waited for the watermark, and removes expired state. */
    private void expireState(ActiveRules active, OnTimerContext context, Collector<io.tailrace.event.Alert> out)
            throws Exception {
        String key = context.getCurrentKey();
        List<String> group = GroupKey.group(key);
        Optional<CorrelationEvaluator> correlator =
                active.correlator(GroupKey.consumer(key)).filter(known -> isOf(known.rule(), group));
        Optional<StatefulDetector> detector = active.detector(GroupKey.consumer(key));
        if (correlator.isPresent() && windows.value() != null) {
            advance(correlator.get(), group, active, context, out);
        } else if (detector.isPresent() && detectorStates.value() != null) {
            forget(detector.get(), context.timerService());
        } else {
            windows.clear();
            detectorStates.clear();
        }
    }

    private void advance(
            CorrelationEvaluator correlator,
            List<String> group,
            ActiveRules active,
            OnTimerContext context,
            Collector<io.tailrace.event.Alert> out)
            throws IOException {
        GroupWindow window = windows.value();
        long watermark = watermarkMicros(context.timerService());
        BiConsumer<RaisedAlert, Evidence> outputs = outputs(active, context, out);
        boolean over = correlator.advance(
                group, window, watermark, alert -> outputs.accept(alert, withoutEvent(alert, active.offset())));
        if (over) {
            windows.clear();
        } else {
            windows.update(window);
            scheduleTimer(watermark, lifetime(correlator.rule()), context.timerService());
        }
    }

    /** The event of an alert that waited for the watermark is no longer available. */
    private static Evidence withoutEvent(RaisedAlert alert, long bundleOffset) {
        return new Evidence(
                bundleOffset,
                1,
                "",
                List.of(),
                "",
                "",
                "",
                alert.micros(),
                0,
                List.of(),
                0,
                "",
                alert.late(),
                Map.of());
    }

    private void forget(StatefulDetector detector, TimerService timers) throws IOException {
        DetectorState state = detector.readState(new DataInputDeserializer(detectorStates.value()));
        long watermark = watermarkMicros(timers);
        if (detector.isForgotten(state, watermark)) {
            detectorStates.clear();
        } else {
            scheduleTimer(Math.max(state.latestMicros(), NO_WATERMARK), detector.ttlMicros(), timers);
        }
    }

    private static long watermarkMicros(TimerService timers) {
        long millis = timers.currentWatermark();
        return Math.max(NO_WATERMARK / MICROS_PER_MILLI, Math.min(-NO_WATERMARK / MICROS_PER_MILLI, millis))
                * MICROS_PER_MILLI;
    }
}
