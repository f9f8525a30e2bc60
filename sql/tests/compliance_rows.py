"""Rows of accesses, logs and accounts as the jobs write them, for the tests of the compliance queries."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tailrace.clickhouse.client import ClickHouse

NOW = datetime.now(UTC).replace(second=30, microsecond=0)
RANGE = ((NOW - timedelta(days=7)).isoformat(), (NOW + timedelta(minutes=1)).isoformat())


def asking(user: Callable[[str], ClickHouse], rendered: Callable[..., str]) -> Callable[..., list[dict]]:
    """Returns a function that returns the rows of a query for a compliance officer; `outer` reads these."""

    def run(name: str, outer: str = "SELECT * FROM ({})", **filters: list[str]) -> list[dict]:
        return user("reader_compliance").rows(outer.replace("{}", rendered(name, *RANGE, **filters)))

    return run


def stored(admin: ClickHouse, table: str, *rows: dict) -> None:
    admin.insert(f"tailrace.{table}", list(rows))


def ago(days: float = 0, minutes: float = 0) -> str:
    return written(NOW - timedelta(days=days, minutes=minutes))


def written(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S.%f}"


def access(action: str, at: str, event: uuid.UUID | None = None, **more) -> dict:
    row = {"event_id": str(event or uuid.uuid4()), "action_id": action, "event_time": at, "instance": "db1"}
    return {**row, "user": "app", "basis": ["log"], "outcome": "success", **more}


def posting(minute: datetime, size: int, generation: int = 1, **more) -> dict:
    """A posting of db1's audit log; a census by default."""
    row = {"cluster": "c", "instance": "db1", "source": "audit", "log": "/a.log", "generation": generation}
    return {**row, "kind": "CENSUS", "inode": 7, "size": size, "at": written(minute), **more}


def lost(minute: datetime, start: int, end: int, sign: int = 1) -> dict:
    offsets = {"from_offset": start, "to_offset": end, "bytes": sign * (end - start)}
    return posting(minute, 0, kind="GAP", detail="lost", **offsets)


def account(name: str, host: str = "%", **more: str) -> dict:
    attributes = {"user": name, "host": host, "role": "no", "locked": "no", "password": "set", **more}
    return fact("accounts", f"'{name}'@'{host}'", attributes)


def fact(kind: str, key: str, attributes: dict[str, str]) -> dict:
    seen = {"since": ago(50)[:-3], "last_seen": ago(0, 1)[:-3]}
    return {"cluster": "c", "instance": "db1", "kind": kind, "key": key, "attributes": attributes, **seen}


def event(days: float, name: str, ip: str = "10.0.0.7", minutes: float = 0, **more) -> dict:
    row = {"event_id": str(uuid.uuid4()), "cluster": "c", "instance": "db1", "source": "audit"}
    at = {"event_time": ago(days, minutes), "event_class": "query"}
    return {**row, **at, "user": name, "ip": ip, **more}


def message(kind: str, **more) -> dict:
    row = {"event_id": str(uuid.uuid4()), "cluster": "c", "instance": "db1", "source": "errorlog"}
    return {**row, "event_time": ago(1), "kind": kind, **more}
