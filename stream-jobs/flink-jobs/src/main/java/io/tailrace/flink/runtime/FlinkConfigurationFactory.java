package io.tailrace.flink.runtime;

import java.time.Duration;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.MetricOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.metrics.prometheus.LoopbackPrometheusReporterFactory;

/** Creates the Flink configuration of a job. */
public final class FlinkConfigurationFactory {

    public static final String ROCKSDB = "rocksdb";
    public static final String HASHMAP = "hashmap";
    /** With less, the write buffers of the operators that share the memory would be flushed to disk constantly. */
    public static final int MIN_ROCKSDB_MIB = 64;

    public static final int MAX_ROCKSDB_MIB = 1 << 20;

    // Options of Flink's RocksDB jar, which is optional. Names and meaning: Flink 2.2's RocksDBOptions and
    // RocksDBConfigurableOptions.
    static final ConfigOption<MemorySize> ROCKSDB_MEMORY_PER_SLOT = ConfigOptions.key(
                    "state.backend.rocksdb.memory.fixed-per-slot")
            .memoryType()
            .noDefaultValue();
    static final ConfigOption<Boolean> ROCKSDB_PARTITIONED_INDEX = ConfigOptions.key(
                    "state.backend.rocksdb.memory.partitioned-index-filters")
            .booleanType()
            .noDefaultValue();
    static final ConfigOption<Boolean> ROCKSDB_BLOOM_FILTER = ConfigOptions.key(
                    "state.backend.rocksdb.use-bloom-filter")
            .booleanType()
            .noDefaultValue();

    private static final Duration CHECKPOINT_TIMEOUT = Duration.ofMinutes(10);
    private static final Duration FIRST_RESTART_DELAY = Duration.ofSeconds(1);
    private static final Duration MAX_RESTART_DELAY = Duration.ofSeconds(30);
    private static final Duration BACKOFF_RESET_THRESHOLD = Duration.ofMinutes(5);
    private static final int RETAINED_CHECKPOINTS = 3;
    /**
     * Without a timeout, Flink flushes an output after each record. With one it runs a thread for each output, which
     * wakes up each time: several hundred times a second in an idle job. The normalize job emits blocks of many lines
     * or rows; the detect job sets a timeout where it emits many records.
     */
    private static final Duration NO_BUFFER_TIMEOUT = Duration.ZERO;

    private static final String REPORTER = "prometheus";

    private FlinkConfigurationFactory() {}

    public static Configuration of(JobConfig config) {
        Configuration flink = new Configuration();
        setPipeline(flink, config);
        setCheckpoints(flink, config);
        setRestarts(flink);
        config.webUi().configure(flink);
        if (config.metricsPort() > 0) {
            setMetrics(flink, config.metricsPort());
        }
        return flink;
    }

    private static void setPipeline(Configuration flink, JobConfig config) {
        flink.set(PipelineOptions.NAME, config.name());
        flink.set(CoreOptions.DEFAULT_PARALLELISM, config.parallelism());
        flink.set(TaskManagerOptions.NUM_TASK_SLOTS, config.slots());
        // A type that needs Kryo, or an operator without a uid, is an error when the job graph is built.
        flink.set(PipelineOptions.GENERIC_TYPES, false);
        flink.set(PipelineOptions.AUTO_GENERATE_UIDS, false);
        // Operators never change records after emitting them.
        flink.set(PipelineOptions.OBJECT_REUSE, true);
        flink.set(ExecutionOptions.BUFFER_TIMEOUT, NO_BUFFER_TIMEOUT);
        // Without watermarks: each source would have a timer for them.
        flink.set(PipelineOptions.AUTO_WATERMARK_INTERVAL, Duration.ZERO);
        flink.set(StateBackendOptions.STATE_BACKEND, config.stateBackend());
        if (config.stateBackend().equals(ROCKSDB)) {
            setRocksDb(flink, config);
        }
    }

    /**
     * Sets a limit for the memory of all stateful operators of a slot. The job has its own limit because Flink's
     * managed memory is 128 MiB if a job starts its own Flink, and a share of the process in a cluster. Index and
     * filters share the cache with the data. Without partitioning they evict each other as soon as there are a few
     * files: each lookup then reads and decompresses a megabyte (a million keys did not finish within two minutes).
     * With partitioning their top level stays cached, and a lookup reads one block of 4 KiB. The Bloom filter avoids
     * reads for most keys, which are new or were not used for long.
     */
    private static void setRocksDb(Configuration flink, JobConfig config) {
        flink.set(ROCKSDB_MEMORY_PER_SLOT, MemorySize.ofMebiBytes(config.rocksDbMemoryMib()));
        flink.set(ROCKSDB_PARTITIONED_INDEX, true);
        flink.set(ROCKSDB_BLOOM_FILTER, true);
    }

    private static void setCheckpoints(Configuration flink, JobConfig config) {
        flink.set(CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE, CheckpointingMode.EXACTLY_ONCE);
        flink.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, config.checkpointInterval());
        // If checkpoints take long because the job is behind, they are fewer and the blocks larger.
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
        // A checkpoint that cannot be written (full disk) or completed (ClickHouse unavailable and the buffer full) is
        // retried; failing the job would replay the same input with the same result.
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
        flink.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_MAX_BACKOFF, MAX_RESTART_DELAY);
        flink.set(
                RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_RESET_BACKOFF_THRESHOLD,
                BACKOFF_RESET_THRESHOLD);
    }

    /** Applies only if the job starts its own Flink; in a cluster, the processes have reporters, not the jobs. */
    private static void setMetrics(Configuration flink, int port) {
        flink.set(MetricOptions.REPORTERS_LIST, REPORTER);
        Configuration reporter = MetricOptions.forReporter(flink, REPORTER);
        reporter.set(MetricOptions.REPORTER_FACTORY_CLASS, LoopbackPrometheusReporterFactory.class.getName());
        reporter.setString("port", Integer.toString(port));
    }
}
