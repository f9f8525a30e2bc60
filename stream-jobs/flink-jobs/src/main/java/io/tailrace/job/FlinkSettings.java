package io.tailrace.job;

import java.time.Duration;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.core.execution.RecoveryClaimMode;

/** What a job asks of Flink. */
public final class FlinkSettings {

    private static final Duration CHECKPOINT_TIMEOUT = Duration.ofMinutes(10);
    private static final Duration FIRST_RESTART_DELAY = Duration.ofSeconds(1);
    private static final Duration LONGEST_RESTART_DELAY = Duration.ofSeconds(30);
    private static final Duration CALM_AFTER = Duration.ofMinutes(5);
    private static final int RETAINED_CHECKPOINTS = 3;

    private FlinkSettings() {}

    public static Configuration of(JobSettings config) {
        Configuration flink = new Configuration();
        setPipeline(flink, config);
        setCheckpoints(flink, config);
        setRestarts(flink);
        setWebUi(flink, config);
        return flink;
    }

    private static void setPipeline(Configuration flink, JobSettings config) {
        flink.set(PipelineOptions.NAME, config.name());
        flink.set(CoreOptions.DEFAULT_PARALLELISM, config.parallelism());
        flink.set(TaskManagerOptions.NUM_TASK_SLOTS, config.slots());
        // A type that falls to Kryo, or an operator without a uid, is found when the job is built.
        flink.set(PipelineOptions.GENERIC_TYPES, false);
        flink.set(PipelineOptions.AUTO_GENERATE_UIDS, false);
        // Operators pass records on and never change them afterwards.
        flink.set(PipelineOptions.OBJECT_REUSE, true);
        flink.set(StateBackendOptions.STATE_BACKEND, config.stateBackend());
    }

    private static void setCheckpoints(Configuration flink, JobSettings config) {
        flink.set(CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE, CheckpointingMode.EXACTLY_ONCE);
        flink.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, config.checkpointInterval());
        // When checkpoints take long, because the job is behind, they are fewer and the blocks larger.
        flink.set(
                CheckpointingOptions.MIN_PAUSE_BETWEEN_CHECKPOINTS,
                config.checkpointInterval().dividedBy(2));
        flink.set(CheckpointingOptions.CHECKPOINTING_TIMEOUT, CHECKPOINT_TIMEOUT);
        flink.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
        flink.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, config.checkpointDirectory());
        flink.set(CheckpointingOptions.SAVEPOINT_DIRECTORY, config.checkpointDirectory());
        flink.set(CheckpointingOptions.MAX_RETAINED_CHECKPOINTS, RETAINED_CHECKPOINTS);
        flink.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        // A checkpoint that cannot be written (full disk) or not end (ClickHouse away and its buffer full) is tried
        // again; failing the job would replay the same input into the same trouble.
        flink.set(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, Integer.MAX_VALUE);
        // Aligned: operators flush before a barrier, and a checkpoint stays small when the job is behind.
        flink.set(CheckpointingOptions.ENABLE_UNALIGNED, false);
        if (!config.restorePath().isEmpty()) {
            flink.set(StateRecoveryOptions.SAVEPOINT_PATH, config.restorePath());
            flink.set(StateRecoveryOptions.RESTORE_MODE, RecoveryClaimMode.CLAIM);
        }
    }

    private static void setRestarts(Configuration flink) {
        flink.set(RestartStrategyOptions.RESTART_STRATEGY, "exponential-delay");
        flink.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_INITIAL_BACKOFF, FIRST_RESTART_DELAY);
        flink.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_MAX_BACKOFF, LONGEST_RESTART_DELAY);
        flink.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_RESET_BACKOFF_THRESHOLD, CALM_AFTER);
    }

    /** Only counts where the job brings its own Flink; a cluster has its own. */
    private static void setWebUi(Configuration flink, JobSettings config) {
        flink.set(RestOptions.ADDRESS, "127.0.0.1");
        flink.set(RestOptions.BIND_ADDRESS, "127.0.0.1");
        flink.set(RestOptions.PORT, config.webPort());
        flink.set(RestOptions.BIND_PORT, Integer.toString(config.webPort()));
    }
}
