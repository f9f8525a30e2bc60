package io.tailrace.detection.match;

import io.tailrace.detection.event.FieldValue;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import java.time.temporal.IsoFields;
import java.time.temporal.TemporalField;

/** Matches a time in ISO 8601 with an offset if one part of it, in UTC, is this number. */
public record DatePartMatcher(Unit unit, long expected) implements ValueMatcher {

    /** Parts of a time. */
    public enum Unit {
        MINUTE(ChronoField.MINUTE_OF_HOUR),
        HOUR(ChronoField.HOUR_OF_DAY),
        DAY(ChronoField.DAY_OF_MONTH),
        WEEK(IsoFields.WEEK_OF_WEEK_BASED_YEAR),
        MONTH(ChronoField.MONTH_OF_YEAR),
        YEAR(ChronoField.YEAR);

        private final TemporalField field;

        Unit(TemporalField field) {
            this.field = field;
        }
    }

    @Override
    public boolean test(FieldValue value) {
        try {
            OffsetDateTime time = OffsetDateTime.parse(value.text()).withOffsetSameInstant(ZoneOffset.UTC);
            return time.getLong(unit.field) == expected;
        } catch (DateTimeException e) {
            return false;
        }
    }
}
