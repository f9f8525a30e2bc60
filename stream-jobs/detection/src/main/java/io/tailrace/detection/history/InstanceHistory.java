package io.tailrace.detection.history;

import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The time of the first event of each instance: before it, nothing is known about what is usual there. Not thread-safe.
 *
 * <p>An earlier event that arrives later makes the history longer, and nothing makes it shorter.
 */
public final class InstanceHistory {

    /** History that is long enough for each rule, in days; also that of an instance whose beginning is unknown. */
    public static final int LONG = Integer.MAX_VALUE;

    private static final long DAY_MICROS = TimeUnit.DAYS.toMicros(1);
    private static final String INSTANCE = DatabaseField.INSTANCE.fieldName();

    private final Map<String, Long> beginnings = new HashMap<>();
    private long unknownSince = Long.MAX_VALUE;

    /** Sets the number of days for which the instance of the event is known. */
    public void observe(DetectionEvent event) {
        List<FieldValue> instance = event.values(INSTANCE);
        if (!instance.isEmpty()) {
            event.history(days(instance.get(0).text(), event.micros()));
        }
    }

    /** Returns the full days since the first event of an instance. */
    private int days(String instance, long micros) {
        Long first = beginnings.get(instance);
        if (first == null || micros < first) {
            first = Math.min(micros, unknownSince);
            beginnings.put(instance, first);
        }
        return first == Long.MIN_VALUE ? LONG : (int) ((micros - first) / DAY_MICROS);
    }

    /** Returns the time of the first event by instance, microseconds since 1970 UTC, for state. */
    public Map<String, Long> beginnings() {
        return Map.copyOf(beginnings);
    }

    /** Adds an entry of {@link #beginnings}; the earlier of two times counts. */
    public void restore(String instance, long first) {
        beginnings.merge(instance, first, Math::min);
    }

    /** Gives a long history to each instance that is not known yet: the state comes from a version without this one. */
    public void assumeLong() {
        unknownSince = Long.MIN_VALUE;
    }
}
