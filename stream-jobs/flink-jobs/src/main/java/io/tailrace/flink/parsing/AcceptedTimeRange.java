package io.tailrace.flink.parsing;

import java.io.Serializable;
import java.time.Duration;
import java.time.Instant;

/**
 * Which event times a table takes. Older rows would be removed by ClickHouse as they are inserted; a time far in the
 * future is a broken clock, and would lie in partitions that no question looks at.
 *
 * @param retention of the table
 */
public record AcceptedTimeRange(Duration retention) implements Serializable {

    private static final Duration MAX_AHEAD = Duration.ofHours(24);

    /** What is wrong with an event's time; empty for a good one. */
    String validationError(Instant eventTime, Instant now) {
        if (eventTime.isBefore(now.minus(retention))) {
            return "event time " + eventTime + " is older than the retention of " + retention.toDays() + " days";
        }
        if (eventTime.isAfter(now.plus(MAX_AHEAD))) {
            return "event time " + eventTime + " is more than " + MAX_AHEAD.toHours() + " hours in the future";
        }
        return "";
    }
}
