package io.tailrace.flink.normalize;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.QueryEvent;
import io.tailrace.event.SignedRange;
import io.tailrace.flink.clickhouse.ClickHouseSink;
import io.tailrace.flink.idle.IdleAwareSource;
import io.tailrace.flink.ingest.CensusMessages;
import io.tailrace.flink.normalize.NormalizePipeline.EventSinks;
import io.tailrace.flink.normalize.NormalizePipeline.SignedSources;
import io.tailrace.flink.normalize.NormalizePipeline.SourcesAndSinks;
import io.tailrace.flink.runtime.ConfigurationException;
import io.tailrace.flink.runtime.FlinkConfigurationFactory;
import io.tailrace.flink.runtime.JobRunner;
import io.tailrace.flink.runtime.TailraceVersion;
import java.util.Optional;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the normalize job: it reads lines from Kafka, and writes events to ClickHouse tables and to the events topic.
 *
 * <p>As a program it starts its own Flink with the web UI; it can also be submitted to a cluster. Arguments: see
 * {@link NormalizeJobConfig}. Exit code 0 after a stop with savepoint, 1 after an error.
 */
public final class NormalizeJob {

    private static final Logger LOG = LoggerFactory.getLogger(NormalizeJob.class);

    private NormalizeJob() {}

    /**
     * @throws ConfigurationException if the arguments are invalid; it is not caught, because a main method must not end
     *     a cluster
     */
    public static void main(String[] arguments) throws Exception {
        NormalizeJobConfig config = NormalizeJobConfig.fromArguments(arguments);
        String from = config.restorePath().isEmpty() ? "the oldest lines in Kafka" : config.restorePath();
        LOG.info("tailrace normalize {} starts from {}", TailraceVersion.get(), from);
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(flink(config));
        new NormalizePipeline(config, sourcesAndSinks(config)).addTo(environment);
        JobRunner.run(environment);
    }

    static Configuration flink(NormalizeJobConfig config) {
        Configuration flink = FlinkConfigurationFactory.of(config.jobSettings());
        // The sources report a backlog while they are idle.
        flink.set(CheckpointingOptions.CHECKPOINTING_INTERVAL_DURING_BACKLOG, config.idleCheckpointInterval());
        return flink;
    }

    private static SourcesAndSinks sourcesAndSinks(NormalizeJobConfig config) {
        KafkaConnectors kafka = new KafkaConnectors(config);
        return new SourcesAndSinks(
                IdleAwareSource.of(kafka.lines(), new CensusMessages()),
                config.spansTopic().isEmpty() ? Optional.empty() : Optional.of(IdleAwareSource.of(kafka.spans())),
                signed(config, kafka),
                config.eventsTopic().isEmpty() ? Optional.empty() : Optional.of(eventSinks(kafka)),
                rows(config));
    }

    private static Optional<SignedSources> signed(NormalizeJobConfig config, KafkaConnectors kafka) {
        return config.signedRangesTopic().isEmpty()
                ? Optional.empty()
                : Optional.of(new SignedSources(
                        IdleAwareSource.of(kafka.signedRanges()), IdleAwareSource.of(kafka.hostKeys())));
    }

    private static EventSinks eventSinks(KafkaConnectors kafka) {
        return new EventSinks(
                kafka.events(QueryEvent.class),
                kafka.events(AuditEvent.class),
                kafka.events(ErrorEvent.class),
                kafka.events(LedgerEntry.class),
                kafka.events(SignedRange.class));
    }

    private static ClickHouseSink rows(NormalizeJobConfig config) {
        ClickHouseSink sink = new ClickHouseSink(
                config.clickHouse(),
                config.clickHouseDatabase(),
                config.committers(),
                config.maxPendingBytes(),
                TailraceVersion.get());
        return config.pseudonyms().map(sink::withPseudonyms).orElse(sink);
    }
}
