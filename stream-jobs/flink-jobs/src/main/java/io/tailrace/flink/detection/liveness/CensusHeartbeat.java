package io.tailrace.flink.detection.liveness;

/**
 * A census of some file of an instance: somebody there was alive.
 *
 * @param micros when the file was inspected, microseconds since 1970 UTC of the instance's clock
 */
public record CensusHeartbeat(String instance, String cluster, long micros) {}
