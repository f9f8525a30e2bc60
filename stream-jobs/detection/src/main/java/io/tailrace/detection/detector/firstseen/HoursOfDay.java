package io.tailrace.detection.detector.firstseen;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** The hours of the day (UTC) at which an entity was active. Those of the newest day count from the next day on. */
final class HoursOfDay {

    private static final int HOURS = 24;
    private static final int ALL = (1 << HOURS) - 1;
    /** Number of hours before and after one in which activity is usual, too. */
    private static final int AROUND = 2;

    private int earlier;
    private int ofDay;
    private int day = Integer.MIN_VALUE;

    /** Returns all hours, for an entity whose hours are unknown. */
    static HoursOfDay all() {
        HoursOfDay all = new HoursOfDay();
        all.earlier = ALL;
        all.day = 0;
        return all;
    }

    boolean isUnused() {
        return day == Integer.MIN_VALUE;
    }

    /** Adds an hour with activity; returns false if it was known. */
    boolean add(long micros) {
        int hour = ExpiringValueSet.hour(micros);
        int of = Math.floorDiv(hour, HOURS);
        int bit = 1 << Math.floorMod(hour, HOURS);
        if (of > day) {
            earlier |= ofDay;
            ofDay = bit;
            day = of;
            return true;
        }
        int before = of == day ? ofDay : earlier;
        if (of == day) {
            ofDay |= bit;
        } else {
            earlier |= bit;
        }
        return (before & bit) == 0;
    }

    /** Returns whether there was no activity within two hours of a time, on any day before the newest one. */
    boolean isAway(long micros) {
        int hour = Math.floorMod(ExpiringValueSet.hour(micros), HOURS);
        int around = 0;
        for (int i = -AROUND; i <= AROUND; i++) {
            around |= 1 << Math.floorMod(hour + i, HOURS);
        }
        return (earlier & around) == 0;
    }

    void write(DataOutput out) throws IOException {
        boolean used = day != Integer.MIN_VALUE;
        out.writeBoolean(used);
        if (used) {
            out.writeInt(earlier);
            out.writeInt(ofDay);
            out.writeInt(day);
        }
    }

    static HoursOfDay read(DataInput in) throws IOException {
        HoursOfDay read = new HoursOfDay();
        if (in.readBoolean()) {
            read.earlier = in.readInt();
            read.ofDay = in.readInt();
            read.day = in.readInt();
        }
        return read;
    }
}
