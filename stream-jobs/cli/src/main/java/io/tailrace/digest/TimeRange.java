package io.tailrace.digest;

import java.util.ArrayList;
import java.util.List;

/**
 * The time that a log is about. Statements far away from nearly all others (a client may set its session's timestamp
 * to any year) are counted and reported, but do not stretch it.
 *
 * @param from epoch seconds of the first statement within
 * @param to epoch seconds after the last one
 * @param strays weight of the statements outside
 */
public record TimeRange(long from, long to, double strays) {

    /** Strays are at most so large a part of all. */
    private static final double MOST_STRAYS = 0.02;
    /** A gap before strays is so many times as long as what all others span. */
    private static final double GAP = 10;
    /** Shorter gaps make no strays, seconds. */
    private static final long SHORTEST_GAP = 86_400;

    private record Slot(long from, long to, double weight) {}

    static TimeRange of(TimeSlots slots) {
        List<Slot> all = new ArrayList<>();
        slots.visit((from, width, weight, time) -> all.add(new Slot(from, from + width, weight)));
        if (all.isEmpty()) {
            return new TimeRange(0, 0, 0);
        }
        double total = all.stream().mapToDouble(Slot::weight).sum();
        int first = 0;
        int last = all.size() - 1;
        double before = 0;
        double after = 0;
        double strays = 0;
        for (int i = 1; i < all.size(); i++) {
            before += all.get(i - 1).weight;
            if (before > MOST_STRAYS * total) {
                break;
            }
            if (isGap(all, i - 1, i, i, last)) {
                first = i;
                strays = before;
            }
        }
        for (int i = all.size() - 2; i >= first; i--) {
            after += all.get(i + 1).weight;
            if (strays + after > MOST_STRAYS * total) {
                break;
            }
            if (isGap(all, i, i + 1, first, i)) {
                last = i;
            }
        }
        return new TimeRange(all.get(first).from, all.get(last).to, weight(all, first, last, total));
    }

    private static double weight(List<Slot> all, int first, int last, double total) {
        double within =
                all.subList(first, last + 1).stream().mapToDouble(Slot::weight).sum();
        return Math.max(0, total - within);
    }

    private static boolean isGap(List<Slot> all, int left, int right, int first, int last) {
        long gap = all.get(right).from - all.get(left).to;
        long span = all.get(last).to - all.get(first).from;
        return gap > SHORTEST_GAP && gap > GAP * span;
    }

    /** Seconds. */
    public long length() {
        return to - from;
    }
}
