package io.tailrace.detection.detector;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** The event times of the first and the latest observation of an entity, in microseconds since 1970 UTC. */
public final class ObservedPeriod {

    private long first = Long.MAX_VALUE;
    private long latest = Long.MIN_VALUE;

    /** Returns the first time; Long.MAX_VALUE if there is none. */
    public long first() {
        return first;
    }

    /** Returns the latest time; Long.MIN_VALUE if there is none. */
    public long latest() {
        return latest;
    }

    /** Returns whether the first observation was at least this long before a time; false if there was none. */
    public boolean hasLasted(long micros, long until) {
        return until - first >= micros;
    }

    /** Adds the time of an observation. */
    public void extend(long micros) {
        first = Math.min(first, micros);
        latest = Math.max(latest, micros);
    }

    /** Writes 16 bytes. */
    public void write(DataOutput out) throws IOException {
        out.writeLong(first);
        out.writeLong(latest);
    }

    /** Reads the output of {@link #write}. */
    public void read(DataInput in) throws IOException {
        first = in.readLong();
        latest = in.readLong();
    }
}
