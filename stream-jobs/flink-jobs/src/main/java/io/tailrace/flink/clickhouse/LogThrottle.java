package io.tailrace.flink.clickhouse;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

/** Limits repeated warnings in the log: a warning is due if it differs from the last one, or after some time. */
final class LogThrottle {

    private static final Duration INTERVAL = Duration.ofMinutes(1);

    private record Complaint(String reason, long nanoTime) {}

    private final AtomicReference<Complaint> last = new AtomicReference<>();

    /** Returns whether the warning is to be logged now. Only one of several concurrent callers receives true. */
    boolean isDue(String reason) {
        Complaint before = last.get();
        long now = System.nanoTime();
        boolean due = before == null
                || now - before.nanoTime() > INTERVAL.toNanos()
                || !before.reason().equals(reason);
        return due && last.compareAndSet(before, new Complaint(reason, now));
    }

    /** Records that the problem has ended; returns whether there was one. */
    boolean end() {
        return last.getAndSet(null) != null;
    }
}
