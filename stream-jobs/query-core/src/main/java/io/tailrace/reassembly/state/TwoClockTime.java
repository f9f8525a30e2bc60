package io.tailrace.reassembly.state;

/**
 * A time by two clocks. A single clock does not show how long something was waited for: the job's clock continues
 * while the broker, the collector or the job itself is down; the collector's clock jumps when its buffered data
 * arrives all together.
 *
 * @param job epoch milliseconds of the clock that timeouts use
 * @param collector epoch milliseconds of the newest line or census of the log; 0 before the first one
 */
public record TwoClockTime(long job, long collector) {

    public static final TwoClockTime NEVER = new TwoClockTime(0, 0);

    /** Returns the later of two times, by each clock. */
    public TwoClockTime max(TwoClockTime other) {
        return new TwoClockTime(Math.max(job, other.job), Math.max(collector, other.collector));
    }

    /** Returns whether this duration has passed by both clocks. */
    public boolean isPast(long millis, TwoClockTime now) {
        return now.job - job >= millis && now.collector - collector >= millis;
    }

    public void save(StateWriter out) {
        out.number(job);
        out.number(collector);
    }

    public static TwoClockTime restore(StateReader in) {
        long job = in.number();
        return new TwoClockTime(job, in.version() < StateVersion.WITH_TWO_CLOCKS ? job : in.number());
    }
}
