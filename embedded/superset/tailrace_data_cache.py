"""Caches the data of a chart until rows arrive that may change it.

Superset's cache key of a chart's data has the query, the dataset and the viewer's row level security. It gets

- the versions of the tables that the dataset reads, from system.parts: each insert and each mutation changes
  them, a merge does not;
- the ClickHouse account, the viewer's roles, and the start of ClickHouse, when it reads row policies.

A time range that ended is closed: partitions of event tables that begin more than a day after its end do not
count. Its data is cached for CLOSED_SECONDS, other data for OPEN_SECONDS. Versions are read once in
VERSION_SECONDS. If a table is replicated or distributed, other servers may have other rows: then data is
cached for UNKNOWN_SECONDS, without versions. Datasets with a `cache_timeout` keep it. superset_config.py
calls `cache_until_rows_arrive`.
"""

import logging
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import wraps
from hashlib import sha256
from threading import Lock

UNKNOWN_SECONDS = 10
OPEN_SECONDS = 60
CLOSED_SECONDS = 24 * 3600
VERSION_SECONDS = 10
SLACK = timedelta(days=1)
"""The next entry of a log proves that it was read until then. It may arrive after the end of the range."""
JUST_NOW = timedelta(minutes=1)
NEVER = -1
"""A `cache_timeout` of Superset: the data is not cached."""

EVENT_TABLES = frozenset(
    {
        "audit_events",
        "data_access",
        "entities_1d",
        "error_events",
        "query_classes_1d",
        "query_classes_1h",
        "query_events",
        "query_load_1m",
    }
)
"""Tables whose partitions are days or months of the time of an event. What is about an alert, a file or an
account may change after the range, so that all partitions of other tables count."""

TABLES = "SELECT name, engine, as_select FROM system.tables WHERE database = currentDatabase()"
PARTS = """
SELECT table, partition_id, max(max_block_number), max(data_version), sum(rows)
FROM system.parts WHERE database = currentDatabase() AND active GROUP BY table, partition_id"""
START = "SELECT toUnixTimestamp(now()) - uptime()"

_WORD = re.compile(r"\w+")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Versions:
    """What a ClickHouse server reports about the tables that an account may read."""

    start: int
    """When the server started, seconds since 1970."""
    tables: Mapping[str, tuple[str, str]]
    """Engine and, of a view, its query, by name."""
    partitions: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)
    """The state of each partition, by table and partition."""

    def of(self, sql: str, end: datetime | None) -> str | None:
        """Returns the version of the tables that a query names, or None if it is not known.

        `end` is the end of a closed time range (UTC). A query that names no table has no version.
        """
        names = tables_named(sql, self.tables)
        if not names or not all(_is_local(self.tables[name][0]) for name in names):
            return None
        states = [(name, sorted(self._counted(name, end))) for name in sorted(names)]
        return sha256(repr((self.start, states)).encode()).hexdigest()

    def _counted(self, table: str, end: datetime | None) -> Iterable[tuple[str, tuple[int, ...]]]:
        partitions = self.partitions.get(table, {}).items()
        if end is None or table not in EVENT_TABLES:
            return partitions
        last = (end + SLACK).strftime("%Y%m%d")
        return [(name, state) for name, state in partitions if name <= last[: len(name)]]


def tables_named(sql: str, tables: Mapping[str, tuple[str, str]]) -> set[str]:
    """Returns the tables whose names are words of a query, or of a view that it names: all that it reads."""
    found: set[str] = set()
    unread = [sql]
    while unread:
        new = set(_WORD.findall(unread.pop())) & tables.keys() - found
        found |= new
        unread.extend(tables[name][1] for name in new)
    return found


def _is_local(engine: str) -> bool:
    return engine == "View" or (
        engine.endswith("MergeTree") and not engine.startswith(("Replicated", "Shared"))
    )


def closed_end(to_time: datetime | None, now: datetime) -> datetime | None:
    """Returns the end of a time range (UTC, without a time zone) if it has passed; None if it ends now."""
    return to_time if to_time is not None and to_time <= now - JUST_NOW else None


class _Known:
    """The versions of each account, at most VERSION_SECONDS old."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._read: dict[str, tuple[float, Versions | None]] = {}

    def get(self, database) -> Versions | None:
        """Returns None if they cannot be read; the reason is logged."""
        with self._lock:
            read_at, versions = self._read.get(database.sqlalchemy_uri, (0.0, None))
            if not read_at or time.monotonic() - read_at >= VERSION_SECONDS:
                versions = self._new(database, versions)
                self._read[database.sqlalchemy_uri] = (time.monotonic(), versions)
            return versions

    def _new(self, database, before: Versions | None) -> Versions | None:
        try:
            return read(database, before)
        except Exception as error:  # the driver raises many; without versions charts work as well
            _log.warning("chart data is cached for %s s, without versions: %s", UNKNOWN_SECONDS, error)
            return None


def read(database, before: Versions | None) -> Versions:
    """Reads the versions as the account of a database of Superset."""
    with database.get_raw_connection() as connection:
        cursor = connection.cursor()

        def rows(sql: str) -> list[tuple]:
            cursor.execute(sql)
            return cursor.fetchall()

        ((start,),) = rows(START)
        tables = {name: (engine, query) for name, engine, query in rows(TABLES)}
        partitions: dict[str, dict[str, tuple[int, ...]]] = {}
        for table, partition, *state in rows(PARTS):
            partitions.setdefault(table, {})[partition] = tuple(state)
    return Versions(_steady(int(start), before), tables, partitions)


def _steady(start: int, before: Versions | None) -> int:
    """`now()` and `uptime()` are whole seconds, so that their difference varies by one."""
    return before.start if before and abs(before.start - start) <= 1 else start


def cache_until_rows_arrive() -> None:
    """Patches Superset's processor of queries of charts."""
    from superset import security_manager
    from superset.common.query_context_processor import QueryContextProcessor as Processor

    key_of, seconds_of, known = Processor.query_cache_key, Processor.get_cache_timeout, _Known()

    @wraps(key_of)
    def query_cache_key(self, query_obj, **more):
        self.tailrace_seconds = UNKNOWN_SECONDS
        if self._query_context.get_cache_timeout() == NEVER:
            return key_of(self, query_obj, **more)
        source = self._qc_datasource
        roles = sorted(role.id for role in security_manager.get_user_roles())
        more |= {"account": source.database.url_object.username, "roles": roles}
        versions = known.get(source.database)
        end = closed_end(query_obj.to_dttm, datetime.now(UTC).replace(tzinfo=None))
        version = versions and versions.of(source.sql or source.table_name, end)
        if version:
            self.tailrace_seconds = CLOSED_SECONDS if end else OPEN_SECONDS
            times = [str(query_obj.from_dttm), str(end)] if end else []
            more |= {"version": version, "times": times}
        return key_of(self, query_obj, **more)

    @wraps(seconds_of)
    def get_cache_timeout(self) -> int:
        return self._query_context.get_cache_timeout() or getattr(self, "tailrace_seconds", seconds_of(self))

    Processor.query_cache_key, Processor.get_cache_timeout = query_cache_key, get_cache_timeout
