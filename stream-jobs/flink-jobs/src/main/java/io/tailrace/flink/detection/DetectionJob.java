package io.tailrace.flink.detection;

import io.tailrace.detect.RuleRecord;
import io.tailrace.event.Alert;
import io.tailrace.event.DataAccess;
import io.tailrace.event.DeadLetter;
import io.tailrace.event.PlanCapture;
import io.tailrace.event.PlanChange;
import io.tailrace.event.RuleCoverageEntry;
import io.tailrace.event.RulePush;
import io.tailrace.event.StatementPlan;
import io.tailrace.flink.clickhouse.AtLeastOnceSink;
import io.tailrace.flink.detection.DetectionPipeline.SinkWithUid;
import io.tailrace.flink.detection.DetectionPipeline.Sinks;
import io.tailrace.flink.detection.DetectionPipeline.Sources;
import io.tailrace.flink.detection.DetectionPipeline.SourcesAndSinks;
import io.tailrace.flink.detection.events.EventRecordDeserializationSchema;
import io.tailrace.flink.detection.liveness.CensusHeartbeatDeserializationSchema;
import io.tailrace.flink.detection.rules.InitialRules;
import io.tailrace.flink.detection.rules.RuleRecordDeserializationSchema;
import io.tailrace.flink.idle.IdleAwareSource;
import io.tailrace.flink.ingest.KafkaMessage;
import io.tailrace.flink.ingest.KafkaMessageDeserializationSchema;
import io.tailrace.flink.kafka.AlertSerializationSchema;
import io.tailrace.flink.kafka.RarelyMeasuredKafkaSink;
import io.tailrace.flink.runtime.ConfigurationException;
import io.tailrace.flink.runtime.FlinkConfigurationFactory;
import io.tailrace.flink.runtime.JobRunner;
import io.tailrace.flink.runtime.TailraceVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.avro.specific.SpecificRecord;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the detect job: it reads events from Kafka, writes alerts to ClickHouse and to their topic, and reads rules and
 * suppressions from the rules topic.
 *
 * <p>As a program it starts its own Flink with the web UI; it can also be submitted to a cluster. Arguments: see
 * {@link DetectionJobConfig}. Exit code 0 after a stop with savepoint, 1 after an error.
 */
public final class DetectionJob {

    private static final Logger LOG = LoggerFactory.getLogger(DetectionJob.class);

    /** Event time advances at this interval, for which each source and each generator of watermarks has a timer. */
    private static final Duration WATERMARK_INTERVAL = Duration.ofMillis(500);
    /** Maximum number of subtasks over which state can be distributed. A change loses state. */
    private static final int MAX_PARALLELISM = 128;

    private DetectionJob() {}

    /**
     * @throws ConfigurationException if the arguments are invalid; it is not caught, because a main method must not end
     *     a cluster
     */
    public static void main(String[] arguments) throws Exception {
        DetectionJobConfig config = DetectionJobConfig.fromArguments(arguments);
        String from = config.restorePath().isEmpty() ? "no state" : config.restorePath();
        LOG.info("tailrace detect {} starts from {}", TailraceVersion.get(), from);
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(flink(config));
        new DetectionPipeline(config, sourcesAndSinks(config)).addTo(environment);
        JobRunner.run(environment);
    }

    static Configuration flink(DetectionJobConfig config) {
        Configuration flink = FlinkConfigurationFactory.of(config.jobSettings());
        // The sources report a backlog while they are idle.
        flink.set(CheckpointingOptions.CHECKPOINTING_INTERVAL_DURING_BACKLOG, config.idleCheckpointInterval());
        flink.set(PipelineOptions.AUTO_WATERMARK_INTERVAL, WATERMARK_INTERVAL);
        flink.set(PipelineOptions.MAX_PARALLELISM, MAX_PARALLELISM);
        return flink;
    }

    private static SourcesAndSinks sourcesAndSinks(DetectionJobConfig config) {
        InitialRules newest = InitialRules.read(config.kafka(), config.rulesTopic());
        if (!newest.hasBundle()) {
            LOG.warn(
                    "{} contains no valid rules: without state, no rule fires until rules are pushed",
                    config.rulesTopic());
        }
        Sources sources = new Sources(
                IdleAwareSource.of(source(config, config.eventsTopic(), "", new EventRecordDeserializationSchema())),
                IdleAwareSource.of(
                        source(config, config.filesTopic(), "-files", new CensusHeartbeatDeserializationSchema()),
                        census -> true),
                IdleAwareSource.of(rules(config)),
                IdleAwareSource.of(captures(config)),
                newest);
        return new SourcesAndSinks(sources, sinks(config));
    }

    private static Sinks sinks(DetectionJobConfig config) {
        List<SinkWithUid<Alert>> alerts = new ArrayList<>();
        alerts.add(new SinkWithUid<>("alerts-rows", rows(config, "alerts", Alert.class)));
        if (!config.alertsTopic().isEmpty()) {
            alerts.add(new SinkWithUid<>("alerts-topic", alertsTopic(config)));
        }
        return new Sinks(
                alerts,
                List.of(new SinkWithUid<>("canary-alerts-rows", rows(config, "canary_alerts", Alert.class))),
                List.of(new SinkWithUid<>("rule-pushes-rows", rows(config, "rule_pushes", RulePush.class))),
                List.of(new SinkWithUid<>("data-access-rows", rows(config, "data_access", DataAccess.class))),
                List.of(new SinkWithUid<>(
                        "rule-coverage-rows", rows(config, "rule_coverage", RuleCoverageEntry.class))),
                List.of(new SinkWithUid<>("plan-changes-rows", rows(config, "plan_changes", PlanChange.class))),
                List.of(new SinkWithUid<>("captured-plans-rows", rows(config, "plans", StatementPlan.class))),
                List.of(new SinkWithUid<>("plan-captures-rows", rows(config, "plan_captures", PlanCapture.class))),
                List.of(new SinkWithUid<>("capture-letters-rows", rows(config, "dead_letters", DeadLetter.class))));
    }

    private static <T> KafkaSource<T> source(
            DetectionJobConfig config, String topic, String client, KafkaRecordDeserializationSchema<T> deserializer) {
        return builder(config, client, deserializer)
                .setTopics(topic)
                .setStartingOffsets(
                        config.startsWithLatest() ? OffsetsInitializer.latest() : OffsetsInitializer.earliest())
                .build();
    }

    /** The topic is found by pattern, so that one that is created later is no error and is read then. */
    private static KafkaSource<KafkaMessage> captures(DetectionJobConfig config) {
        return builder(config, "-captures", new KafkaMessageDeserializationSchema())
                .setTopicPattern(Pattern.compile(Pattern.quote(config.capturesTopic())))
                .setStartingOffsets(OffsetsInitializer.earliest())
                .build();
    }

    private static KafkaSource<RuleRecord> rules(DetectionJobConfig config) {
        return builder(config, "-rules", new RuleRecordDeserializationSchema())
                .setTopics(config.rulesTopic())
                .setStartingOffsets(OffsetsInitializer.earliest())
                .build();
    }

    private static <T> KafkaSourceBuilder<T> builder(
            DetectionJobConfig config, String client, KafkaRecordDeserializationSchema<T> deserializer) {
        return KafkaSource.<T>builder()
                .setBootstrapServers(config.kafka().bootstrap())
                .setGroupId(config.kafkaGroup())
                .setClientIdPrefix(config.kafkaGroup() + client)
                .setDeserializer(deserializer)
                .setProperties(config.kafka().consumerProperties());
    }

    private static Sink<Alert> alertsTopic(DetectionJobConfig config) {
        return new RarelyMeasuredKafkaSink<>(KafkaSink.<Alert>builder()
                .setBootstrapServers(config.kafka().bootstrap())
                .setRecordSerializer(new AlertSerializationSchema(config.alertsTopic()))
                .setDeliveryGuarantee(DeliveryGuarantee.AT_LEAST_ONCE)
                .setKafkaProducerConfig(config.kafka().producerProperties(0))
                .build());
    }

    private static <T extends SpecificRecord> AtLeastOnceSink<T> rows(
            DetectionJobConfig config, String table, Class<T> recordClass) {
        return new AtLeastOnceSink<>(
                config.clickHouse(),
                config.clickHouseDatabase(),
                table,
                recordClass,
                TailraceVersion.get(),
                config.pseudonyms());
    }
}
