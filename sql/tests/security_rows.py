"""Rows of logs and alerts as the jobs write them, for the tests of the security dashboards' queries.

The queries of these tests have the time range RANGE: rows older than two hours are not in it.
"""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tailrace.clickhouse.client import ClickHouse

NOW = datetime.now(UTC).replace(microsecond=0)
RANGE = ((NOW - timedelta(hours=2)).isoformat(), (NOW + timedelta(minutes=1)).isoformat())


def at(minutes_ago: float = 0, seconds: float = 0) -> str:
    return f"{NOW - timedelta(minutes=minutes_ago) + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S.%f}"


def audit(minutes_ago: float, seconds: float = 0, **columns) -> dict:
    return {
        "event_id": str(uuid.uuid4()),
        "event_time": at(minutes_ago, seconds),
        "cluster": "shop",
        "instance": "db1",
        "source": "audit",
        "event_class": "query",
        "command": "QUERY",
        "connection_id": 7,
        "user": "app",
        "host": "10.0.3.9",
        "ip": "10.0.3.9",
        **columns,
    }


def login(minutes_ago: float, seconds: float = 0, **columns) -> dict:
    return audit(minutes_ago, seconds, **{"event_class": "connection", "command": "CONNECT", **columns})


def refused(minutes_ago: float, seconds: float = 0, **columns) -> dict:
    failed = {"event_class": "connection", "command": "FAILED_CONNECT", "status": 1045}
    return audit(minutes_ago, seconds, **{**failed, **columns})


def denied_message(minutes_ago: float, seconds: float = 0, **columns) -> dict:
    row = audit(minutes_ago, seconds, **{"ip": "", **columns})
    kept = ("event_id", "event_time", "cluster", "instance", "user", "host", "ip")
    return {
        **{name: row[name] for name in kept},
        "source": "errorlog",
        "kind": "access_denied",
        "thread_id": 9,
    }


def slow(minutes_ago: float, seconds: float = 0, **columns) -> dict:
    row = audit(minutes_ago, seconds)
    kept = ("event_id", "event_time", "cluster", "instance", "connection_id", "user", "host", "ip")
    entry = {"source": "slowlog", "weight": 1, "query_time": 0.5, "rows_sent": 10, "rule_set": "tailrace-1"}
    return {**{name: row[name] for name in kept}, **entry, **columns}


def alert_of(*records: dict, level: str = "high", **columns) -> dict:
    first, last = records[0], records[-1]
    return {
        "alert_id": str(uuid.uuid4()),
        "rule_id": "rule",
        "rule_title": "Rule",
        "level": level,
        "instance": last["instance"],
        "event_time": last["event_time"],
        "window_from": first["event_time"],
        "updated_at": last["event_time"],
        "entity_key": "user=app",
        "event_ids": [record["event_id"] for record in records],
        "link_path": "/superset/dashboard/alerts/?native_filters=()",
        **columns,
    }


def identity_of(record: dict) -> dict:
    """The columns that a row of data_access has in common with the record of its statement."""
    kept = ("event_id", "event_time", "cluster", "instance", "connection_id", "user")
    return {name: record[name] for name in kept}


def asking(user: Callable[[str], ClickHouse], rendered: Callable[..., str]) -> Callable[..., list[dict]]:
    """Returns a function that returns the rows of a query, by default for a security analyst."""

    def run(name: str, reader: str = "reader_security", **filters: list[str]) -> list[dict]:
        return user(reader).rows(rendered(name, *RANGE, **filters))

    return run
