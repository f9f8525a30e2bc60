package io.tailrace.reassembly;

/**
 * A moment by two clocks, because neither alone tells how long something was waited for: the job's goes on while the
 * broker, the collector or the job itself is down, the collector's leaps when what it had kept comes at once.
 *
 * @param job epoch milliseconds of the clock that timeouts go by
 * @param collector epoch milliseconds of the newest line or census of the log; 0 before the first one
 */
record TwoClockTime(long job, long collector) {

    static final TwoClockTime NEVER = new TwoClockTime(0, 0);

    /** The later of two moments, by each clock. */
    TwoClockTime max(TwoClockTime other) {
        return new TwoClockTime(Math.max(job, other.job), Math.max(collector, other.collector));
    }

    /** Whether so much time has passed by both clocks. */
    boolean isPast(long millis, TwoClockTime now) {
        return now.job - job >= millis && now.collector - collector >= millis;
    }

    void save(StateWriter out) {
        out.number(job);
        out.number(collector);
    }

    static TwoClockTime restore(StateReader in) {
        long job = in.number();
        return new TwoClockTime(job, in.version() < LogReassembler.WITH_TWO_CLOCKS ? job : in.number());
    }
}
