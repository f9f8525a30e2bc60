package io.tailrace.detection.event;

/**
 * Identifies an operation, regardless of the logs that recorded it. All its events count as one.
 *
 * @param id id of its first event
 * @param micros time of its first event, microseconds since 1970 UTC
 * @param order order of its first event among those of the same time
 */
public record ActionReference(String id, long micros, long order) {}
