"""The size of the transparency log, rows that wait for it, and its incidents."""

import time
from dataclasses import dataclass
from pathlib import Path

from tailrace.clickhouse.client import ClickHouse
from tailrace.errors import ReportedError
from tailrace.transparency.collector import TABLES, Collector
from tailrace.transparency.keys import ORIGIN
from tailrace.transparency.log import CHECKPOINT, STORE
from tailrace.transparency.service import INCIDENT, WITNESSED
from tailrace.transparency.store import Store
from tailrace_verify import notes

RECENT_SECONDS = 2 * 86400
"""Events of this age are counted again and compared with the log."""
ACKNOWLEDGED = "acknowledged"


class NoLogError(ReportedError):
    """There is no transparency log here."""


@dataclass(frozen=True)
class Waiting:
    """Rows and minutes of a table that are not in the log yet."""

    rows: int
    minutes: int


@dataclass(frozen=True)
class Incident:
    """A refusal or a rollback. `at` and `acknowledged_at` in seconds since 1970 UTC."""

    name: str
    at: float
    text: str
    reason: str = ""
    """Why it was acknowledged; empty if it is open."""


@dataclass(frozen=True)
class LogStatus:
    """Times are seconds since 1970 UTC; None is unknown."""

    origin: str
    size: int
    """Leaves, published or not."""
    published_size: int | None
    published_at: float | None
    witnesses: dict[str, int]
    """The number of leaves that each witness has cosigned last."""
    incidents: list[Incident]
    waiting: dict[str, Waiting] | None = None
    differing: dict[str, list[int]] | None = None
    """Recent minutes by table whose number of rows differs from the log."""

    def age(self) -> float | None:
        """Returns the seconds since the last checkpoint was published."""
        return None if self.published_at is None else max(0.0, time.time() - self.published_at)

    def open_incidents(self) -> list[Incident]:
        return [incident for incident in self.incidents if not incident.reason]


def read(directory: Path, clickhouse: ClickHouse | None = None, keys_file: Path = Path()) -> LogStatus:
    """Returns the status; with a ClickHouse also waiting rows and differences.

    Raises NoLogError, ClickHouseError, OSError.
    """
    if not (directory / STORE).exists():
        raise NoLogError(f"there is no transparency log in {directory}: the component has never run")
    store = Store(directory / STORE, is_reader=True)
    try:
        return _status(directory, store, Collector(clickhouse, store, keys_file) if clickhouse else None)
    finally:
        store.close()


def _status(directory: Path, store: Store, collector: Collector | None) -> LogStatus:
    checkpoint = directory / CHECKPOINT
    published = (
        notes.parse_checkpoint(notes.parse(checkpoint.read_bytes()).text) if checkpoint.exists() else None
    )
    return LogStatus(
        (directory / ORIGIN).read_text().strip(),
        store.get("size", 0),
        published.size if published else None,
        store.get("published_at") if published else None,
        store.values(WITNESSED),
        [_incident(name, each) for name, each in store.values(INCIDENT).items()],
        _waiting(collector) if collector else None,
        _differing(collector) if collector else None,
    )


def acknowledge(directory: Path, reason: str, actor: str) -> int:
    """Records that an operator has examined the open incidents; returns how many."""
    if not (directory / STORE).exists():
        raise NoLogError(f"there is no transparency log in {directory}: the component has never run")
    store = Store(directory / STORE)
    open_ones = {
        name: each for name, each in store.values(INCIDENT).items() if not _incident(name, each).reason
    }
    done = {"reason": reason, "actor": actor, "at": time.time()}
    store.set({f"{INCIDENT}{name}": {**each, ACKNOWLEDGED: done} for name, each in open_ones.items()})
    store.close()
    return len(open_ones)


def _incident(name: str, stored: dict) -> Incident:
    return Incident(name, stored["at"], stored["text"], stored.get(ACKNOWLEDGED, {}).get("reason", ""))


def _waiting(collector: Collector) -> dict[str, Waiting]:
    return {table: Waiting(*counts) for table, counts in collector.waiting().items()}


def _differing(collector: Collector) -> dict[str, list[int]]:
    since = int(time.time() - RECENT_SECONDS) // 60 * 60
    return {table: sorted(collector.differing(table, since)) for table in TABLES}
