package io.tailrace.cli.digest.aggregate;

import io.tailrace.event.QueryEvent;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Selects the statements of one thread that may be the slowest of their group: those that are slower than all earlier
 * ones of this thread. Evicted entries cause false positives. Not thread-safe.
 */
final class ExampleCandidates implements Predicate<QueryEvent> {

    /** A power of two. */
    private static final int CLASSES = 1 << 16;

    private final Grouping grouping;
    /**
     * Ids of earlier classes, each in the slot that its bits select, followed by the duration of the slowest statement.
     */
    private final long[] classes;

    private final Map<String, Double> slowest = new HashMap<>();

    ExampleCandidates(Grouping grouping) {
        this.grouping = grouping;
        this.classes = new long[grouping.isByQuery() ? 2 * CLASSES : 0];
        Arrays.fill(classes, Double.doubleToRawLongBits(-1));
    }

    @Override
    public boolean test(QueryEvent event) {
        return grouping.isByQuery() ? isSlowestOfClass(event) : isSlowestOfAnyName(event);
    }

    private boolean isSlowestOfClass(QueryEvent event) {
        long id = event.getQueryId();
        double seconds = event.getQueryTime();
        int slot = 2 * ((int) id & CLASSES - 1);
        if (classes[slot] == id && seconds <= Double.longBitsToDouble(classes[slot + 1])) {
            return false;
        }
        classes[slot] = id;
        classes[slot + 1] = Double.doubleToRawLongBits(seconds);
        return true;
    }

    private boolean isSlowestOfAnyName(QueryEvent event) {
        if (slowest.size() > Digest.MAX_GROUPS) {
            slowest.clear();
        }
        double seconds = event.getQueryTime();
        boolean any = false;
        for (String name : grouping.keys(event)) {
            Double before = slowest.get(name);
            if (before == null || seconds > before) {
                slowest.put(name, seconds);
                any = true;
            }
        }
        return any;
    }
}
