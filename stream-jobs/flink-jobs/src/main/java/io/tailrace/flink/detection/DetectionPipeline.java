package io.tailrace.flink.detection;

import io.tailrace.detect.Evidence;
import io.tailrace.detect.PlanSighting;
import io.tailrace.detect.RuleRecord;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.event.Alert;
import io.tailrace.event.DataAccess;
import io.tailrace.event.DeadLetter;
import io.tailrace.event.PlanCapture;
import io.tailrace.event.PlanChange;
import io.tailrace.event.RuleCoverageEntry;
import io.tailrace.event.RulePush;
import io.tailrace.event.StatementPlan;
import io.tailrace.flink.detection.alerts.AlertGroupingFunction;
import io.tailrace.flink.detection.correlation.CorrelationFunction;
import io.tailrace.flink.detection.correlation.EvidenceTypes;
import io.tailrace.flink.detection.coverage.LogContentsUpdate;
import io.tailrace.flink.detection.coverage.RuleCoverageFunction;
import io.tailrace.flink.detection.events.EventDeduplicator;
import io.tailrace.flink.detection.events.EventRecord;
import io.tailrace.flink.detection.liveness.CensusHeartbeat;
import io.tailrace.flink.detection.liveness.CensusTimeoutFunction;
import io.tailrace.flink.detection.liveness.GapAlertFunction;
import io.tailrace.flink.detection.matching.RuleMatchFunction;
import io.tailrace.flink.detection.plans.CapturedStatementsState;
import io.tailrace.flink.detection.plans.PlanCaptureFunction;
import io.tailrace.flink.detection.plans.PlanChangeFunction;
import io.tailrace.flink.detection.rules.CorrelationStages;
import io.tailrace.flink.detection.rules.InitialRules;
import io.tailrace.flink.detection.rules.RuleBroadcastState;
import io.tailrace.flink.detection.rules.RuleBundleValidator;
import io.tailrace.flink.ingest.KafkaMessage;
import io.tailrace.flink.runtime.TailraceVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.streaming.api.datastream.BroadcastStream;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.OutputTag;

/**
 * The stages of the job, in the order in which an event passes them:
 *
 * <pre>
 * captures ─ read ─────┐ → captured plans, capture results → ClickHouse
 * events ─ by log → deduplicate ─ by connection → match ─────────────────── alerts ─ by rule, entity → group → topic
 *                                                  ├ evidence ─ by group → correlate → … ┘             → ClickHouse: those of
 *                                                  │                                                     canary rules apart
 *                                                  ├ data access → ClickHouse
 *                                                  └ fields of logs ─ by instance → rule coverage → ClickHouse
 *                             └ by statement → compare plans ◂ captures ──── alerts, as above
 *                                                └ plan changes → ClickHouse
 *   └ gap postings ─────────────────────────── alerts ┐
 * census ─ by instance → census timeout ────── alerts ┴ as above
 * rules → validate rule bundles ═ to all of them
 * </pre>
 *
 * <p>Alerts are emitted immediately instead of with a checkpoint. After a crash they are written again with the same
 * ids, even if they arrive in another order.
 */
final class DetectionPipeline {

    private static final TypeInformation<Alert> ALERT = new AvroTypeInfo<>(Alert.class);
    /**
     * The longest time, in milliseconds, that an event or its evidence waits in an output buffer for others. Other
     * records are few and do not wait.
     */
    private static final long BUFFER_TIMEOUT = 50;

    /** The inputs and outputs of the job. */
    record SourcesAndSinks(Sources sources, Sinks sinks) {}

    /**
     * The inputs of the job.
     *
     * @param files census records
     * @param initialRules contents of the rules topic when the job started
     */
    record Sources(
            Source<EventRecord, ?, ?> events,
            Source<CensusHeartbeat, ?, ?> files,
            Source<RuleRecord, ?, ?> rules,
            Source<KafkaMessage, ?, ?> captures,
            InitialRules initialRules) {}

    /** The outputs of the job. A stream may have several sinks. */
    record Sinks(
            List<SinkWithUid<Alert>> alerts,
            List<SinkWithUid<Alert>> canaryAlerts,
            List<SinkWithUid<RulePush>> pushes,
            List<SinkWithUid<DataAccess>> accesses,
            List<SinkWithUid<RuleCoverageEntry>> ruleCoverage,
            List<SinkWithUid<PlanChange>> planChanges,
            List<SinkWithUid<StatementPlan>> capturedPlans,
            List<SinkWithUid<PlanCapture>> planCaptures,
            List<SinkWithUid<DeadLetter>> deadLetters) {}

    /** A sink with the uid of its operator. */
    record SinkWithUid<T>(String uid, Sink<T> sink) {}

    private final DetectionJobConfig config;
    private final Sources sources;
    private final Sinks sinks;

    DetectionPipeline(DetectionJobConfig config, SourcesAndSinks sourcesAndSinks) {
        this.config = config;
        this.sources = sourcesAndSinks.sources();
        this.sinks = sourcesAndSinks.sinks();
    }

    void addTo(StreamExecutionEnvironment environment) {
        SingleOutputStreamOperator<RuleRecord> validated = rules(environment);
        DataStream<RuleRecord> rules =
                withIdleWatermarks(validated, "rules-without-time").setParallelism(1);
        DataStream<EventRecord> messages = messages(environment);
        SingleOutputStreamOperator<PlanSighting> captures = captures(environment);
        DataStream<EventRecord> events = events(messages, captures);
        SingleOutputStreamOperator<Alert> matches = matches(events, rules);
        SingleOutputStreamOperator<Alert> slowerPlans = slowerPlans(events, captures, rules);
        DataStream<Alert> raised =
                raised(matches, rules).union(gaps(messages, rules), silences(environment, rules), slowerPlans);
        DataStream<Alert> grouped = grouped(raised, rules);
        write(ofCanaryRules(grouped, false, "active-alerts"), sinks.alerts());
        write(ofCanaryRules(grouped, true, "canary-alerts"), sinks.canaryAlerts());
        write(matches.getSideOutput(RuleMatchFunction.ACCESSES), sinks.accesses());
        writeFew(validated.getSideOutput(RuleBundleValidator.PUSHES), sinks.pushes());
        writeFew(ruleCoverage(matches, rules), sinks.ruleCoverage());
        writeFew(slowerPlans.getSideOutput(PlanChangeFunction.CHANGES), sinks.planChanges());
        writeFew(captures.getSideOutput(PlanCaptureFunction.PLANS), sinks.capturedPlans());
        writeFew(captures.getSideOutput(PlanCaptureFunction.CAPTURES), sinks.planCaptures());
        writeFew(captures.getSideOutput(PlanCaptureFunction.DEAD_LETTERS), sinks.deadLetters());
    }

    /** One subtask processes the rules sequentially, because their order defines the order for all other operators. */
    private SingleOutputStreamOperator<RuleRecord> rules(StreamExecutionEnvironment environment) {
        return environment
                .fromSource(sources.rules(), WatermarkStrategy.noWatermarks(), "rules")
                .uid("rules-source")
                .setParallelism(1)
                .process(new RuleBundleValidator(sources.initialRules()))
                .name("validate rule bundles")
                .uid("gate")
                .setParallelism(1);
    }

    /** Rules and captures do not affect event time. */
    private static <T> SingleOutputStreamOperator<T> withIdleWatermarks(DataStream<T> records, String uid) {
        return records.assignTimestampsAndWatermarks(
                        WatermarkStrategy.<T>forGenerator(context -> new IdleWatermarkGenerator<>()))
                .name("idle watermarks")
                .uid(uid);
    }

    private DataStream<EventRecord> messages(StreamExecutionEnvironment environment) {
        return environment
                .fromSource(sources.events(), WatermarkStrategy.noWatermarks(), "events")
                .uid("events-source");
    }

    /**
     * Gaps of the ledger. A gap has no entry by which it could be deduplicated; the id of its alert deduplicates it.
     */
    private DataStream<Alert> gaps(DataStream<EventRecord> messages, DataStream<RuleRecord> rules) {
        return messages.filter(EventRecord::posting)
                .name("gap postings")
                .uid("postings")
                .connect(broadcast(rules))
                .process(new GapAlertFunction(ruleBroadcast()), ALERT)
                .name("gap alerts")
                .uid("gap");
    }

    private DataStream<Alert> silences(StreamExecutionEnvironment environment, DataStream<RuleRecord> rules) {
        return environment
                .fromSource(sources.files(), WatermarkStrategy.noWatermarks(), "census")
                .uid("files-source")
                .keyBy(CensusHeartbeat::instance)
                .connect(broadcast(rules))
                .process(new CensusTimeoutFunction(ruleBroadcast(), System::currentTimeMillis), ALERT)
                .name("census timeout")
                .uid("coverage");
    }

    private SingleOutputStreamOperator<PlanSighting> captures(StreamExecutionEnvironment environment) {
        return environment
                .fromSource(sources.captures(), WatermarkStrategy.noWatermarks(), "captures")
                .uid("captures-source")
                .process(new PlanCaptureFunction(TailraceVersion.get()))
                .name("captured plans")
                .uid("captured-plans");
    }

    private DataStream<EventRecord> events(DataStream<EventRecord> messages, DataStream<PlanSighting> captures) {
        Duration idleTimeout = config.idleTimeout();
        return messages.filter(message -> !message.posting())
                .name("events only")
                .uid("events-only")
                .setBufferTimeout(BUFFER_TIMEOUT)
                .keyBy(EventRecord::log)
                .connect(captures.broadcast(CapturedStatementsState.STATE))
                .process(new EventDeduplicator(config.duplicatesRemembered()))
                .name("deduplicate events")
                .uid("duplicates")
                .assignTimestampsAndWatermarks(WatermarkStrategy.forGenerator(
                        context -> new PerLogWatermarkGenerator(idleTimeout, System::currentTimeMillis)))
                .name("event time")
                .uid("event-time")
                .setBufferTimeout(BUFFER_TIMEOUT);
    }

    private SingleOutputStreamOperator<Alert> matches(DataStream<EventRecord> events, DataStream<RuleRecord> rules) {
        return events.keyBy(EventRecord::session)
                .connect(broadcast(rules))
                .process(new RuleMatchFunction(ruleBroadcast(), config.actionsRemembered()), ALERT)
                .name("match rules")
                .uid("match");
    }

    private SingleOutputStreamOperator<RuleCoverageEntry> ruleCoverage(
            SingleOutputStreamOperator<Alert> matches, DataStream<RuleRecord> rules) {
        return matches.getSideOutput(RuleMatchFunction.LOG_CONTENTS)
                .keyBy(LogContentsUpdate::instance)
                .connect(broadcast(rules))
                .process(new RuleCoverageFunction(ruleBroadcast()), new AvroTypeInfo<>(RuleCoverageEntry.class))
                .name("rule coverage")
                .uid("rule-coverage");
    }

    /**
     * Executions whose plan is known from the log or a capture. Backfilled executions do not count, because they are
     * old.
     */
    private SingleOutputStreamOperator<Alert> slowerPlans(
            DataStream<EventRecord> events, DataStream<PlanSighting> captures, DataStream<RuleRecord> rules) {
        return events.filter(event -> event.execution() != null && !event.backfilled())
                .name("executions with a plan")
                .uid("explained-executions")
                .map(EventRecord::execution)
                .name("plan observations")
                .uid("plan-sightings")
                .union(withIdleWatermarks(captures, "captures-without-time"))
                .keyBy(PlanSighting::statement)
                .connect(broadcast(rules))
                .process(new PlanChangeFunction(ruleBroadcast()), ALERT)
                .name("plan changes")
                .uid("plans");
    }

    private static BroadcastStream<RuleRecord> broadcast(DataStream<RuleRecord> rules) {
        return rules.broadcast(RuleBroadcastState.STATE);
    }

    private RuleBroadcastState ruleBroadcast() {
        return new RuleBroadcastState(
                sources.initialRules().bundle(), config.lateness().toNanos() / 1000);
    }

    /** Alerts of single events and of all stages of correlations. */
    private DataStream<Alert> raised(SingleOutputStreamOperator<Alert> matches, DataStream<RuleRecord> rules) {
        DataStream<Alert> raised = matches;
        List<DataStream<Evidence>> evidence =
                new ArrayList<>(List.of(matches.getSideOutput(RuleMatchFunction.EVIDENCE)));
        for (int level = 1; level <= CorrelationStages.MAX_STAGES; level++) {
            SingleOutputStreamOperator<Alert> stage = stage(level, evidence, rules);
            raised = raised.union(stage);
            evidence.add(stage.getSideOutput(forStagesAfter(level)));
        }
        return raised;
    }

    private SingleOutputStreamOperator<Alert> stage(
            int level, List<DataStream<Evidence>> before, DataStream<RuleRecord> rules) {
        List<DataStream<Evidence>> own = new ArrayList<>();
        for (int i = 0; i < before.size(); i++) {
            own.add(before.get(i)
                    .filter(evidence -> evidence.level() == level)
                    .name("for stage " + level)
                    .uid("for-stage-" + level + "-of-" + i)
                    .setBufferTimeout(level == 1 ? BUFFER_TIMEOUT : 0));
        }
        DataStream<Evidence> all = own.get(0);
        for (DataStream<Evidence> more : own.subList(1, own.size())) {
            all = all.union(more);
        }
        return all.keyBy(Evidence::key)
                .connect(broadcast(rules))
                .process(new CorrelationFunction(ruleBroadcast(), forStagesAfter(level)), ALERT)
                .name("correlate " + level)
                .uid("correlate-" + level);
    }

    private static OutputTag<Evidence> forStagesAfter(int level) {
        return new OutputTag<>("after-" + level, EvidenceTypes.EVIDENCE);
    }

    private DataStream<Alert> grouped(DataStream<Alert> raised, DataStream<RuleRecord> rules) {
        Duration interval = config.alertsGrouped();
        return raised.keyBy(alert -> AlertGroupingFunction.key(alert, interval))
                .connect(rules.broadcast(AlertGroupingFunction.SILENCES))
                .process(
                        new AlertGroupingFunction(
                                sources.initialRules(),
                                interval,
                                config.alertsUpdated(),
                                config.duplicatesRemembered()),
                        ALERT)
                .name("group alerts")
                .uid("group");
    }

    /** Returns the alerts of canary rules, or all others: what tries a rule must not reach those who handle alerts. */
    private static DataStream<Alert> ofCanaryRules(DataStream<Alert> alerts, boolean canary, String uid) {
        return alerts.filter(alert -> alert.getTags().contains(RuleHeader.CANARY_TAG) == canary)
                .name(uid.replace('-', ' '))
                .uid(uid);
    }

    /**
     * Separates the sinks, so that one that waits for its server blocks neither the others nor the operators before it.
     */
    private static <T> void write(DataStream<T> records, List<SinkWithUid<T>> sinks) {
        sinks.forEach(sink -> add(records, sink).disableChaining());
    }

    /**
     * Lets the sinks of few rows run in the task of the operator before them, because each task has a thread and a timer,
     * also while it is idle. Such a sink blocks the operator only if megabytes of its rows wait for ClickHouse.
     */
    private static <T> void writeFew(DataStream<T> records, List<SinkWithUid<T>> sinks) {
        sinks.forEach(sink -> add(records, sink));
    }

    private static <T> DataStreamSink<T> add(DataStream<T> records, SinkWithUid<T> sink) {
        return records.sinkTo(sink.sink()).name(sink.uid().replace('-', ' ')).uid(sink.uid());
    }
}
