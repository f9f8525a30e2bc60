package io.tailrace.flink.runtime;

import java.time.Duration;

/**
 * What differs from job to job in what is asked of Flink.
 *
 * @param name as the web UI shows it
 * @param parallelism subtasks of each operator
 * @param slots of a job that brings its own Flink
 * @param stateBackend hashmap or rocksdb
 * @param rocksDbMemoryMib what all RocksDB instances of a slot have together, MiB; without effect for hashmap
 * @param checkpointDirectory as a URI
 * @param restorePath checkpoint or savepoint to start from; empty to start without state
 * @param webUi only counts where the job brings its own Flink
 * @param metricsPort TCP port on 127.0.0.1 where the job that brings its own Flink serves its metrics; 0 for none
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
