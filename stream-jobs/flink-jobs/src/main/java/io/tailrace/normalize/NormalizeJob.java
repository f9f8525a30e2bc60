package io.tailrace.normalize;

import org.apache.flink.streaming.api.environment.LocalStreamEnvironment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The job from lines to events: Kafka's lines topics in, ClickHouse tables and the events topic out.
 *
 * <p>Started as a program it brings its own Flink with the web UI; submitted to a cluster it runs there. Arguments:
 * see {@link NormalizeConfig}. Exit code 0 after a stop with savepoint, 1 after an error.
 */
public final class NormalizeJob {

    private static final Logger LOG = LoggerFactory.getLogger(NormalizeJob.class);

    private NormalizeJob() {}

    /** @throws ConfigException if the arguments cannot be used; it is not caught, for a main must not end a cluster */
    public static void main(String[] arguments) throws Exception {
        NormalizeConfig config = NormalizeConfig.fromArguments(arguments);
        String from = config.restorePath().isEmpty() ? "the oldest lines in Kafka" : config.restorePath();
        LOG.info("tailrace normalize {} starts from {}", TailraceVersion.get(), from);
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment(FlinkSettings.of(config));
        new NormalizePipeline(config).addTo(environment);
        if (environment instanceof LocalStreamEnvironment) {
            System.exit(executeHere(environment));
        }
        environment.execute();
    }

    /** Runs the job in this process to its end, and says how it ended: threads of its Flink may outlive it. */
    private static int executeHere(StreamExecutionEnvironment environment) {
        try {
            environment.execute();
            LOG.info("the job has ended");
            return 0;
        } catch (Exception e) {
            LOG.error("the job has failed", e);
            // Once more as the last line of all, where a supervisor finds it.
            LOG.error("{}", rootOf(e).toString());
            return 1;
        }
    }

    private static Throwable rootOf(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root;
    }
}
