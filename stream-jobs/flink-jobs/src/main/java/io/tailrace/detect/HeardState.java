package io.tailrace.detect;

/**
 * What is known of an instance.
 *
 * @param cluster it belongs to
 * @param newestMicros time of its newest census, never ahead of this machine's clock, microseconds since 1970 UTC
 * @param heardAt when that came, milliseconds since 1970 UTC of this machine's clock
 * @param saidOn on which day of this silence it was last said, from 0; -1 if it was not
 */
// The names of this class and of its components are in checkpoints: do not rename or move them.
public record HeardState(String cluster, long newestMicros, long heardAt, long saidOn) {

    public static final long NEVER = -1;

    public HeardState withAlertDay(long day) {
        return new HeardState(cluster, newestMicros, heardAt, day);
    }
}
