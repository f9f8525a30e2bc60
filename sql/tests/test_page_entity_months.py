"""Tests long ranges of the pages of entities: bars of days, which are read from entities_1d."""

from collections import Counter
from datetime import datetime, timedelta

import pytest
from entity_rows import BEGIN, reading
from security_rows import NOW, audit, denied_message, identity_of, login, refused, slow

from tailrace_pages.entities import overview
from tailrace_pages.entities.reading import Reading
from tailrace_pages.time_range import TimeRange

__all__ = ["reading"]  # fixture


LONG = TimeRange(BEGIN - timedelta(days=30), BEGIN)
"""A range of daily bars. It begins and ends at any time of the day."""


def insert_months(user) -> None:
    """Every five days: logins, refused ones, entries and failed statements of ann from 10.0.3.9. The same two
    hours before and after each end of the range and the one before it."""
    ends = [LONG.until - timedelta(days=each) for each in (0, 30, 60)]
    times = [end + timedelta(hours=each) for end in ends for each in (-2, 2)]
    times += [LONG.until - timedelta(days=each, hours=7) for each in range(2, 60, 5)]
    its = {"user": "ann", "tables_read": ["shop.cards"], "query_id": 5}
    rows: dict[str, list[dict]] = {"audit_events": [], "query_events": [], "error_events": []}
    for time in times:
        # In the middle of an hour: the logs of one action are in one bar.
        at = (NOW - time.replace(minute=30, second=0)).total_seconds() / 60
        rows["audit_events"] += [
            login(at, user="ann"),
            login(at, 1, user="ann", source="general"),
            refused(at, 2, user="ann"),
            audit(at, 3, user="ann", status=1142),
            audit(at, 3, user="bob", ip="10.0.3.8"),
        ]
        rows["query_events"] += [
            slow(at, 4, **its, weight=3),
            slow(at, 5, **its, instance="db2", error_code=1205),
            slow(at, user="bob", ip="", host="h"),
        ]
        rows["error_events"].append(denied_message(at, 2, user="ann", ip="10.0.3.9"))
    for table, its_rows in rows.items():
        user("writer").insert(f"tailrace.{table}", its_rows)


@pytest.fixture
def logged_for_months(admin) -> None:
    """The rows of insert_months (FIRST_ROWS)."""


@pytest.mark.parametrize(("kind", "name"), [("user", "ann"), ("client", "10.0.3.9"), ("table", "shop.cards")])
def test_days_have_the_counts_of_their_records(logged_for_months, reading, monkeypatch, kind, name):
    daily = reading(kind, name, LONG)
    assert {row["bar"].hour for row in daily.timeline if row["is_current"]} == {0}
    assert _kinds(daily) == Counter(row["event_kind"] for row in daily.page("", None)[0])
    monkeypatch.setattr(overview, "width_of", lambda span: overview.HOUR)
    hourly = reading(kind, name, LONG)
    assert _totals(hourly) == _totals(daily)
    assert sum(_totals(daily)[True].values()) > 0 < sum(_totals(daily)[False].values())


@pytest.mark.parametrize(("kind", "name"), [("user", "ann"), ("table", "shop.cards"), ("class", "pci")])
def test_a_range_since_midnight_does_not_count_the_hours_between_it_and_the_earlier_period(
    logged_for_months, stored, reading, monkeypatch, kind, name
):
    midnight = (LONG.since + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    span = TimeRange(midnight, LONG.until)
    before = span.before()
    between = before.until + (midnight - before.until) / 2
    edges = [before.since, before.until - timedelta(seconds=1), midnight, span.until - timedelta(seconds=1)]
    rows = {
        time: audit((NOW - time).total_seconds() / 60, user="ann", tables_read=["shop.cards"])
        for time in (*edges, between)
    }
    its = {"data_class": ["pci"], "data_class_read": ["pci"], "tables": ["shop.cards"], "source": "audit"}

    def store(*times: datetime) -> None:
        stored("audit_events", *(rows[time] for time in times))
        stored(
            "data_access",
            *({**identity_of(rows[time]), **its, "action_id": f"{time}"} for time in times),
        )

    def totals() -> list[dict[bool, Counter[str]]]:
        found = []
        for width in (overview.DAY, overview.HOUR):
            monkeypatch.setattr(overview, "width_of", lambda span, width=width: width)
            found.append(_totals(reading(kind, name, span)))
        return found

    store(*edges)
    expected = totals()
    assert all(each[True].total() > 0 < each[False].total() for each in expected)
    store(between)
    assert totals() == expected


def _kinds(of: Reading) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in of.timeline:
        found.update(row["kinds"] if row["is_current"] else {})
    return found


def _totals(of: Reading) -> dict[bool, Counter[str]]:
    """The numbers of the range (True) and of the period before it."""
    found: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for row in of.timeline:
        found[bool(row["is_current"])].update({each.key: row.get(each.key, 0) for each in of.entity.measures})
    return found


ENTRIES = 2000
"""Of each day of LONG, in two logs."""


def insert_many_records(user) -> None:
    at = f"toDateTime64('{LONG.since:%F} 12:00:00', 6, 'UTC') + toIntervalDay(intDiv(number, {ENTRIES}))"
    who = "concat('10.0.0.', toString(number % 3)), concat('u', toString(number % 2))"
    tables = "[concat('shop.t', toString(number % 2))]"
    for table, log in (("query_events", "slowlog"), ("audit_events", "audit")):
        user("admin").execute(
            f"INSERT INTO tailrace.{table} (instance, source, ip, user, tables_read, event_time) "
            f"SELECT 'db1', '{log}', {who}, {tables}, {at} FROM numbers({30 * ENTRIES})"
        )


FIRST_ROWS = {"logged_for_months": insert_months, "many_records": insert_many_records}


@pytest.fixture
def many_records(admin) -> None:
    """The rows of insert_many_records (FIRST_ROWS)."""


@pytest.mark.parametrize(("kind", "name"), [("user", "u1"), ("client", "10.0.0.1"), ("table", "shop.t1")])
def test_months_of_an_entity_are_read_from_days(many_records, reading, kind, name):
    """Only the days in which a period begins or ends are read from their rows."""
    of = reading(kind, name, LONG)
    assert sum(_kinds(of).values()) > 0
    assert of.store.rows_read[-1] < 30 * ENTRIES / 4
