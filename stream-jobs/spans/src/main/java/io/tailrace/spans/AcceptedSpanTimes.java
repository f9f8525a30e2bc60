package io.tailrace.spans;

import io.opentelemetry.proto.trace.v1.Span;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * Determines which start times are accepted: not older than the table's retention, and at most a day ahead. Not
 * thread-safe.
 */
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

    /** Returns what is wrong with a span's start; empty if it is valid. */
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

    /** Converts the field, which is unsigned. */
    private static Instant time(long nanos) {
        long second = TimeUnit.SECONDS.toNanos(1);
        return Instant.ofEpochSecond(Long.divideUnsigned(nanos, second), Long.remainderUnsigned(nanos, second));
    }
}
