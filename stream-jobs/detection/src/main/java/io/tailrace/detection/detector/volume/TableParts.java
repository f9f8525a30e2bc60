package io.tailrace.detection.detector.volume;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** The days of one verb on one table whose rows an account takes in parts, and its largest hour. */
final class TableParts {

    /** An hour with more than this many times the lookups of the largest earlier one is unusual. */
    private static final int HOURS_VARY = 4;

    /** An hour is compared with those of at least so many earlier days. */
    private static final int MIN_DAYS = 5;

    private static final int NEVER = Integer.MIN_VALUE / 2;

    final long hash;
    DailyHistory days = new DailyHistory();
    int today;
    int firedDay = NEVER;
    /** The latest hour, since 1970, and its statements. */
    private int hour = NEVER;

    int ofHour;
    private int largestToday;
    /** The largest hour of the days before, and their number. */
    int largest;

    private int daysOfHours;

    TableParts(long hash) {
        this.hash = hash;
    }

    /**
     * Counts a statement; an hour that was far above the others raises the largest one to its limit only.
     *
     * @param weight number of statements that it represents
     */
    void count(int day, int now, double atLeastOfHour, int weight) {
        if (day != days.newest()) {
            largest = (int) Math.max(largest, Math.min(largestToday, limitOfHour(atLeastOfHour)));
            daysOfHours += largestToday > 0 ? 1 : 0;
            largestToday = 0;
        }
        today = day == days.newest() ? today + weight : weight;
        days.turnTo(day);
        days.set(day, today);
        if (now > hour) {
            hour = now;
            ofHour = 0;
        }
        ofHour += now == hour ? weight : 0;
        largestToday = Math.max(largestToday, ofHour);
    }

    double limitOfHour(double atLeast) {
        return Math.max(atLeast, HOURS_VARY * largest);
    }

    /** Returns whether the latest hour is far above those of the days before. */
    boolean hasUnusualHour(double atLeast) {
        return daysOfHours >= MIN_DAYS && ofHour > limitOfHour(atLeast);
    }

    void write(DataOutput out) throws IOException {
        out.writeLong(hash);
        days.write(out);
        out.writeInt(today);
        out.writeInt(firedDay);
        out.writeInt(hour);
        out.writeInt(ofHour);
        out.writeInt(largestToday);
        out.writeInt(largest);
        out.writeInt(daysOfHours);
    }

    /** @param hasHours whether the state contains hours; they are counted from now on otherwise */
    static TableParts read(DataInput in, boolean hasHours) throws IOException {
        TableParts read = new TableParts(in.readLong());
        read.days = DailyHistory.read(in);
        read.today = in.readInt();
        read.firedDay = in.readInt();
        if (hasHours) {
            read.hour = in.readInt();
            read.ofHour = in.readInt();
            read.largestToday = in.readInt();
            read.largest = in.readInt();
            read.daysOfHours = in.readInt();
        }
        return read;
    }
}
