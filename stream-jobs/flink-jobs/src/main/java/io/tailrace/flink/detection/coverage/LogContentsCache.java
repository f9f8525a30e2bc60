package io.tailrace.flink.detection.coverage;

import io.tailrace.detection.coverage.ObservedFields;
import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.event.LogSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Detects events with fields or classes that no earlier event of their log in this subtask had. Not thread-safe. It is
 * not part of state: after a restart, and once a day, all fields are new again, so consumers must accept repetitions.
 *
 * <p>It is called for every event. A hash recognizes events with the same fields as an earlier one of the same log;
 * only others are compared name by name.
 *
 * <p>Memory: {@link ObservedFields} of at most {@value #MAX_LOGS} logs, about 2 kB each, and at most {@value #MAX_SHAPES}
 * hashes for each and {@value #MAX_ALL_SHAPES} for all, about 64 bytes each. Beyond that it restarts, so a subtask with
 * more logs than that would report almost every event.
 */
public final class LogContentsCache {

    static final int MAX_LOGS = 100_000;
    static final int MAX_SHAPES = 1_000;
    static final int MAX_ALL_SHAPES = 1_000_000;
    private static final long REMEMBERED_MILLIS = Duration.ofDays(1).toMillis();

    private static final String EVENT_CLASS = DatabaseField.EVENT_CLASS.fieldName();
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private final Map<String, Map<LogSource, Seen>> instances = new HashMap<>();
    private int logs;
    private int allShapes;
    private long since;

    private static final class Seen {

        final ObservedFields contents = new ObservedFields();
        final Set<Long> shapes = new HashSet<>();
        long latestShape;
    }

    /**
     * Returns whether an event has a new field or class. Call it before the event is enriched.
     *
     * @param nowMillis this machine's clock, milliseconds since 1970
     */
    public boolean isNew(DetectionEvent event, String instance, long nowMillis) {
        if (nowMillis - since > REMEMBERED_MILLIS || logs >= MAX_LOGS || allShapes >= MAX_ALL_SHAPES) {
            instances.clear();
            logs = 0;
            allShapes = 0;
            since = nowMillis;
        }
        Seen seen = seen(instance, event.source());
        long shape = shape(event);
        if (shape == seen.latestShape) {
            return false;
        }
        seen.latestShape = shape;
        if (seen.shapes.size() >= MAX_SHAPES) {
            allShapes -= seen.shapes.size();
            seen.shapes.clear();
        }
        if (!seen.shapes.add(shape)) {
            return false;
        }
        allShapes++;
        return seen.contents.add(event);
    }

    private Seen seen(String instance, LogSource log) {
        Map<LogSource, Seen> ofInstance = instances.get(instance);
        if (ofInstance == null) {
            ofInstance = new HashMap<>();
            instances.put(instance, ofInstance);
        }
        Seen seen = ofInstance.get(log);
        if (seen == null) {
            seen = new Seen();
            ofInstance.put(log, seen);
            logs++;
        }
        return seen;
    }

    /** Returns the same hash for events with the same fields and the same class. */
    private static long shape(DetectionEvent event) {
        long shape = event.shape();
        List<FieldValue> classes = event.values(EVENT_CLASS);
        for (int i = 0; i < classes.size(); i++) {
            shape = shape * SPREAD + classes.get(i).text().hashCode();
        }
        return shape;
    }
}
