package io.tailrace.detect;

import io.tailrace.event.Alert;
import io.tailrace.event.DataAccess;
import io.tailrace.event.PlanChange;
import io.tailrace.event.RulePush;
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
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.OutputTag;

/**
 * The stages of the job, in the order in which an event passes them:
 *
 * <pre>
 * events ─ by log → duplicates ─ by connection → match ──────────────────── alerts ─ by rule, entity → group → topic
 *                                                  ├ evidence ─ by group → correlate → … ┘              → ClickHouse
 *                                                  └ accesses to classes of data → ClickHouse
 *                             └ by statement → plans ─────────────────────── alerts, as above
 *                                                └ changes of plans → ClickHouse
 *   └ postings: gaps → gap ───────────────── alerts ┐
 * census ─ by instance → coverage ────────── alerts ┴ as above
 * rules → gate ═ to all of them
 * </pre>
 *
 * <p>Alerts leave at once and not with a checkpoint: written again after a crash, they have the ids that they had, also
 * where they come in another order.
 */
final class DetectPipeline {

    private static final TypeInformation<Alert> ALERT = new AvroTypeInfo<>(Alert.class);

    /**
     * Where the job reads and writes.
     *
     * @param newest what the rules' topic held when the job started
     */
    record Ends(
            Source<EventMessage, ?, ?> events,
            Source<Heard, ?, ?> files,
            Source<RuleRecord, ?, ?> rules,
            NewestRules newest,
            List<NamedSink<Alert>> alerts,
            List<NamedSink<RulePush>> pushes,
            List<NamedSink<DataAccess>> accesses,
            List<NamedSink<PlanChange>> planChanges) {}

    /** A sink with the uid of its operator. */
    record NamedSink<T>(String uid, Sink<T> sink) {}

    private final DetectConfig config;
    private final Ends ends;

    DetectPipeline(DetectConfig config, Ends ends) {
        this.config = config;
        this.ends = ends;
    }

    void addTo(StreamExecutionEnvironment environment) {
        SingleOutputStreamOperator<RuleRecord> rules = rules(environment);
        DataStream<EventMessage> messages = messages(environment);
        DataStream<EventMessage> events = events(messages);
        SingleOutputStreamOperator<Alert> matches = matches(events, rules);
        SingleOutputStreamOperator<Alert> slowerPlans = slowerPlans(events, rules);
        DataStream<Alert> raised =
                raised(matches, rules).union(gaps(messages, rules), silences(environment, rules), slowerPlans);
        write(grouped(raised, rules), ends.alerts());
        write(rules.getSideOutput(RuleGate.PUSHES), ends.pushes());
        write(matches.getSideOutput(MatchFunction.ACCESSES), ends.accesses());
        write(slowerPlans.getSideOutput(PlanFunction.CHANGES), ends.planChanges());
    }

    /** One after the other, by one subtask: their order is what all others follow. */
    private SingleOutputStreamOperator<RuleRecord> rules(StreamExecutionEnvironment environment) {
        return environment
                .fromSource(ends.rules(), WatermarkStrategy.noWatermarks(), "rules")
                .uid("rules-source")
                .setParallelism(1)
                .process(new RuleGate(ends.newest()))
                .name("gate")
                .uid("gate")
                .setParallelism(1);
    }

    /** Rules have no part in event time. */
    private static DataStream<RuleRecord> timeless(DataStream<RuleRecord> rules, String uid) {
        return rules.assignTimestampsAndWatermarks(WatermarkStrategy.forGenerator(context -> new NoTime<>()))
                .name("no time")
                .uid(uid)
                .setParallelism(1);
    }

    private DataStream<EventMessage> messages(StreamExecutionEnvironment environment) {
        return environment
                .fromSource(ends.events(), WatermarkStrategy.noWatermarks(), "events")
                .uid("events-source");
    }

    /** What the ledger says is missing. A gap has no entry by whose place it could be known again: its alert's id does. */
    private DataStream<Alert> gaps(DataStream<EventMessage> messages, DataStream<RuleRecord> rules) {
        return messages.filter(EventMessage::posting)
                .name("postings")
                .uid("postings")
                .connect(broadcast(rules, "gap"))
                .process(new GapFunction(ruleBroadcast()), ALERT)
                .name("gap")
                .uid("gap");
    }

    private DataStream<Alert> silences(StreamExecutionEnvironment environment, DataStream<RuleRecord> rules) {
        return environment
                .fromSource(ends.files(), WatermarkStrategy.noWatermarks(), "census")
                .uid("files-source")
                .keyBy(Heard::instance)
                .connect(broadcast(rules, "coverage"))
                .process(new CoverageFunction(ruleBroadcast(), System::currentTimeMillis), ALERT)
                .name("coverage")
                .uid("coverage");
    }

    private DataStream<EventMessage> events(DataStream<EventMessage> messages) {
        Duration quiet = config.quiet();
        return messages.filter(message -> !message.posting())
                .name("events only")
                .uid("events-only")
                .keyBy(EventMessage::log)
                .process(new DuplicateFilter(config.duplicatesRemembered()))
                .name("duplicates")
                .uid("duplicates")
                .assignTimestampsAndWatermarks(
                        WatermarkStrategy.forGenerator(context -> new LogWatermarks(quiet, System::currentTimeMillis)))
                .name("event time")
                .uid("event-time");
    }

    private SingleOutputStreamOperator<Alert> matches(DataStream<EventMessage> events, DataStream<RuleRecord> rules) {
        return events.keyBy(EventMessage::session)
                .connect(broadcast(rules, "match"))
                .process(new MatchFunction(ruleBroadcast()), ALERT)
                .name("match")
                .uid("match");
    }

    /** Executions whose plan the log says; what is shipped again says nothing of now. */
    private SingleOutputStreamOperator<Alert> slowerPlans(
            DataStream<EventMessage> events, DataStream<RuleRecord> rules) {
        return events.filter(event -> event.execution() != null && !event.backfilled())
                .name("explained executions")
                .uid("explained-executions")
                .map(EventMessage::execution)
                .name("plan sightings")
                .uid("plan-sightings")
                .keyBy(PlanSighting::statement)
                .connect(broadcast(rules, "plans"))
                .process(new PlanFunction(ruleBroadcast()), ALERT)
                .name("plans")
                .uid("plans");
    }

    private static BroadcastStream<RuleRecord> broadcast(DataStream<RuleRecord> rules, String of) {
        return timeless(rules, "rules-for-" + of).broadcast(RuleBroadcast.STATE);
    }

    private RuleBroadcast ruleBroadcast() {
        return new RuleBroadcast(ends.newest().bundle(), config.lateness().toNanos() / 1000);
    }

    /** Alerts of single events and of all stages of correlations. */
    private DataStream<Alert> raised(SingleOutputStreamOperator<Alert> matches, DataStream<RuleRecord> rules) {
        DataStream<Alert> raised = matches;
        List<DataStream<Evidence>> evidence = new ArrayList<>(List.of(matches.getSideOutput(MatchFunction.EVIDENCE)));
        for (int level = 1; level <= CorrelationLevels.MOST; level++) {
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
                    .uid("for-stage-" + level + "-of-" + i));
        }
        DataStream<Evidence> all = own.get(0);
        for (DataStream<Evidence> more : own.subList(1, own.size())) {
            all = all.union(more);
        }
        return all.keyBy(Evidence::key)
                .connect(broadcast(rules, "correlate-" + level))
                .process(new CorrelateFunction(ruleBroadcast(), forStagesAfter(level)), ALERT)
                .name("correlate " + level)
                .uid("correlate-" + level);
    }

    private static OutputTag<Evidence> forStagesAfter(int level) {
        return new OutputTag<>("after-" + level, EvidenceTypes.EVIDENCE);
    }

    private DataStream<Alert> grouped(DataStream<Alert> raised, DataStream<RuleRecord> rules) {
        Duration stretch = config.alertsGrouped();
        return raised.keyBy(alert -> GroupAlerts.key(alert, stretch))
                .connect(timeless(rules, "rules-for-group").broadcast(GroupAlerts.SILENCES))
                .process(
                        new GroupAlerts(ends.newest(), stretch, config.alertsUpdated(), config.duplicatesRemembered()),
                        ALERT)
                .name("group")
                .uid("group");
    }

    /** A sink that waits for its server must hold up neither the other nor what is before it. */
    private static <T> void write(DataStream<T> records, List<NamedSink<T>> sinks) {
        for (NamedSink<T> sink : sinks) {
            records.sinkTo(sink.sink())
                    .name(sink.uid().replace('-', ' '))
                    .uid(sink.uid())
                    .disableChaining();
        }
    }
}
