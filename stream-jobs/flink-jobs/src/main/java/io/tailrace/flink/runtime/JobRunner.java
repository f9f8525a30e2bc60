package io.tailrace.flink.runtime;

import org.apache.flink.streaming.api.environment.LocalStreamEnvironment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs a job in this process, or on the cluster to which it was submitted. */
public final class JobRunner {

    private static final Logger LOG = LoggerFactory.getLogger(JobRunner.class);

    private JobRunner() {}

    /**
     * Runs the job. If the job starts its own Flink, this ends the process: 0 after a stop with savepoint, 1 after an
     * error.
     */
    public static void run(StreamExecutionEnvironment environment) throws Exception {
        if (environment instanceof LocalStreamEnvironment) {
            System.exit(executeHere(environment));
        }
        environment.execute();
    }

    /** Runs the job in this process until it ends and returns the exit code: threads of its Flink may outlive it. */
    private static int executeHere(StreamExecutionEnvironment environment) {
        try {
            environment.execute();
            LOG.info("the job has ended");
            return 0;
        } catch (Exception e) {
            LOG.error("the job has failed", e);
            // Repeats the cause as the very last line, where a supervisor finds it.
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
