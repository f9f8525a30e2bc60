package io.tailrace.detection.detector.volume;

import io.tailrace.detection.detector.DetectorOptions;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The normal amount of an hour: the median of comparable hours and their median absolute deviation. Both are on a
 * logarithmic scale, because amounts differ by factors. A few bursts change neither.
 *
 * @param threshold amount above which an hour is unusual; infinite if there are too few hours
 * @param median median amount of the comparable hours, raised by the growth of the last week
 * @param hours number of comparable hours
 * @param seasonal whether these are the same hour of other weeks and its neighbours; otherwise all hours with an amount
 */
public record HourlyBaseline(double threshold, double median, int hours, boolean seasonal) {

    static final HourlyBaseline NONE = new HourlyBaseline(Double.POSITIVE_INFINITY, 0, 0, false);

    /** Factor that makes a median absolute deviation comparable to a standard deviation. */
    private static final double NORMAL = 1.4826;
    /** Half a doubling: an hour is not unusual only because all others were equal. */
    private static final double MIN_SPREAD = HourlyHistory.STEPS / 2.0;

    private static final int STEPS = 256;
    private static final int HOURS_PER_DAY = 24;
    /** Amounts of the last days are no habit: an attacker who repeats them every day is reported until then. */
    private static final int HABIT_DAYS = 6;
    /** Number of hours with an amount from which on the level of a week is known. */
    private static final int MIN_HOURS_OF_WEEK = 10;

    /**
     * Limits of an unusual hour.
     *
     * @param deviations number of deviations from the median
     * @param atLeast amount below which no hour is unusual
     * @param seasonalHours number of hours needed to compare with the same hour of other weeks only
     * @param hours number of hours needed to compare with all hours
     */
    public record Limits(double deviations, double atLeast, int seasonalHours, int hours) {

        public static Limits of(DetectorOptions settings, int atLeast) {
            return new Limits(
                    settings.number("deviations", 6, 1, 100),
                    settings.number("min_amount", atLeast, 1, 1e12),
                    settings.whole("seasonal_hours", 6, 3, 3 * HourlyHistory.WEEKS),
                    settings.whole("hours", 24, 3, HourlyHistory.HOURS));
        }
    }

    /**
     * Computes the baseline of an hour. Hours without an amount are ignored. The threshold is at least half a doubling above
     * the largest amount that this time of the day had twice: six or more days before, and another six or more days earlier.
     * Jobs of a week repeat it. One large hour is no habit, because it may be the hour of an attack.
     */
    static HourlyBaseline of(HourlyHistory ring, int hour, Limits limits) {
        HourlyBaseline usual = ofMedian(ring, hour, limits);
        double habit = HourlyHistory.amount(habit(ring, hour));
        return habit == 0 || usual == NONE
                ? usual
                : new HourlyBaseline(Math.max(usual.threshold, habit), usual.median, usual.hours, usual.seasonal);
    }

    private static double habit(HourlyHistory ring, int hour) {
        int twice = 0;
        int largestBefore = 0;
        for (int day = HourlyHistory.HOURS / HOURS_PER_DAY - 1; day >= HABIT_DAYS; day--) {
            largestBefore = Math.max(largestBefore, around(ring, hour, day + HABIT_DAYS));
            twice = Math.max(twice, Math.min(around(ring, hour, day), largestBefore));
        }
        return twice == 0 ? 0 : twice + MIN_SPREAD;
    }

    /** Returns the largest step of the same hour of an earlier day and its neighbours; 0 if the day is not stored. */
    private static int around(HourlyHistory ring, int hour, int daysBefore) {
        int same = hour - daysBefore * HOURS_PER_DAY;
        return Math.max(ring.step(same), Math.max(ring.step(same - 1), ring.step(same + 1)));
    }

    private static HourlyBaseline ofMedian(HourlyHistory ring, int hour, Limits limits) {
        int[] counts = new int[STEPS];
        int seasonal = countSeason(ring, hour, counts);
        int[] counted = new int[STEPS];
        int all = countAll(ring, hour, counted);
        if (seasonal >= limits.seasonalHours) {
            return of(counts, seasonal, true, limits, growth(ring, hour, counted, all));
        }
        return all >= limits.hours ? of(counted, all, false, limits, growth(ring, hour, counted, all)) : NONE;
    }

    /**
     * Returns the steps by which the hours of the last week exceed those of all stored weeks, at most one doubling. Past
     * amounts are raised by it, so that slow growth is not unusual.
     */
    private static int growth(HourlyHistory ring, int hour, int[] counted, int all) {
        int[] counts = new int[STEPS];
        int found = 0;
        for (int other = hour - HourlyHistory.WEEK; other < hour; other++) {
            found += count(ring.step(other), counts);
        }
        if (found < MIN_HOURS_OF_WEEK || all < 2 * found) {
            return 0;
        }
        return Math.max(0, Math.min(HourlyHistory.STEPS, median(counts, found) - median(counted, all)));
    }

    private static int countSeason(HourlyHistory ring, int hour, int[] counts) {
        int found = 0;
        for (int week = 1; week <= HourlyHistory.WEEKS; week++) {
            for (int neighbour = -1; neighbour <= 1; neighbour++) {
                found += count(ring.step(hour - week * HourlyHistory.WEEK + neighbour), counts);
            }
        }
        return found;
    }

    private static int countAll(HourlyHistory ring, int hour, int[] counts) {
        int found = 0;
        for (int other = ring.newest() - HourlyHistory.HOURS + 1; other <= ring.newest(); other++) {
            found += other == hour ? 0 : count(ring.step(other), counts);
        }
        return found;
    }

    private static int count(int step, int[] counts) {
        counts[step] += step == 0 ? 0 : 1;
        return step == 0 ? 0 : 1;
    }

    private static HourlyBaseline of(int[] counts, int hours, boolean seasonal, Limits limits, int growth) {
        int median = median(counts, hours);
        int[] distances = new int[STEPS];
        for (int step = 1; step < STEPS; step++) {
            distances[Math.abs(step - median)] += counts[step];
        }
        double spread = Math.max(MIN_SPREAD, NORMAL * median(distances, hours));
        double threshold = HourlyHistory.amount(median + growth + limits.deviations * spread);
        double expected = HourlyHistory.amount(median + growth);
        return new HourlyBaseline(Math.max(limits.atLeast, threshold), expected, hours, seasonal);
    }

    static int median(int[] counts, int total) {
        int seen = 0;
        int step = -1;
        while (2 * seen < total) {
            seen += counts[++step];
        }
        return step;
    }

    void write(DataOutput out) throws IOException {
        out.writeDouble(threshold);
        out.writeDouble(median);
        out.writeInt(hours);
        out.writeBoolean(seasonal);
    }

    static HourlyBaseline read(DataInput in) throws IOException {
        return new HourlyBaseline(in.readDouble(), in.readDouble(), in.readInt(), in.readBoolean());
    }
}
