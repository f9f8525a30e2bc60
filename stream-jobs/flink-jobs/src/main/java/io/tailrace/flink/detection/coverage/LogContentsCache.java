package io.tailrace.flink.detection.coverage;

import io.tailrace.detection.coverage.ObservedFields;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.taxonomy.DatabaseField;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Tells events that have what none of their log had before, among those of one subtask. Not thread-safe, and no state:
 * after a restart, and once a day, all is new again. Who is told twice must not mind.
 *
 * <p>It is asked about every event. So an event whose fields are those of another one of its log is recognised by
 * a hash that was made with the event; only others are compared name by name.
 *
 * <p>Memory: {@link ObservedFields} of at most {@value #MAX_LOGS} logs, beyond which it restarts, and at most
 * {@value #MAX_SHAPES} hashes for each.
 */
public final class LogContentsCache {

    static final int MAX_LOGS = 10_000;
    static final int MAX_SHAPES = 1_000;
    private static final long REMEMBERED_MILLIS = Duration.ofDays(1).toMillis();

    private static final String EVENT_CLASS = DatabaseField.EVENT_CLASS.fieldName();
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private final Map<String, Map<LogSource, Seen>> instances = new HashMap<>();
    private int logs;
    private long since;

    private static final class Seen {

        final ObservedFields contents = new ObservedFields();
        final Set<Long> shapes = new HashSet<>();
        long latestShape;
    }

    /**
     * Whether an event has something new. It is asked before anything is added to the event that its log does not say.
     *
     * @param nowMillis of this machine's clock
     */
    public boolean isNew(DetectionEvent event, String instance, long nowMillis) {
        if (nowMillis - since > REMEMBERED_MILLIS || logs >= MAX_LOGS) {
            instances.clear();
            logs = 0;
            since = nowMillis;
        }
        Seen seen = seen(instance, event.source());
        long shape = shape(event);
        if (shape == seen.latestShape) {
            return false;
        }
        seen.latestShape = shape;
        if (seen.shapes.size() >= MAX_SHAPES) {
            seen.shapes.clear();
        }
        return seen.shapes.add(shape) && seen.contents.add(event);
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

    /** The same for events with the same fields that are of the same class. */
    private static long shape(DetectionEvent event) {
        long shape = event.shape();
        List<FieldValue> classes = event.values(EVENT_CLASS);
        for (int i = 0; i < classes.size(); i++) {
            shape = shape * SPREAD + classes.get(i).text().hashCode();
        }
        return shape;
    }
}
