package io.tailrace.cli.command;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeParseException;
import java.util.Optional;

/** Parses times on the command line. */
final class TimeArgument {

    /** The accepted forms, for messages. */
    static final String FORMS = "2026-11-21T02:49:03Z, 2026-11-21 02:49 or 2026-11-21 (in --tz), or 2h, 30m, 3d ago";

    private static final int DATE_LENGTH = "2026-11-21".length();

    private TimeArgument() {}

    /** Returns the time of a text; empty if it is not valid. */
    static Optional<Instant> parse(String text, ZoneId zone, Instant now) {
        if (text.matches("\\d{1,9}[smhdw]")) {
            return Optional.of(now.minus(duration(text)));
        }
        try {
            return Optional.of(absolute(text.replace(' ', 'T'), zone));
        } catch (DateTimeParseException e) {
            return Optional.empty();
        }
    }

    private static Duration duration(String text) {
        long count = Long.parseLong(text.substring(0, text.length() - 1));
        return switch (text.charAt(text.length() - 1)) {
            case 's' -> Duration.ofSeconds(count);
            case 'm' -> Duration.ofMinutes(count);
            case 'h' -> Duration.ofHours(count);
            case 'd' -> Duration.ofDays(count);
            default -> Duration.ofDays(7 * count);
        };
    }

    private static Instant absolute(String text, ZoneId zone) {
        if (text.length() <= DATE_LENGTH) {
            return LocalDate.parse(text).atStartOfDay(zone).toInstant();
        }
        boolean ownZone = text.endsWith("Z") || text.lastIndexOf('+') > 0 || text.lastIndexOf('-') > DATE_LENGTH;
        return ownZone
                ? OffsetDateTime.parse(text).toInstant()
                : LocalDateTime.parse(text).atZone(zone).toInstant();
    }
}
