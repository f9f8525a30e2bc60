package io.tailrace.detection.detector.volume;

import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;

/** The distinct tables of a day, and their numbers on earlier days. */
final class TablesOfDay {

    private static final int NEVER = Integer.MIN_VALUE / 2;

    private DailyHistory history = new DailyHistory();
    private CardinalityEstimator distinct = new CardinalityEstimator();
    private int day = NEVER;
    private int firedDay = NEVER;

    int day() {
        return day;
    }

    double total() {
        return Math.rint(distinct.estimate());
    }

    /** Counts tables; returns false if they are not new, or if the day is over. */
    boolean add(int ofDay, List<String> tables) {
        if (ofDay < day) {
            return false;
        }
        if (ofDay > day) {
            day = ofDay;
            distinct = new CardinalityEstimator();
            history.turnTo(day);
        }
        boolean added = false;
        for (String table : tables) {
            added |= distinct.add(ExpiringValueSet.hash(table));
        }
        if (added) {
            history.set(day, total());
        }
        return added;
    }

    /** Returns what is usual for a day; empty days do not count. */
    DailyHistory.Baseline baseline(double deviations, double atLeast) {
        return total() > atLeast
                ? history.baseline(day, deviations, atLeast)
                : new DailyHistory.Baseline(atLeast, 0, 0);
    }

    /** Returns whether the day has just become unusual. */
    boolean fires(DailyHistory.Baseline past) {
        if (firedDay == day || past.days() == 0 || total() <= past.threshold()) {
            return false;
        }
        firedDay = day;
        return true;
    }

    void write(DataOutput out) throws IOException {
        out.writeBoolean(day != NEVER);
        if (day != NEVER) {
            history.write(out);
            distinct.write(out);
            out.writeInt(day);
            out.writeInt(firedDay);
        }
    }

    static TablesOfDay read(DataInput in) throws IOException {
        TablesOfDay read = new TablesOfDay();
        if (in.readBoolean()) {
            read.history = DailyHistory.read(in);
            read.distinct = CardinalityEstimator.read(in);
            read.day = in.readInt();
            read.firedDay = in.readInt();
        }
        return read;
    }
}
