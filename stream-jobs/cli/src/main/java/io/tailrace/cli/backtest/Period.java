package io.tailrace.cli.backtest;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A time range of events of some servers.
 *
 * @param from first event time, microseconds since 1970 UTC
 * @param to end of the event times, exclusive, microseconds since 1970 UTC
 * @param instances servers; empty: all
 */
public record Period(long from, long to, List<String> instances) {

    private static final DateTimeFormatter MICROS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSSSSS").withZone(ZoneOffset.UTC);

    Period between(long start, long end) {
        return new Period(start, end, instances);
    }

    /** Returns the condition on rows in SQL. */
    String condition() {
        String times = "event_time >= " + literal(from) + " AND event_time < " + literal(to);
        return instances.isEmpty()
                ? times
                : times
                        + instances.stream()
                                .map(EventStore::quoted)
                                .collect(Collectors.joining(", ", " AND instance IN (", ")"));
    }

    private static String literal(long micros) {
        return "toDateTime64('" + MICROS.format(Instant.EPOCH.plus(micros, ChronoUnit.MICROS)) + "', 6, 'UTC')";
    }
}
