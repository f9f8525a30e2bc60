package io.tailrace.detection.detector.firstseen;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The hours of the day (UTC) at which an entity was active. Those of the newest day count from the next day on. A stored state
 * without hours begins with none, so they say something only some days after the first one.
 */
final class HoursOfDay {

    private static final int HOURS = 24;
    /** Number of hours before and after one in which activity is usual, too. */
    private static final int AROUND = 2;

    private int earlier;
    private int ofDay;
    private int day = Integer.MIN_VALUE;
    /** The first day, days since the epoch; 0 if it is unknown and long ago. */
    private int since;

    /** Adds an hour with activity; returns false if it was known. */
    boolean add(long micros) {
        int hour = ExpiringValueSet.hour(micros);
        int of = Math.floorDiv(hour, HOURS);
        int bit = 1 << Math.floorMod(hour, HOURS);
        since = day == Integer.MIN_VALUE ? of : Math.min(since, of);
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

    /**
     * Returns whether there was no activity within two hours of a time, on any day before the newest one; false if the hours
     * are known for less than the given time.
     */
    boolean isAway(long micros, long learningMicros) {
        if (micros - since * ExpiringValueSet.DAY < learningMicros) {
            return false;
        }
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
            out.writeInt(since);
        }
    }

    /** @param hasSince whether the first day is stored */
    static HoursOfDay read(DataInput in, boolean hasSince) throws IOException {
        HoursOfDay read = new HoursOfDay();
        if (in.readBoolean()) {
            read.earlier = in.readInt();
            read.ofDay = in.readInt();
            read.day = in.readInt();
            read.since = hasSince ? in.readInt() : 0;
        }
        return read;
    }
}
