package io.tailrace.plan.change;

/**
 * Tests whether a statement is slower with its new plan.
 *
 * <p>The more often a test is repeated, the more often it is wrong. So it runs only at fixed numbers of executions,
 * each time at a significance level of 0.1 %, and has two conditions: the ranks differ, and the medians differ by
 * more than the statement's own variation with the old plan.
 */
final class LatencyComparison {

    /** Minimum number of executions before the change. */
    static final int MIN_BEFORE = 20;

    private static final int FIRST_TEST = 20;
    private static final int TESTS = 6;
    private static final double DEVIATIONS = 3.09;
    private static final int INTERVALS_NEEDED = 6;
    /**
     * The factor is 3 + 20 / n. It is wide because consecutive intervals are similar, and few intervals show only a
     * part of the spread.
     */
    private static final double SPREADS = 3;

    private static final double MORE_SPREADS = 20;
    /** Assumed variation of a statement that was not observed long enough. */
    private static final double UNKNOWN_VARIATION = Math.log(2);

    private LatencyComparison() {}

    /** Returns the number of tests that are due, of {@value #TESTS}: at 20 executions, 40, 80, … 640. */
    static int testDue(long executionsAfter) {
        int tests = 0;
        while (tests < TESTS && executionsAfter >= (long) FIRST_TEST << tests) {
            tests++;
        }
        return tests;
    }

    /**
     * Returns the result of one test.
     *
     * @param test number of the test, from 1
     * @param minRatio ratio of medians, above 1, below which a change is not reported
     * @return PENDING if the next test must decide, UNKNOWN if none can
     */
    static PlanVerdict at(int test, PlanLatencyHistory before, PlanLatencyHistory after, double minRatio) {
        if (before.all().total() < MIN_BEFORE) {
            return PlanVerdict.UNKNOWN;
        }
        double least = Math.max(Math.log(minRatio), variation(before));
        double ratio = after.all().logMedian() - before.all().logMedian();
        double deviations = before.all().slownessOf(after.all());
        if (ratio >= least && deviations >= DEVIATIONS) {
            return PlanVerdict.SLOWER;
        }
        if (ratio <= -least && deviations <= -DEVIATIONS) {
            return PlanVerdict.FASTER;
        }
        double error = before.all().logMedianError() + after.all().logMedianError();
        boolean settled = Math.abs(ratio) + error < least;
        return settled || test == TESTS ? PlanVerdict.NO_DIFFERENCE : PlanVerdict.PENDING;
    }

    private static double variation(PlanLatencyHistory before) {
        int intervals = before.intervals();
        return intervals < INTERVALS_NEEDED
                ? UNKNOWN_VARIATION
                : (SPREADS + MORE_SPREADS / intervals) * before.spread();
    }
}
