package io.tailrace.detection.detector.volume;

import io.tailrace.detection.event.DetectionEvent;

/**
 * Selects a fixed share of all events by a hash of their ids. The same events are selected in every run, whatever their
 * order and the number of tasks, and nobody who writes statements chooses the ids.
 */
final class SampledEvents {

    /** Statements with so many rows are always observed. */
    static final int ALL_FROM_ROWS = 64;

    private static final int SPREAD = 0x9E3779B9;

    private SampledEvents() {}

    /** Returns whether an event is one of the selected ones, on average one of {@code share}, a power of two. */
    static boolean contains(DetectionEvent event, int share) {
        int hash = event.id().hashCode() * SPREAD;
        return (hash >>> Integer.SIZE / 2 & share - 1) == 0;
    }

    /** Returns the same for a statement with a number of rows; false if it has none or the number is NaN. */
    static boolean containsRows(DetectionEvent event, double rows, int share) {
        return rows >= ALL_FROM_ROWS || rows > 0 && contains(event, share);
    }
}
