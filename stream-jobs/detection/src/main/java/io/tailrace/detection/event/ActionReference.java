package io.tailrace.detection.event;

/**
 * What somebody did, whichever logs recorded it: what its events count as.
 *
 * @param id of its first event
 * @param micros time of its first event, microseconds since 1970 UTC
 * @param order of its first event among those of the same time
 */
public record ActionReference(String id, long micros, long order) {}
