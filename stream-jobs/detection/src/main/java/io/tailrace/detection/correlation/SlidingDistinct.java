package io.tailrace.detection.correlation;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Counts what is different in one window of a group after the other, in the order of time. Each match costs two steps,
 * however many windows contain it.
 */
final class SlidingDistinct {

    private final GroupWindow window;
    private final long timespan;
    private final Function<RuleMatch, Object> distinguished;
    private final Map<Object, Integer> counts = new HashMap<>();
    private int from;
    private int to;

    /**
     * @param window is not modified between calls of {@link #until}
     * @param timespan length of a window, microseconds
     * @param distinguished what is counted once per window
     */
    SlidingDistinct(GroupWindow window, long timespan, Function<RuleMatch, Object> distinguished) {
        this.window = window;
        this.timespan = timespan;
        this.distinguished = distinguished;
    }

    /**
     * Returns the count of the window that ends at this time, both ends included.
     *
     * @param end microseconds; not before that of the call before
     */
    int until(long end) {
        List<RuleMatch> matches = window.occurrences();
        for (int after = window.firstFrom(end + 1); to < after; to++) {
            counts.merge(distinguished.apply(matches.get(to)), 1, Integer::sum);
        }
        for (int first = window.firstFrom(end - timespan); from < first; from++) {
            counts.computeIfPresent(
                    distinguished.apply(matches.get(from)), (what, count) -> count > 1 ? count - 1 : null);
        }
        return counts.size();
    }
}
