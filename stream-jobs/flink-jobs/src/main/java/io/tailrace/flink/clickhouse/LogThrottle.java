package io.tailrace.flink.clickhouse;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

/** Which warnings are worth a line in the log: another one than the last, or the same a while later. */
final class LogThrottle {

    private static final Duration INTERVAL = Duration.ofMinutes(1);

    private record Complaint(String reason, long nanoTime) {}

    private final AtomicReference<Complaint> last = new AtomicReference<>();

    /** Whether it is to be logged now; one of several threads that ask at once is told so. */
    boolean isDue(String reason) {
        Complaint before = last.get();
        long now = System.nanoTime();
        boolean due = before == null
                || now - before.nanoTime() > INTERVAL.toNanos()
                || !before.reason().equals(reason);
        return due && last.compareAndSet(before, new Complaint(reason, now));
    }

    /** Says that all is well again; returns whether it was not before. */
    boolean end() {
        return last.getAndSet(null) != null;
    }
}
