package io.tailrace.detect;

/**
 * The state of an instance for the census timeout.
 *
 * @param cluster cluster of the instance
 * @param newestMicros time of its newest census, never ahead of this machine's clock, microseconds since 1970 UTC
 * @param heardAt when that census arrived, milliseconds since 1970 UTC of this machine's clock
 * @param saidOn day of the current timeout on which the last alert was raised, from 0; -1 if none was
 */
// Checkpoints contain the names of this class and of its components: do not rename or move them.
public record HeardState(String cluster, long newestMicros, long heardAt, long saidOn) {

    public static final long NEVER = -1;

    public HeardState withAlertDay(long day) {
        return new HeardState(cluster, newestMicros, heardAt, day);
    }
}
