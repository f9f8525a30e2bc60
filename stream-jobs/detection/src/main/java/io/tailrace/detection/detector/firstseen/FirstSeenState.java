package io.tailrace.detection.detector.firstseen;

import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.detector.DetectorState;
import io.tailrace.detection.detector.ObservedPeriod;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** The known values of an entity. */
final class FirstSeenState implements DetectorState {

    private static final byte OLDEST_VERSION = 1;
    private static final byte WITHOUT_CLASSES = 2;
    private static final byte WITHOUT_MANY = 3;
    private static final byte WITHOUT_HOURS = 4;
    private static final byte WITHOUT_FIRST_DAY = 5;
    private static final byte WITHOUT_ADDED = 6;
    private static final byte VERSION = 7;

    /** The state was read from an older version, and no event has arrived since. */
    private static final long NOT_YET = Long.MAX_VALUE;

    final ObservedPeriod observed = new ObservedPeriod();
    long latestNew = Long.MIN_VALUE;
    boolean restless;
    /** Whether the entity accessed a data class. States of version 2 do not contain it; it is true for them. */
    boolean classesKnown;

    /** Whether the entity had no new value in the settling period before this day's first one. */
    boolean settled;
    /** New values of the day without those of catalogues and schema changes. */
    int countedToday;

    /** Since when {@link AddedValues} are observed, microseconds. */
    private long addedSince = Long.MIN_VALUE;

    HoursOfDay hours = new HoursOfDay();
    DailyNoveltyCounter today = new DailyNoveltyCounter(0);
    ExpiringValueSet values = new ExpiringValueSet();

    /** Returns whether values that older versions did not observe are still learned. */
    boolean learnsAdded(long micros, long learningMicros) {
        addedSince = addedSince == NOT_YET ? micros : addedSince;
        return addedSince != Long.MIN_VALUE && micros - addedSince < learningMicros;
    }

    @Override
    public long latestMicros() {
        return observed.latest();
    }

    @Override
    public void write(DataOutput out) throws IOException {
        out.writeByte(VERSION);
        observed.write(out);
        out.writeLong(latestNew);
        out.writeBoolean(restless);
        today.write(out);
        values.write(out);
        out.writeBoolean(classesKnown);
        out.writeBoolean(settled);
        out.writeInt(countedToday);
        hours.write(out);
        out.writeBoolean(addedSince != Long.MIN_VALUE);
        if (addedSince != Long.MIN_VALUE) {
            out.writeLong(addedSince);
        }
    }

    @Override
    public void read(DataInput in) throws IOException {
        byte version = DetectorDefinition.requireVersion(in, OLDEST_VERSION, VERSION);
        observed.read(in);
        latestNew = in.readLong();
        restless = in.readBoolean();
        today = version == OLDEST_VERSION ? DailyNoveltyCounter.readFirstVersion(in) : DailyNoveltyCounter.read(in);
        values = ExpiringValueSet.read(in);
        classesKnown = version <= WITHOUT_CLASSES || in.readBoolean();
        settled = version > WITHOUT_MANY && in.readBoolean();
        countedToday = version > WITHOUT_MANY ? in.readInt() : 0;
        hours = version > WITHOUT_HOURS ? HoursOfDay.read(in, version > WITHOUT_FIRST_DAY) : new HoursOfDay();
        if (version <= WITHOUT_ADDED) {
            addedSince = NOT_YET;
        } else {
            addedSince = in.readBoolean() ? in.readLong() : Long.MIN_VALUE;
        }
    }
}
