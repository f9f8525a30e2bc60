package io.tailrace.flink.detection.matching;

import io.tailrace.detect.Evidence;
import io.tailrace.detect.RuleRecord;
import io.tailrace.detect.SessionActionsSerializer;
import io.tailrace.detection.action.ActionObservation;
import io.tailrace.detection.action.SessionActionState;
import io.tailrace.detection.alert.AlertContext;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.correlation.CorrelationEvaluator;
import io.tailrace.detection.dataclass.DataAccessFactory;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.detector.StatefulDetector;
import io.tailrace.detection.event.ActionReference;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.history.InstanceHistory;
import io.tailrace.detection.sigma.rule.CorrelationRule.Learning;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.detection.sigma.rule.SigmaRule;
import io.tailrace.event.DataAccess;
import io.tailrace.flink.detection.alerts.AlertRecordFactory;
import io.tailrace.flink.detection.correlation.EvidenceTypes;
import io.tailrace.flink.detection.coverage.LogContentsCache;
import io.tailrace.flink.detection.coverage.LogContentsUpdate;
import io.tailrace.flink.detection.events.EventDecoder;
import io.tailrace.flink.detection.events.EventRecord;
import io.tailrace.flink.detection.rules.ActiveRules;
import io.tailrace.flink.detection.rules.ExceptionCounters;
import io.tailrace.flink.detection.rules.RuleBroadcastState;
import io.tailrace.flink.runtime.RenamedMetrics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.TimerService;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Evaluates rules over single events, sends evidence to correlations and detectors, and reports the fields of logs.
 * Keyed by connection, because it merges the records of one action in several logs.
 */
public final class RuleMatchFunction
        extends KeyedBroadcastProcessFunction<String, EventRecord, RuleRecord, io.tailrace.event.Alert>
        implements CheckpointedFunction {

    public static final OutputTag<Evidence> EVIDENCE = new OutputTag<>("evidence", EvidenceTypes.EVIDENCE);
    public static final OutputTag<DataAccess> ACCESSES =
            new OutputTag<>("accesses", new AvroTypeInfo<>(DataAccess.class));

    public static final OutputTag<LogContentsUpdate> LOG_CONTENTS =
            new OutputTag<>("log-contents", TypeInformation.of(LogContentsUpdate.class));

    private static final long serialVersionUID = 1;
    /** A session without an action for this time is packed to save memory. */
    private static final Duration IDLE_TIME = Duration.ofSeconds(10);
    /**
     * Maximum number of sessions in one subtask, about 400 bytes each without their actions. Beyond it, a session is
     * forgotten as soon as it is idle. Clients that connect for each statement create a thousand sessions per second.
     */
    private static final int MAX_SESSIONS = 100_000;
    /** Timers of one session that would fire at about the same time are merged. */
    private static final long CLEANUP_INTERVAL_MILLIS = 1_000;

    private static final long MICROS_PER_MILLI = 1000;
    /** Time of the first event of each instance, microseconds since 1970 UTC. */
    private static final ListStateDescriptor<Tuple2<String, Long>> BEGINNINGS =
            new ListStateDescriptor<>("instance-beginnings", Types.TUPLE(Types.STRING, Types.LONG));

    private final RuleBroadcastState rules;
    private final Duration remembered;
    private final int maxSessions;
    private transient EventDecoder reader;
    private transient Counter undecodable;
    private transient ExceptionCounters exceptions;
    private transient LogContentsCache logs;
    private transient InstanceHistory history;
    private transient ListState<Tuple2<String, Long>> beginnings;
    private transient ValueState<SessionActionState> actions;
    /**
     * Sessions that were created since this subtask started; sessions of before a restore expire and are not counted.
     */
    private transient long sessions;
    /** Identifies this run of the subtask. */
    private transient long run;

    private transient Counter evictedSessions;

    /**
     * @param remembered time after the first record of an action, in event time, within which another log may record it
     */
    public RuleMatchFunction(RuleBroadcastState rules, Duration remembered) {
        this(rules, remembered, MAX_SESSIONS);
    }

    /** @param maxSessions maximum per subtask; beyond it, a session is forgotten as soon as it is idle */
    RuleMatchFunction(RuleBroadcastState rules, Duration remembered, int maxSessions) {
        this.rules = rules;
        this.remembered = remembered;
        this.maxSessions = maxSessions;
    }

    @Override
    public void open(OpenContext context) {
        reader = new EventDecoder();
        logs = new LogContentsCache();
        undecodable = getRuntimeContext().getMetricGroup().counter("undecodable-events");
        exceptions = new ExceptionCounters(getRuntimeContext().getMetricGroup());
        run = UUID.randomUUID().getMostSignificantBits();
        evictedSessions = RenamedMetrics.counter(getRuntimeContext().getMetricGroup(), "evicted-sessions");
        actions = getRuntimeContext().getState(new ValueStateDescriptor<>("actions", new SessionActionsSerializer()));
    }

    /** Each subtask reads the beginnings of all instances, because a connection may have been in another one before. */
    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
        history = new InstanceHistory();
        beginnings = context.getOperatorStateStore().getUnionListState(BEGINNINGS);
        boolean none = true;
        for (Tuple2<String, Long> beginning : beginnings.get()) {
            history.restore(beginning.f0, beginning.f1);
            none = false;
        }
        if (context.isRestored() && none) {
            history.assumeLong();
        }
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
        List<Tuple2<String, Long>> all = new ArrayList<>();
        history.beginnings().forEach((instance, first) -> all.add(Tuple2.of(instance, first)));
        beginnings.update(all);
    }

    @Override
    public void processBroadcastElement(RuleRecord push, Context context, Collector<io.tailrace.event.Alert> out)
            throws Exception {
        rules.accept(push, context.getBroadcastState(RuleBroadcastState.STATE));
    }

    @Override
    public void processElement(EventRecord message, ReadOnlyContext context, Collector<io.tailrace.event.Alert> out)
            throws Exception {
        ActiveRules active = rules.active(context.getBroadcastState(RuleBroadcastState.STATE));
        DetectionEvent event = read(message);
        if (event == null) {
            return;
        }
        long now = System.currentTimeMillis();
        if (logs.isNew(event, message.instance(), now)) {
            context.output(LOG_CONTENTS, LogContentsUpdate.of(event, message.instance()));
        }
        active.classifier().enrich(event);
        history.observe(event);
        event.actionFrom(requested -> action(requested, context.timerService()));
        DataAccessFactory.of(event).ifPresent(access -> context.output(ACCESSES, access));
        Seen seen = new Seen(active, event, isLate(message, context.currentWatermark()));
        active.index().match(event, rule -> matched(rule, seen, context, out));
        if (!StatefulDetector.isInFuture(event.micros(), now * MICROS_PER_MILLI)) {
            for (StatefulDetector detector : active.detectors()) {
                detector.observe(event, observation -> context.output(EVIDENCE, seen.evidence(observation)));
            }
        }
    }

    /**
     * Returns null for a record of which only the beginning can be decoded: it is counted and does not stop the job.
     */
    private DetectionEvent read(EventRecord message) {
        try {
            return reader.event(message.bytes());
        } catch (IOException e) {
            undecodable.inc();
            return null;
        }
    }

    /** Called only for events that a rule or detector uses. */
    private ActionReference action(DetectionEvent event, TimerService timers) {
        return ActionObservation.of(event)
                .map(observation -> resolve(observation, timers))
                .orElseGet(() -> new ActionReference(event.id(), event.micros(), event.order()));
    }

    private ActionReference resolve(ActionObservation observation, TimerService timers) {
        try {
            SessionActionState known = actions.value();
            SessionActionState session =
                    known == null ? new SessionActionState(SessionActionsSerializer.MAX_ACTIONS) : known;
            if (known == null) {
                session.setOwner(run);
                sessions++;
            }
            scheduleCleanupSoon(session, observation.candidateAction().micros(), timers);
            ActionReference action = session.resolve(observation);
            actions.update(session);
            return action;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sets one timer per session, for the next check of an active session. */
    private static void scheduleCleanupSoon(SessionActionState session, long micros, TimerService timers) {
        long now = Math.max(Math.floorDiv(micros, MICROS_PER_MILLI), timers.currentWatermark());
        long known = session.nextCleanupMillis();
        if (known == 0 || known > now + IDLE_TIME.toMillis() + CLEANUP_INTERVAL_MILLIS) {
            timers.deleteEventTimeTimer(known);
            scheduleCleanup(now + IDLE_TIME.toMillis(), session, timers);
        }
    }

    private static void scheduleCleanup(long millis, SessionActionState session, TimerService timers) {
        long rounded =
                Math.floorDiv(millis, CLEANUP_INTERVAL_MILLIS) * CLEANUP_INTERVAL_MILLIS + CLEANUP_INTERVAL_MILLIS;
        session.scheduleCleanup(rounded);
        timers.registerEventTimeTimer(rounded);
    }

    /** Forgets old actions, and packs idle sessions. */
    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<io.tailrace.event.Alert> out)
            throws IOException {
        SessionActionState session = actions.value();
        if (session == null || session.nextCleanupMillis() != 0 && session.nextCleanupMillis() != timestamp) {
            return;
        }
        if (session.forget((timestamp - remembered.toMillis()) * MICROS_PER_MILLI)) {
            forget(session);
            return;
        }
        long latest = Math.floorDiv(session.latestMicros(), MICROS_PER_MILLI);
        if (latest + IDLE_TIME.toMillis() <= timestamp) {
            if (sessions > maxSessions) {
                evictedSessions.inc();
                forget(session);
                return;
            }
            session.pack();
            scheduleCleanup(
                    Math.max(latest + remembered.toMillis(), timestamp + IDLE_TIME.toMillis()),
                    session,
                    context.timerService());
        } else {
            scheduleCleanup(timestamp + IDLE_TIME.toMillis(), session, context.timerService());
        }
        actions.update(session);
    }

    private void forget(SessionActionState session) {
        actions.clear();
        sessions -= session.ownerId() == run ? 1 : 0;
    }

    private boolean isLate(EventRecord message, long watermarkMillis) {
        return message.backfilled()
                || watermarkMillis > Long.MIN_VALUE
                        && message.micros() < watermarkMillis * MICROS_PER_MILLI - rules.latenessMicros();
    }

    private void matched(SigmaRule rule, Seen seen, ReadOnlyContext context, Collector<io.tailrace.event.Alert> out) {
        String key = rule.header().key();
        if (exceptions.covers(seen.active, key, seen.event)) {
            return;
        }
        if (rule.alerts()) {
            out.collect(AlertRecordFactory.of(seen.alert(rule.header()), seen.context(), seen.late, Instant.now()));
        }
        for (CorrelationEvaluator correlator : seen.active.using(key)) {
            if (exceptions.covers(seen.active, correlator.rule().header().key(), seen.event)) {
                continue;
            }
            correlator.judgeHistory(seen.event);
            for (List<String> group : correlator.groups(key, seen.event)) {
                context.output(EVIDENCE, seen.evidence(key, correlator, group));
            }
        }
    }

    /** An event with the rules that are evaluated on it. */
    private static final class Seen {

        private final ActiveRules active;
        private final DetectionEvent event;
        private final boolean late;
        /** Null until it is needed: for many events it is not. */
        private Map<String, String> context;

        Seen(ActiveRules active, DetectionEvent event, boolean late) {
            this.active = active;
            this.event = event;
            this.late = late;
        }

        Map<String, String> context() {
            if (context == null) {
                context = AlertContext.of(event);
            }
            return context;
        }

        RaisedAlert alert(RuleHeader rule) {
            return RaisedAlert.ofEvent(rule, event, AlertContext.entity(context()), late);
        }

        Evidence evidence(String ruleKey, CorrelationEvaluator correlator, List<String> group) {
            String counted = correlator.rule().field();
            List<String> values = counted.isEmpty()
                    ? List.of()
                    : event.values(correlator.rule().fieldOf(ruleKey, counted)).stream()
                            .map(FieldValue::text)
                            .toList();
            return new Evidence(
                    active.offset(),
                    active.level(correlator),
                    correlator.rule().header().key(),
                    group,
                    ruleKey,
                    event.recordId(),
                    event.actionId(),
                    event.action().micros(),
                    event.action().order(),
                    values,
                    0,
                    statement(),
                    late,
                    withHistory(
                            correlator.rule().learning() == Learning.NONE ? InstanceHistory.LONG : event.history()));
        }

        private Map<String, String> withHistory(int days) {
            if (days == InstanceHistory.LONG) {
                return context();
            }
            Map<String, String> all = new HashMap<>(context());
            all.put(DetectionEvent.HISTORY, Integer.toString(days));
            return all;
        }

        private String statement() {
            List<String> statements = RaisedAlert.statements(event);
            return statements.isEmpty() ? "" : statements.get(0);
        }

        Evidence evidence(Observation observation) {
            return new Evidence(
                    active.offset(),
                    1,
                    observation.detector(),
                    observation.entity(),
                    "",
                    observation.eventId(),
                    observation.actionId(),
                    observation.micros(),
                    event.order(),
                    observation.values(),
                    observation.amount(),
                    observation.statement(),
                    observation.late() || late,
                    withHistory(observation.history()));
        }
    }
}
