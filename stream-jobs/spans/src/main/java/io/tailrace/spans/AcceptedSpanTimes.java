package io.tailrace.spans;

import io.opentelemetry.proto.trace.v1.Span;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/** Which start times the table takes: not older than its retention, and at most a day ahead. Not thread-safe. */
final class AcceptedSpanTimes {

    private static final Duration MAX_AHEAD = Duration.ofHours(24);

    private final Duration retention;
    private long earliest;
    private long latest;

    AcceptedSpanTimes(Duration retention) {
        this.retention = retention;
    }

    void setNow(Instant now) {
        earliest = nanos(now.minus(retention));
        latest = nanos(now.plus(MAX_AHEAD));
    }

    /** What is wrong with a span's start; empty for a good one. */
    String validationError(Span span) {
        long start = span.getStartTimeUnixNano();
        if (start < 0 || start > latest) {
            return "start " + time(start) + " is more than " + MAX_AHEAD.toHours() + " hours in the future";
        }
        return start < earliest
                ? "start " + time(start) + " is older than the retention of " + retention.toDays() + " days"
                : "";
    }

    private static long nanos(Instant time) {
        return TimeUnit.SECONDS.toNanos(time.getEpochSecond()) + time.getNano();
    }

    /** The field is unsigned. */
    private static Instant time(long nanos) {
        long second = TimeUnit.SECONDS.toNanos(1);
        return Instant.ofEpochSecond(Long.divideUnsigned(nanos, second), Long.remainderUnsigned(nanos, second));
    }
}
