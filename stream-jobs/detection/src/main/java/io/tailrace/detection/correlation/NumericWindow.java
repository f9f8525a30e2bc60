package io.tailrace.detection.correlation;

import java.util.ArrayList;
import java.util.List;

/** Computes metrics over the numbers of a window, and keeps their memory bounded. */
final class NumericWindow {

    /** Number of matches of a group that are stored one by one. */
    static final int MAX_NUMBERS = 1_000;
    /** Number of matches at which the memory of a group is reduced to two thirds. */
    static final int FULL = 3 * MAX_NUMBERS;
    /** Older numbers of a group that is full are added up within this part of a timespan. */
    static final int SLICES = 500;

    private NumericWindow() {}

    static Amount total(List<RuleMatch> window) {
        Amount total = new Amount(0, 0);
        for (RuleMatch match : window) {
            total = total.plus(Amount.parse(match.value()));
        }
        return total;
    }

    /**
     * Returns a percentile of the newest {@link #MAX_NUMBERS} numbers, interpolated linearly between the two nearest;
     * NaN if there are none.
     *
     * @param percent from 0 to 100
     */
    static double percentile(List<RuleMatch> window, double percent) {
        double[] numbers = window.subList(Math.max(0, window.size() - MAX_NUMBERS), window.size()).stream()
                .map(match -> Amount.parse(match.value()))
                .filter(amount -> amount.count() == 1)
                .mapToDouble(Amount::sum)
                .sorted()
                .toArray();
        if (numbers.length == 0) {
            return Double.NaN;
        }
        double position = (numbers.length - 1) * percent / 100;
        int below = (int) position;
        int above = Math.min(below + 1, numbers.length - 1);
        return numbers[below] + (position - below) * (numbers[above] - numbers[below]);
    }

    /**
     * Adds up numbers within slices of time. The sum has the time of its last match.
     *
     * @param matches in the order of time
     * @param timespan of a window, microseconds
     */
    static List<RuleMatch> inSlices(List<RuleMatch> matches, long timespan) {
        long slice = Math.max(1, timespan / SLICES);
        List<RuleMatch> merged = new ArrayList<>();
        for (RuleMatch match : matches) {
            int last = merged.size() - 1;
            boolean same = last >= 0
                    && Math.floorDiv(merged.get(last).micros(), slice) == Math.floorDiv(match.micros(), slice);
            if (same) {
                merged.set(last, together(merged.get(last), match));
            } else {
                merged.add(match);
            }
        }
        return merged;
    }

    private static RuleMatch together(RuleMatch earlier, RuleMatch later) {
        Amount sum = Amount.parse(earlier.value()).plus(Amount.parse(later.value()));
        return new RuleMatch(
                later.micros(),
                later.order(),
                later.actionId(),
                later.recordId(),
                later.rule(),
                sum.text(),
                Math.max(earlier.expires(), later.expires()));
    }
}
