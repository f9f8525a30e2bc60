package io.tailrace.normalize;

import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The job from lines to events: Kafka's lines topics in, ClickHouse tables and the events topic out.
 *
 * <p>Started as a program it brings its own Flink with the web UI; submitted to a cluster it runs there. Arguments:
 * see {@link NormalizeConfig}. Exit code 0 after a stop with savepoint, 1 after an error, 2 for a configuration that
 * cannot be used.
 */
public final class NormalizeJob {

    private static final int BAD_CONFIGURATION = 2;

    private NormalizeJob() {}

    public static void main(String[] arguments) throws Exception {
        NormalizeConfig config;
        try {
            config = NormalizeConfig.fromArguments(arguments);
        } catch (ConfigException e) {
            System.err.println("tailrace normalize: " + e.getMessage());
            System.exit(BAD_CONFIGURATION);
            return;
        }
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment(FlinkSettings.of(config));
        new NormalizePipeline(config).addTo(environment);
        environment.execute();
    }
}
