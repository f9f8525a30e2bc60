"""The pure code of the page Retention: an unknown is neither none nor zero, and a demand is marked."""

from datetime import UTC, datetime

import pytest

from tailrace.retention import demands, selectors
from tailrace.retention.holds import Hold
from tailrace.retention.overview import Line
from tailrace_pages.retention import listing

AUDIT = demands.classes()[0]
OLDEST, NEXT = datetime(2026, 1, 2, tzinfo=UTC), datetime(2027, 2, 6, tzinfo=UTC)


def line(rows: int | None, held: int | None = 0, **more) -> Line:
    unmet = demands.unmet(AUDIT.demands, 400, False)
    return Line("audit_events", AUDIT.title, 400, AUDIT.demands, unmet, rows, held=held, **more)


@pytest.mark.parametrize(
    ("given", "oldest", "expires"),
    [
        (line(None, None), "unknown", "unknown: your role may not read it"),
        (line(0), "no rows", "nothing"),
        (line(2, oldest=OLDEST, expires_next=NEXT), "2026-01-02", "2027-02-06"),
        (line(2, 2, oldest=OLDEST), "2026-01-02", "nothing"),
    ],
)
def test_what_is_unknown_is_not_empty(given, oldest, expires):
    (row,) = listing.rows([given])
    assert (row["oldest"], row["expires"], row["rows"]) == (oldest, expires, given.rows)


def test_each_demand_has_its_mark():
    (row,) = listing.rows([line(0)])

    assert row["mark"].startswith("● PCI 10.5.1: 365 days; ○ SOX IT general controls; ▲ HIPAA 164.316")
    assert row["short"] == "HIPAA Security Rule, 164.316(b)(2)(i): 2,192 days"


def test_tables_that_are_kept_too_short_are_first():
    enough = Line("reviews", "Reviews", 3660, (), [], 0)
    assert [row["table"] for row in listing.rows([enough, line(0)])] == ["audit_events", "reviews"]


def test_tables_that_expire_next_are_before_the_others_and_above_the_table():
    later, soon = (
        Line(name, "Reviews", 90, (), [], 1, oldest=OLDEST, held=0, expires_next=expires)
        for name, expires in (("ledger", NEXT), ("receipts", OLDEST))
    )
    hidden = Line("query_samples", "Samples", 7, (), [], None)
    assert [row["table"] for row in listing.rows([hidden, later, soon])] == [
        "receipts",
        "ledger",
        "query_samples",
    ]
    expiring = listing.headline([hidden, later, soon], [])[1]
    assert (expiring["value"], expiring["note"]) == ("2026-01-02", "receipts, unknown for 1 table")
    assert listing.headline([hidden], [])[1]["value"] == "unknown"


def test_holds_in_force_are_first_and_held_rows_of_unreadable_tables_are_unknown():
    chosen = selectors.parse("user:etl")
    given = [
        Hold(f"{number:032x}", "case", chosen, state, "2026-11-01 10:00:00.000000", "ines", "a letter")
        for number, state in enumerate(("released", "release requested", "active"))
    ]
    rows = listing.hold_rows(given)

    assert [row["state"] for row in rows] == ["release requested", "active", "released"]
    assert (rows[0]["selector"], rows[0]["placed_at"]) == ("user:etl", "2026-11-01 10:00:00")
    assert [each["value"] for each in listing.headline([line(None, None)], given)] == [
        "1",
        "unknown",
        "2",
        "unknown",
    ]
    assert [each["value"] for each in listing.headline([line(5, 3)], given)] == ["1", "nothing", "2", "3"]
