package io.tailrace.detection.detector.volume;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * Hourly totals of the last five weeks, one byte each: eight steps per doubling, so a total is known to 5 %. An hour
 * without an amount is 0.
 */
final class HourlyHistory {

    static final int WEEK = 168;
    static final int WEEKS = 5;
    static final int HOURS = WEEKS * WEEK;
    /** Steps per doubling. */
    static final int STEPS = 8;

    private static final int MAX_VALUE = 255;

    private final byte[] totals = new byte[HOURS];
    private int newest = Integer.MIN_VALUE;

    /** Makes space for an hour; returns false if it is too old. */
    boolean turnTo(int hour) {
        if (newest == Integer.MIN_VALUE) {
            newest = hour;
        }
        for (int passed = Math.max(newest + 1, hour - HOURS + 1); passed <= hour; passed++) {
            totals[Math.floorMod(passed, HOURS)] = 0;
        }
        newest = Math.max(newest, hour);
        return hour > newest - HOURS;
    }

    /** Returns the step of an hour's total; 0 if there was no amount, or if the hour is not stored. */
    int step(int hour) {
        return hour <= newest && hour > newest - HOURS ? totals[Math.floorMod(hour, HOURS)] & 0xff : 0;
    }

    int newest() {
        return newest;
    }

    double total(int hour) {
        return amount(step(hour));
    }

    /** Sets the total of an hour for which there is space. */
    void set(int hour, double total) {
        totals[Math.floorMod(hour, HOURS)] = (byte) step(total);
    }

    static int step(double amount) {
        if (amount < 1) {
            return 0;
        }
        return (int) Math.min(MAX_VALUE, 1 + Math.round(STEPS * Math.log(amount) / Math.log(2)));
    }

    static double amount(double step) {
        return step <= 0 ? 0 : Math.pow(2, (step - 1) / STEPS);
    }

    void write(DataOutput out) throws IOException {
        out.writeInt(newest);
        out.write(totals);
    }

    static HourlyHistory read(DataInput in) throws IOException {
        HourlyHistory ring = new HourlyHistory();
        ring.newest = in.readInt();
        in.readFully(ring.totals);
        return ring;
    }
}
