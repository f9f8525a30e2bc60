"""Values of --from and --to."""

from datetime import UTC, datetime

import pytest

from tailrace.evidence.period import Period, PeriodError

NOW = datetime(2026, 11, 22, 4, 30, 12, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("first", "end", "period"),
    [
        ("2026-11-01", "2026-11-20", "2026-11-01 00:00 UTC to 2026-11-21 00:00 UTC"),
        ("2026-11-21", "2026-11-21", "2026-11-21 00:00 UTC to 2026-11-22 00:00 UTC"),
        ("2026-11-21T08:30", "now", "2026-11-21 08:30 UTC to 2026-11-22 04:30 UTC"),
        ("2026-11-21T08:30+02:00", "2026-11-22T04:30Z", "2026-11-21 06:30 UTC to 2026-11-22 04:30 UTC"),
    ],
)
def test_days_and_times_in_utc(first, end, period):
    assert str(Period.parse(first, end, NOW)) == period


@pytest.mark.parametrize(
    ("first", "end", "message"),
    [
        ("2026-11-20", "2026-11-19", "not before"),
        ("2026-11-20T10:00", "2026-11-20T10:00", "not before"),
        ("2026-11-23", "2026-11-24", "in the future"),
        ("now", "now", "not before"),
        ("2026-11-01", "2026-11-22", "not over yet"),
        ("2026-11-01", "2026-13-01", "expected a date"),
        ("yesterday", "now", "expected a date"),
        ("", "now", "expected a date"),
        ("2026-11-20T10:00:30", "now", "seconds"),
        ("0001-01-01", "now", "no log"),
        ("0001-01-01T00:00+14:00", "now", "expected a date"),
        ("2026-11-01", "9999-12-31", "expected a date"),
    ],
)
def test_invalid_periods_are_refused(first, end, message):
    with pytest.raises(PeriodError, match=message):
        Period.parse(first, end, NOW)
