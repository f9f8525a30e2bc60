"""Tests what the pages of users and clients call new, against the days before the range."""

from datetime import datetime, timedelta

import pytest
from entity_rows import reading
from security_rows import NOW, audit, login, refused, slow

from tailrace_pages.entities import usual
from tailrace_pages.entities.reading import Reading
from tailrace_pages.entities.usual import Usual
from tailrace_pages.time_range import TimeRange

__all__ = ["reading"]  # fixture

MIDNIGHT = (NOW - timedelta(days=3)).replace(hour=0, minute=0, second=0, microsecond=0)
SPAN = TimeRange(MIDNIGHT + timedelta(hours=3), MIDNIGHT + timedelta(hours=5))
"""Two hours of a night, as around an alert."""


def at(hours: float, days_before: int = 0) -> float:
    """The argument of security_rows for a time of the day of SPAN, or of an earlier day."""
    return (NOW - MIDNIGHT + timedelta(days=days_before) - timedelta(hours=hours)).total_seconds() / 60


@pytest.fixture
def habits(stored) -> None:
    """On ten of the days before, ann read orders at 10:00 from 10.0.0.5. In the night she reads cards."""
    its = {"user": "ann", "ip": "10.0.0.5"}
    orders = {**its, "tables_read": ["shop.orders"]}
    audited, entries = [], []
    for day in range(1, 11):
        audited += [
            login(at(10, day), **its),
            audit(at(10.1, day), **orders),
            audit(at(4, day), user="bob", ip="10.0.0.6", tables_read=["shop.cards"]),
        ]
        entries.append(slow(at(10.1, day), **orders, rows_sent=20 + day))
    cards = {"user": "ann", "ip": "10.0.0.9", "tables_read": ["shop.cards"]}
    audited += [
        audit(at(4), **orders),
        audit(at(4.2), **cards, program_name="mysqldump"),
        audit(at(2), user="ann", ip="10.0.0.7"),
    ]
    stored("audit_events", *audited)
    stored("query_events", *entries, slow(at(4.2), **cards, rows_sent=3000))


def compared(of: Reading) -> Usual:
    return Usual(of.entity, of.earlier_days, of.usual_names, {"range": "7d"})


def rows(found: Usual) -> list[tuple]:
    return [(row["what"], row["name"], row["is_new"], row["log_days"]) for row in found.table().rows]


def numbers(found: Usual) -> dict[str, tuple[str, str]]:
    return {item["title"]: (item["value"], item["note"]) for item in found.numbers()}


def test_what_no_earlier_record_names_is_new(habits, reading):
    found = compared(reading("user", "ann", SPAN))
    assert rows(found) == [
        ("table", "shop.cards", "new", 10),
        ("client", "10.0.0.9", "new", 10),
        ("hour of the day", "04:00 to 05:00", "new", 10),
        ("program", "mysqldump", "unknown", 10),
    ]
    assert numbers(found) == {
        "New tables": ("1", "of 2"),
        "New clients": ("1", "of 2"),
        "New programs": ("unknown", "of 1: no earlier record to compare"),
        "New hours of the day (UTC)": ("1", "of 1"),
        "Most rows sent by a statement": ("3,000", "at most 30 before (100\N{MULTIPLICATION SIGN})"),
        "Most statements on a day (UTC)": ("3", "at most 1 before (+200 %)"),
    }
    since = f"{MIDNIGHT - timedelta(days=30):%F}"
    assert found.sentence() == (
        f"Compared with the 30 days before, since {since}. The logs have records of 10 of these days."
    )
    assert found.table().rows[0]["address"] == "/tailrace/entities/table/shop.cards/?range=7d"


def test_a_record_of_the_same_day_before_the_range_is_an_earlier_one(habits, stored, reading):
    stored("audit_events", audit(at(2.5), user="ann", ip="10.0.0.9", tables_read=["shop.cards"]))
    assert [row[0] for row in rows(compared(reading("user", "ann", SPAN)))] == ["hour of the day", "program"]


def test_nothing_is_new_in_a_log_that_has_no_earlier_day(habits, stored, reading):
    """The audit log of db2 begins in the range; its error log says nothing about tables."""
    of_db2 = {"instance": "db2", "user": "ann", "ip": "10.0.0.5"}
    stored("audit_events", audit(at(4), **of_db2, tables_read=["crm.people"]), refused(at(3.5), **of_db2))
    found = compared(reading("user", "ann", SPAN))
    assert ("table", "crm.people", "unknown", 0) in rows(found)
    assert numbers(found)["New tables"] == ("≥ 1", "of 3, unknown for 1")
    alone = compared(reading("user", "ann", SPAN, instance="db2"))
    assert {row[2] for row in rows(alone)} == {"unknown"}
    assert alone.sentence().endswith("The logs have no record of these days: what is new is unknown.")
    assert numbers(alone)["Most statements on a day (UTC)"][1] == "before: unknown"
    assert numbers(alone)["Most rows sent by a statement"] == ("unknown", "only slow query logs contain it")


def test_a_user_without_an_earlier_record_is_new_as_a_whole(habits, stored, reading):
    stored(
        "audit_events", audit(at(4), user="eve", ip="10.0.0.5", tables_read=["shop.orders"], program_name="x")
    )
    found = compared(reading("user", "eve", SPAN))
    assert {row[2] for row in rows(found)} == {"new"} and len(rows(found)) == 4
    assert found.sentence().endswith("None of them names the user eve: all of it is new.")


def test_a_client_is_compared_by_its_users(habits, stored, reading):
    stored("audit_events", audit(at(4.5), user="root", ip="10.0.0.5", tables_read=["shop.orders"]))
    found = compared(reading("client", "10.0.0.5", SPAN))
    assert [row[:3] for row in rows(found)] == [
        ("user", "root", "new"),
        ("hour of the day", "04:00 to 05:00", "new"),
    ]


def test_an_entity_with_very_many_records_is_compared_with_fewer_days(habits, reading, monkeypatch):
    monkeypatch.setattr(usual, "MOST_RECORDS", 9)  # three of each day
    found = compared(reading("user", "ann", SPAN))
    since = f"{MIDNIGHT - timedelta(days=3):%F}, because at most 9 records are read."
    assert found.sentence().startswith(f"Compared with the 3 days before, since {since}")
    assert found.rows[0]["earlier_records"] <= 9
    monkeypatch.setattr(usual, "MOST_RECORDS", 0)
    assert compared(reading("user", "ann", SPAN)).earlier.number == 1, "never with none"


def test_the_comparison_reads_no_records_of_others(habits, stored, admin, reading):
    """Records of a user are found by the order of the audit log and the index of the slow query log."""
    admin.execute(
        "INSERT INTO tailrace.audit_events (instance, source, user, event_class, event_time) "
        "SELECT 'db1', 'audit', concat('u', toString(number % 50)), 'query', "
        f"toDateTime64('{MIDNIGHT - timedelta(days=2):%F} 12:00:00', 6, 'UTC') FROM numbers(200000)"
    )
    of = reading("user", "ann", SPAN)
    assert of.usual_names
    assert of.store.rows_read[-1] < 100_000
    assert isinstance(of.earlier_days.since, datetime)
