"""Since when the logs that a search reads are known, and of how many servers."""

from datetime import UTC, date, datetime, timedelta

import pytest

from tailrace_pages.queries import text_of
from tailrace_pages.search import known_logs
from tailrace_pages.time_range import TimeRange

NOW = datetime.now(UTC).replace(microsecond=0)
SPAN = TimeRange(NOW - timedelta(days=30), NOW)


def at(days: float) -> str:
    return f"{NOW - timedelta(days=days):%Y-%m-%d %H:%M:%S}"


def day(days: int) -> date:
    return (NOW - timedelta(days=days)).date()


@pytest.fixture
def stored(admin):
    """db1 has an audit log of 3 days and a quiet error log, db2 a slow query log, db3 an old audit log."""
    record = {"cluster": "shop", "event_class": "connection", "user": "root"}
    for instance, since in (("db1", 1), ("db1", 3), ("db3", 40)):
        row = {**record, "instance": instance, "source": "audit", "event_time": at(since)}
        admin.insert("tailrace.audit_events", [row])
    slow = {"cluster": "crm", "instance": "db2", "query_id": 1, "event_time": at(5)}
    admin.insert("tailrace.query_events", [slow])
    census = {"instance": "db1", "cluster": "shop", "source": "errorlog", "log": "/e.log", "kind": "CENSUS"}
    admin.insert("tailrace.ledger", [{**census, "generation": 1, "at": at(since)} for since in (45, 4)])


@pytest.fixture
def known(stored, user):
    def ask(role: str = "security", **servers: list[str]) -> list[dict]:
        given = {"clusters": [], "servers": [], **servers}
        parameters = {**SPAN.parameters(), **{name: str(values) for name, values in given.items()}}
        rows = user(f"reader_{role}").rows(text_of(known_logs.QUERY), parameters)
        return [{**row, "first_day": date.fromisoformat(row["first_day"])} for row in rows]

    return ask


@pytest.mark.parametrize("role", ["security", "compliance", "developer"])
def test_each_role_knows_since_when_each_kind_of_log_is_known(known, role):
    found = {
        (row["instance"], row["source"]): (row["first_day"], bool(row["is_known"])) for row in known(role)
    }
    assert found == {
        ("db1", "audit"): (day(3), True),
        ("db1", "errorlog"): (day(45), True),
        ("db2", "slowlog"): (day(5), True),
        ("db3", "audit"): (day(40), False),
    }
    assert [row["instance"] for row in known(role, clusters=["crm"])] == ["db2"]
    assert {row["instance"] for row in known(role, servers=["db1", "db3"])} == {"db1", "db3"}


def test_a_search_says_what_is_known(known):
    found = known_logs.of(known(), {"audit", "error", "slow"}, SPAN)
    assert found.text == (
        f"Known in this time range: audit log of 1 of 2 servers since {day(3)}; "
        f"slow query log of 1 of 2 servers since {day(5)}; error log of 1 of 2 servers."
    )
