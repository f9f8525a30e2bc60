package io.tailrace.plan.change;

/**
 * Whether a statement is slower with its new plan.
 *
 * <p>Asked again and again, a test is wrong ever more often. So it is asked at set numbers of executions only, each
 * time at 0.1 %, and two things must hold: the ranks differ, and the medians differ by more than the statement varied
 * by itself while it had the old plan.
 */
final class LatencyComparison {

    /** Executions needed before the change. */
    static final int MIN_BEFORE = 20;

    private static final int FIRST_TEST = 20;
    private static final int TESTS = 6;
    private static final double DEVIATIONS = 3.09;
    private static final int INTERVALS_NEEDED = 6;
    /**
     * Wide, for intervals that follow each other are similar, and few of them show little of the spread: 3 + 20 / n.
     */
    private static final double SPREADS = 3;

    private static final double MORE_SPREADS = 20;
    /** What a statement may vary by itself where it was not seen long enough. */
    private static final double UNKNOWN_VARIATION = Math.log(2);

    private LatencyComparison() {}

    /** Looks that are due, of {@value #TESTS}: at 20 executions, 40, 80, … 640. */
    static int testDue(long executionsAfter) {
        int tests = 0;
        while (tests < TESTS && executionsAfter >= (long) FIRST_TEST << tests) {
            tests++;
        }
        return tests;
    }

    /**
     * The answer at a look.
     *
     * @param minRatio of medians, above 1, below which no change is worth a word
     * @return PENDING where the next look must decide, UNKNOWN where none can
     */
    static PlanVerdict at(int look, PlanLatencyHistory before, PlanLatencyHistory after, double minRatio) {
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
        return settled || look == TESTS ? PlanVerdict.NO_DIFFERENCE : PlanVerdict.PENDING;
    }

    private static double variation(PlanLatencyHistory before) {
        int intervals = before.intervals();
        return intervals < INTERVALS_NEEDED
                ? UNKNOWN_VARIATION
                : (SPREADS + MORE_SPREADS / intervals) * before.spread();
    }
}
