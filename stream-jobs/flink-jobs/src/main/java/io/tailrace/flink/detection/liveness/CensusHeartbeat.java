package io.tailrace.flink.detection.liveness;

/**
 * A census of a file of an instance, which proves that the instance is alive.
 *
 * @param micros when the file was inspected, microseconds since 1970 UTC of the instance's clock
 */
public record CensusHeartbeat(String instance, String cluster, long micros) {}
