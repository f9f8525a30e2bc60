package io.tailrace.detection.detector.volume;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Map;

/**
 * Daily amounts of the last five weeks (UTC), one byte each on the scale of {@link HourlyHistory}. A day without an amount
 * is 0.
 */
public final class DailyHistory {

    public static final int DAYS = 35;

    private static final int STEPS = 256;
    /** A quarter of a doubling: days differ less than hours. */
    private static final double MIN_SPREAD = HourlyHistory.STEPS / 4.0;

    private static final double NORMAL = 1.4826;
    /** A day is not unusual if an earlier one was nearly as large, such as that of a weekly or monthly job. */
    private static final double ABOVE_LARGEST = 1.5;
    /** A day of more than twice the largest one is unusual, however much the days differ. */
    private static final double FAR_ABOVE_LARGEST = 2;
    /** The largest of fewer days says little. */
    private static final int MIN_DAYS = 5;

    private final byte[] totals = new byte[DAYS];
    private int newest = Integer.MIN_VALUE;

    /**
     * The past of an entity before a day.
     *
     * @param threshold amount above which the day is unusual
     * @param median median amount of the earlier days that have one; 0 if there are none
     * @param days number of earlier days that have an amount
     */
    public record Baseline(double threshold, double median, int days) {

        /** Adds the facts of an alert about a day with an unusual amount. */
        public void describe(Map<String, String> facts) {
            facts.put("threshold", Long.toString(Math.round(threshold)));
            facts.put("baseline_median", Long.toString(Math.round(median)));
            facts.put("baseline_days", Integer.toString(days));
        }
    }

    /** Makes space for a day; returns false if it is too old. */
    public boolean turnTo(int day) {
        if (newest == Integer.MIN_VALUE) {
            newest = day;
        }
        for (int passed = Math.max(newest + 1, day - DAYS + 1); passed <= day; passed++) {
            totals[Math.floorMod(passed, DAYS)] = 0;
        }
        newest = Math.max(newest, day);
        return day > newest - DAYS;
    }

    public int newest() {
        return newest;
    }

    private int step(int day) {
        return day <= newest && day > newest - DAYS ? totals[Math.floorMod(day, DAYS)] & 0xff : 0;
    }

    /** Returns the amount of a day, accurate to 5 %. */
    public double amount(int day) {
        return HourlyHistory.amount(step(day));
    }

    /** Returns the amount of the days from one to another, both included. */
    public double amount(int from, int to) {
        double sum = 0;
        for (int day = from; day <= to; day++) {
            sum += amount(day);
        }
        return sum;
    }

    /** Sets the amount of a day for which there is space. */
    public void set(int day, double amount) {
        totals[Math.floorMod(day, DAYS)] = (byte) HourlyHistory.step(amount);
    }

    /**
     * Computes what is usual for an entity, from the stored days before a day.
     *
     * @param deviations number of median absolute deviations from the median
     * @param atLeast amount below which no day is unusual
     */
    public Baseline baseline(int day, double deviations, double atLeast) {
        int[] counts = new int[STEPS];
        int days = 0;
        int largest = 0;
        for (int past = Math.max(newest - DAYS + 1, day - DAYS); past < day; past++) {
            int step = step(past);
            counts[step] += step == 0 ? 0 : 1;
            days += step == 0 ? 0 : 1;
            largest = Math.max(largest, step);
        }
        if (days == 0) {
            return new Baseline(atLeast, 0, 0);
        }
        int median = HourlyBaseline.median(counts, days);
        int[] distances = new int[STEPS];
        for (int step = 1; step < STEPS; step++) {
            distances[Math.abs(step - median)] += counts[step];
        }
        double spread = Math.max(MIN_SPREAD, NORMAL * HourlyBaseline.median(distances, days));
        double unusual = HourlyHistory.amount(median + deviations * spread);
        double peak = HourlyHistory.amount(largest);
        double bounded = days < MIN_DAYS ? unusual : Math.min(unusual, FAR_ABOVE_LARGEST * peak);
        double threshold = Math.max(bounded, ABOVE_LARGEST * peak);
        return new Baseline(Math.max(atLeast, threshold), HourlyHistory.amount(median), days);
    }

    public void write(DataOutput out) throws IOException {
        out.writeInt(newest);
        out.write(totals);
    }

    public static DailyHistory read(DataInput in) throws IOException {
        DailyHistory history = new DailyHistory();
        history.newest = in.readInt();
        in.readFully(history.totals);
        return history;
    }
}
