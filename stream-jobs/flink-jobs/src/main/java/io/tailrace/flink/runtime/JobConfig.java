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
        int metricsPort) {}
