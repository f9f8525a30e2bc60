package io.tailrace.cli.digest.aggregate;

import java.util.ArrayList;
import java.util.List;

/**
 * The time range of a log. Statements far outside of the range of nearly all others (a client may set its session's
 * timestamp to any year) are counted and reported, but do not extend it.
 *
 * @param from epoch seconds of the first statement within
 * @param to epoch seconds after the last one
 * @param outliers weight of the statements outside
 */
public record ObservedTimeRange(long from, long to, double outliers) {

    /** Maximum fraction of outliers at each end. */
    private static final double MAX_OUTLIERS = 0.01;
    /** Minimum length of the gap before outliers, as a multiple of the range of nearly all others. */
    private static final long GAP = 10;
    /** Minimum length of the gap before outliers, seconds. */
    private static final long MIN_GAP = 86_400;

    private record Slot(long from, long to, double weight) {}

    static ObservedTimeRange of(TimeHistogram slots) {
        List<Slot> all = new ArrayList<>();
        slots.visit((from, width, weight, time) -> all.add(new Slot(from, from + width, weight)));
        if (all.isEmpty()) {
            return new ObservedTimeRange(0, 0, 0);
        }
        double total = all.stream().mapToDouble(Slot::weight).sum();
        int first = 0;
        for (double before = 0; before + all.get(first).weight <= MAX_OUTLIERS * total; first++) {
            before += all.get(first).weight;
        }
        int last = all.size() - 1;
        for (double after = 0; after + all.get(last).weight <= MAX_OUTLIERS * total; last--) {
            after += all.get(last).weight;
        }
        return around(all, first, last, total);
    }

    /** Extends the range from the middle up to the first wide gap on each side. */
    private static ObservedTimeRange around(List<Slot> all, int middleFirst, int middleLast, double total) {
        long gap = Math.max(MIN_GAP, GAP * (all.get(middleLast).to - all.get(middleFirst).from));
        int first = middleFirst;
        while (first > 0 && all.get(first).from - all.get(first - 1).to <= gap) {
            first--;
        }
        int last = middleLast;
        while (last < all.size() - 1 && all.get(last + 1).from - all.get(last).to <= gap) {
            last++;
        }
        double within =
                all.subList(first, last + 1).stream().mapToDouble(Slot::weight).sum();
        boolean whole = first == 0 && last == all.size() - 1;
        return new ObservedTimeRange(all.get(first).from, all.get(last).to, whole ? 0 : total - within);
    }

    /** Returns the length in seconds. */
    public long length() {
        return to - from;
    }
}
