package io.tailrace.flink.parsing;

import java.io.Serializable;
import java.time.Duration;
import java.time.Instant;

/**
 * The event times that a table accepts. ClickHouse would delete older rows on insert; a time far in the future is that
 * of a wrong clock, and would be in partitions that no query reads.
 *
 * @param retention retention of the table
 */
public record AcceptedTimeRange(Duration retention) implements Serializable {

    private static final Duration MAX_AHEAD = Duration.ofHours(24);

    /** Returns the error of an event's time; empty if it is accepted. */
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
