"""Tests entities_1d: days of users, clients and tables have the numbers of their events, each event once."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from test_tables import EXACTLY_ONCE

DAYS = [datetime.now(UTC).date() - timedelta(days=ago) for ago in (3, 2)]
CLIENTS = {
    ("10.0.0.1", "app-1"): "10.0.0.1",
    ("::ffff:10.0.0.1", ""): "10.0.0.1",
    ("", "::FFFF:10.0.0.1"): "10.0.0.1",
    ("2001:DB8::0:1", ""): "2001:db8::1",
    ("", "app-1"): "app-1",
    ("", ""): "",
}
"""Address and host of an event → name of its client."""
TABLES = [(["a"], []), (["a", "b"], ["a"]), ([], ["a", "a"]), ([], [])]
"""Tables that an event read and changed."""


def events(table: str) -> list[dict]:
    clients = list(CLIENTS)
    return [_event(table, number, clients[number % len(clients)]) for number in range(48)]


def _event(table: str, number: int, client: tuple[str, str]) -> dict:
    read, changed = TABLES[number // 3 % len(TABLES)]
    code = 1142 if number % 5 == 0 else 0
    own = {
        "query_events": {"error_code": code or None, "weight": 1 + number % 3},
        "audit_events": {"status": code, "event_class": "query", "command": ("Query", "QUERY")[number % 2]},
        "error_events": {"kind": "access_denied" if code else "deadlock"},
    }
    tables = {"tables_read": read, "tables_written": changed} if table != "error_events" else {}
    return {
        "cluster": "shop", "instance": f"db{number % 2}", "database": "s", "source": "x",
        "event_time": f"{DAYS[number % 2]} 23:59:59.{number:06}", "user": f"u{number % 4}",
        "ip": client[0], "host": client[1], **tables, **own[table],
    }  # fmt: skip


def expected(table: str) -> Counter:
    """Sums of entries, executions, reads and changes by kind, name, error and day."""
    sums: Counter = Counter()
    for event in events(table):
        for kind, name in _entities(event):
            key = (kind, name, event.get("error_code") or event.get("status", 0), event["event_time"][:10])
            weight = event.get("weight", 1)
            is_table = kind == "table"
            sums[(*key, "count")] += 1
            sums[(*key, "weight")] += weight
            sums[(*key, "reads")] += weight * (is_table and name in event.get("tables_read", []))
            sums[(*key, "changes")] += weight * (is_table and name in event.get("tables_written", []))
    return +sums


def _entities(event: dict) -> list[tuple[str, str]]:
    tables = sorted({*event.get("tables_read", []), *event.get("tables_written", [])})
    client = CLIENTS[event["ip"], event["host"]]
    return [("log", ""), ("user", event["user"]), ("client", client), *(("table", each) for each in tables)]


@pytest.mark.parametrize("table", ["query_events", "audit_events", "error_events"])
def test_days_have_the_sums_of_their_events_also_after_a_repetition(admin, user, table):
    for _ in range(2):
        rows = events(table)
        user("writer").insert(f"tailrace.{table}", rows, insert_deduplication_token="a block", **EXACTLY_ONCE)
    sums: Counter = Counter()
    for row in admin.rows(
        "SELECT event_table, entity_kind, name, error_code, toString(toDate(day)) AS of_day, "
        "sum(count) AS count, sum(weight) AS weight, sum(reads) AS reads, sum(changes) AS changes "
        "FROM tailrace.entities_1d GROUP BY ALL"
    ):
        assert row["event_table"] == table
        key = tuple(row[each] for each in ("entity_kind", "name", "error_code", "of_day"))
        sums.update({(*key, sum_): int(row[sum_]) for sum_ in ("count", "weight", "reads", "changes")})
    assert +sums == expected(table)
    latest = admin.rows("SELECT toString(max(last_time)) AS at FROM tailrace.entities_1d")
    assert latest == [{"at": max(event["event_time"] for event in events(table))}]
