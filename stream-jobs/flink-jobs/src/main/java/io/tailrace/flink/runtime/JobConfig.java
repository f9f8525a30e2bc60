package io.tailrace.flink.runtime;

import java.time.Duration;

/**
 * The job-specific part of the Flink configuration.
 *
 * @param name name in the web UI
 * @param parallelism subtasks of each operator
 * @param slots slots of a job that starts its own Flink
 * @param stateBackend hashmap or rocksdb
 * @param rocksDbMemoryMib MiB of memory for all RocksDB instances of a slot; ignored for hashmap
 * @param checkpointDirectory as a URI
 * @param restorePath checkpoint or savepoint to start from; empty to start without state
 * @param webUi applies only if the job starts its own Flink
 * @param metricsPort TCP port of the metrics on 127.0.0.1 if the job starts its own Flink; 0 for none
 */
public record JobConfig(
        String name,
        int parallelism,
        int slots,
        String stateBackend,
        int rocksDbMemoryMib,
        String checkpointDirectory,
        Duration checkpointInterval,
        String restorePath,
        WebUiConfig webUi,
        int metricsPort) {

    /**
     * Returns the configuration of these values, with the values of keys that differ between the jobs.
     *
     * @throws ConfigurationException if a value cannot be used
     */
    public static JobConfig of(
            ConfigParser values, String name, int parallelism, int slots, Duration checkpointInterval, int webPort) {
        return new JobConfig(
                name,
                parallelism,
                slots,
                values.oneOf(
                        SharedJobOptions.STATE_BACKEND,
                        FlinkConfigurationFactory.HASHMAP,
                        FlinkConfigurationFactory.ROCKSDB),
                values.number(
                        SharedJobOptions.STATE_ROCKSDB_MEMORY_MIB,
                        FlinkConfigurationFactory.MIN_ROCKSDB_MIB,
                        FlinkConfigurationFactory.MAX_ROCKSDB_MIB),
                values.directory(SharedJobOptions.CHECKPOINT_DIR),
                checkpointInterval,
                values.text(SharedJobOptions.RESTORE_PATH),
                new WebUiConfig(
                        webPort,
                        values.text(SharedJobOptions.WEB_KEYSTORE),
                        values.text(SharedJobOptions.WEB_TRUSTSTORE),
                        values.text(SharedJobOptions.WEB_PASSWORD_FILE)),
                values.port(SharedJobOptions.METRICS_PORT));
    }
}
