"""Rows that the requests of a process share for half a minute: in which minutes logs were read, and which
servers are audited, and the names of servers.

Each page with a chart states which minutes are unknown, and users go from page to page with the same time
range. These queries take about half of the CPU time of such a page, and their rows are the same for all pages
of a range. They change when a census arrives, once a minute. Rows of logs are never shared: each reading of
them is recorded with the name of its viewer.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

IN_MINUTES = frozenset({"page_entity_coverage", "page_query_coverage", "page_evidence_coverage"})
"""Files of sql/queries that read `from` and `to` as whole minutes."""
SHARED = IN_MINUTES | {"evidence_servers", "page_servers"}
"""Files of sql/queries whose rows requests share."""
SECONDS = 30
MOST = 64
"""Kept results; an instance with more in half a minute reads some of them again."""

Rows = list[dict[str, Any]]


class RecentRows:
    """Results by audience, query and parameters. Who gets rows does not change them."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[float, Rows]] = {}

    def of(self, audience: str, query: str, parameters: Mapping[str, Any], read: Callable[[], Rows]) -> Rows:
        """Returns the rows of the last SECONDS, or else what `read` returns. Errors are not kept."""
        given = _in_minutes(parameters) if query in IN_MINUTES else parameters
        key = json.dumps([audience, query, given], sort_keys=True, default=str)
        with self._lock:
            read_at, rows = self._kept.get(key, (float("-inf"), []))
        if self._now() - read_at < SECONDS:
            return rows
        read_at, rows = self._now(), read()
        with self._lock:
            self._kept.pop(key, None)
            while len(self._kept) >= MOST:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = (read_at, rows)
        return rows


def _in_minutes(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the parameters with `from` and `to`, texts of SQL_TIME, without seconds."""
    return {name: value[:16] if name in ("from", "to") else value for name, value in parameters.items()}
