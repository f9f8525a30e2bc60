package io.tailrace.cli.digest.aggregate;

import java.util.ArrayList;
import java.util.List;

/**
 * The number of statements in one range of durations; two ranges span a factor of ten.
 *
 * @param from lower bound of the range, seconds
 * @param to lower bound of the next one
 */
public record DurationBucket(double from, double to, double weight) {

    private static final double[] STEPS = {
        0,
        1e-6,
        3e-6,
        1e-5,
        3e-5,
        1e-4,
        3e-4,
        1e-3,
        3e-3,
        1e-2,
        3e-2,
        0.1,
        0.3,
        1,
        3,
        10,
        30,
        100,
        300,
        1_000,
        3_000,
        1e4,
        3e4,
        1e5,
        Double.POSITIVE_INFINITY
    };

    /** Returns the ranges from the first that is not empty to the last one. */
    public static List<DurationBucket> of(LatencyHistogram seconds) {
        double[] weights = new double[STEPS.length - 1];
        seconds.visit((value, weight) -> weights[step(value)] += weight);
        int first = 0;
        int last = weights.length - 1;
        while (first < last && weights[first] == 0) {
            first++;
        }
        while (last > first && weights[last] == 0) {
            last--;
        }
        List<DurationBucket> result = new ArrayList<>();
        for (int i = first; i <= last; i++) {
            result.add(new DurationBucket(STEPS[i], STEPS[i + 1], weights[i]));
        }
        return result;
    }

    private static int step(double value) {
        int step = 0;
        while (step + 2 < STEPS.length && value >= STEPS[step + 1]) {
            step++;
        }
        return step;
    }
}
