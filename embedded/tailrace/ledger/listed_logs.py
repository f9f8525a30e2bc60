"""Records in ClickHouse which logs and servers a host lists, also those of which nothing ever arrives.

A log without a file has no census, so that without these rows no page could name it (table listed_logs). A
host adds `listed` for each entry at its start and every REPEAT_SECONDS, and `removed` for each entry that it
recorded before and that is no longer on its list.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tailrace.clickhouse.client import ClickHouse
from tailrace.ledger.unknown_logs import STALE_SECONDS
from tailrace.sources.log_key import LogKey
from tailrace.sources.pulled_entry import KINDS
from tailrace.sources.sources_file import SERVER, Listed, Source

TABLE = "tailrace.listed_logs"
REPEAT_SECONDS = 12 * 3600
"""An entry counts as no longer listed when it has not been repeated for seven days."""
LISTED, REMOVED = "listed", "removed"

RECORDED = f"""
SELECT argMax(cluster, at) AS cluster, instance, source, log
FROM {TABLE}
WHERE host = {{host:String}}
GROUP BY instance, source, log
HAVING argMax(action, at) = '{LISTED}'
"""
NOW_LISTED = """
SELECT instance, source, log, toUnixTimestamp(listed_since) AS since
FROM tailrace.listed_logs_of_period(period_from = now('UTC'), period_to = now('UTC'))
WHERE isNull(removed_at) AND source IN {kinds:Array(String)} AND log != ''
    AND ({instance:String} = '' OR instance = {instance:String})
"""


@dataclass(frozen=True, order=True)
class Entry:
    """An entry of sources.yaml, as it is recorded."""

    cluster: str
    instance: str
    source: str
    """A kind of log, or `server` for snapshots."""
    log: str
    """The path or pattern; empty for a log that is pulled, and for a server."""

    @property
    def key(self) -> LogKey:
        return self.instance, self.source, self.log


def of_logs(logs: Iterable[Source]) -> list[Entry]:
    return [Entry(log.cluster, log.instance, log.source, str(log.path)) for log in logs]


def of_list(listed: Listed) -> list[Entry]:
    """Returns the entries of a list. What tools read from Performance Schema is no log of a server."""
    pulled = [
        Entry(log.cluster, log.instance, log.source, "") for log in listed.pulled if log.source in KINDS
    ]
    servers = [Entry(server.cluster, server.instance, SERVER, "") for server in listed.servers]
    return sorted({*of_logs(listed.logs), *pulled, *servers})


def write(file: Path, entries: Iterable[Entry]) -> None:
    file.write_text(json.dumps([asdict(entry) for entry in entries], indent=2))


def read(file: Path) -> list[Entry]:
    """Raises OSError, ValueError, TypeError."""
    return [Entry(**each) for each in json.loads(file.read_text())]


def now_listed(clickhouse: ClickHouse, instance: str = "") -> dict[LogKey, float]:
    """Returns the log files that any host lists, and since when, in seconds since 1970 UTC, except those of
    the last STALE_SECONDS, whose census may not have arrived yet. Raises ClickHouseError, OSError."""
    rows = clickhouse.rows(NOW_LISTED, {"kinds": str(list(KINDS)), "instance": instance}, timeout=10)
    latest = time.time() - STALE_SECONDS
    return {
        (row["instance"], row["source"], row["log"]): row["since"] for row in rows if row["since"] < latest
    }


class ListedLogs:
    """Records the list of one host. A restart repeats the list, so nothing is kept on disk."""

    def __init__(
        self,
        clickhouse: ClickHouse,
        entries: Sequence[Entry],
        host: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`host`: a name that stays the same after a restart, and that no other list has."""
        self._clickhouse = clickhouse
        self._entries = entries
        self._host = host
        self._clock = clock
        self._recorded_at: float | None = None

    def record_if_due(self) -> None:
        """Raises ClickHouseError, OSError; then the next call tries again."""
        now = self._clock()
        if self._recorded_at is None or now - self._recorded_at >= REPEAT_SECONDS:
            self._record()
            self._recorded_at = now

    def _record(self) -> None:
        listed = {entry.key for entry in self._entries}
        before = [Entry(**row) for row in self._clickhouse.rows(RECORDED, {"host": self._host}, timeout=10)]
        rows = [
            *(self._row(entry, LISTED) for entry in self._entries),
            *(self._row(entry, REMOVED) for entry in before if entry.key not in listed),
        ]
        if rows:
            self._clickhouse.append(f"{TABLE} ({', '.join(rows[0])})", rows)

    def _row(self, entry: Entry, action: str) -> Mapping[str, str]:
        return {**asdict(entry), "host": self._host, "action": action}
