package io.tailrace.cli.digest.aggregate;

import java.util.ArrayList;
import java.util.List;

/**
 * The time that a log is about. Statements far away from nearly all others (a client may set its session's timestamp
 * to any year) are counted and reported, but do not stretch it.
 *
 * @param from epoch seconds of the first statement within
 * @param to epoch seconds after the last one
 * @param outliers weight of the statements outside
 */
public record ObservedTimeRange(long from, long to, double outliers) {

    /** At each end so large a part of all may be outliers. */
    private static final double MAX_OUTLIERS = 0.01;
    /** A gap before outliers is so many times as long as what nearly all others span. */
    private static final long GAP = 10;
    /** Shorter gaps make no outliers, seconds. */
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

    /** From the middle outwards up to the first wide gap. */
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

    /** Seconds. */
    public long length() {
        return to - from;
    }
}
