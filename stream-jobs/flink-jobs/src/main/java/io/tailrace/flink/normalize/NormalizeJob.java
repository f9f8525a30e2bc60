package io.tailrace.flink.normalize;

import io.tailrace.flink.runtime.ConfigurationException;
import io.tailrace.flink.runtime.FlinkConfigurationFactory;
import io.tailrace.flink.runtime.JobRunner;
import io.tailrace.flink.runtime.TailraceVersion;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The job from lines to events: Kafka's lines topics in, ClickHouse tables and the events topic out.
 *
 * <p>Started as a program it brings its own Flink with the web UI; submitted to a cluster it runs there. Arguments:
 * see {@link NormalizeJobConfig}. Exit code 0 after a stop with savepoint, 1 after an error.
 */
public final class NormalizeJob {

    private static final Logger LOG = LoggerFactory.getLogger(NormalizeJob.class);

    private NormalizeJob() {}

    /** @throws ConfigurationException if the arguments cannot be used; it is not caught, for a main must not end a cluster */
    public static void main(String[] arguments) throws Exception {
        NormalizeJobConfig config = NormalizeJobConfig.fromArguments(arguments);
        String from = config.restorePath().isEmpty() ? "the oldest lines in Kafka" : config.restorePath();
        LOG.info("tailrace normalize {} starts from {}", TailraceVersion.get(), from);
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment(FlinkConfigurationFactory.of(config.jobSettings()));
        new NormalizePipeline(config).addTo(environment);
        JobRunner.run(environment);
    }
}
