"""Up to which second of insertion the rows of ClickHouse are complete, on one server or on each of several.

A running insert has rows of the second at which it began, and a replica that lags does not show rows that
another one has stored. A second is complete if no server runs an insert that began before it and, after that
was read, no replica lags. An insert that has just ended may not have reached the queues of the replicas, so
the second that is returned was read PASS_SECONDS earlier.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from tailrace.clickhouse.client import ClickHouse
from tailrace.clickhouse.shards import DATABASE, SHARD_DATABASE
from tailrace.errors import ReportedError

MARGIN_SECONDS = 15
"""How far the clock of ClickHouse can go back without a row that is missed."""
PASS_SECONDS = 30
"""How late a replica may learn of an insert: its session with Keeper ends after 30 s without an answer."""
INSERT_SECONDS = 150
"""How long an insert takes until its rows are in the queues of replicas: users have 120 s of execution."""

UNTIL = """
SELECT toUnixTimestamp(now()) - {margin:UInt32} - toUInt32(ceil(
    (SELECT max(elapsed) FROM system.processes WHERE query_kind IN ('Insert', 'AsyncInsertFlush')))) AS until
"""
DELAYS = """
SELECT table, is_readonly OR is_session_expired AS is_cut_off, absolute_delay AS delay FROM system.replicas
WHERE database IN {databases:Array(String)} AND table IN {tables:Array(String)}
"""


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Adds `--server URL`, which can be repeated; the result is the list `server`."""
    parser.add_argument(
        "--server",
        action="append",
        default=[],
        metavar="URL",
        help="a server of a ClickHouse with replicas or shards; list each: a replica that lags lacks rows",
    )


def servers_of(clickhouse: ClickHouse, urls: Sequence[str]) -> list[ClickHouse]:
    """Returns the access to each server that `--server` named; without any, `clickhouse` alone."""
    return [replace(clickhouse, url=url) for url in urls] or [clickhouse]


class ReplicaError(ReportedError):
    """A replica may lack rows, and does not know how many; the message contains server and table."""


class ReplicaProgress:
    """The servers whose rows are read; `servers` are all replicas of all shards, or one server alone."""

    def __init__(
        self,
        servers: Sequence[ClickHouse],
        tables: Sequence[str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._servers, self._tables, self._clock = servers, tables, clock
        self._read: list[tuple[float, int]] = []
        """When a second was read, and the second, in order; the first is PASS_SECONDS old, if any is."""

    def until(self) -> int:
        """Returns the second before which every inserted row can be read, in seconds since 1970 UTC.

        It is 0 until PASS_SECONDS have passed, with several servers. Raises ReplicaError, ClickHouseError and
        OSError: a server that does not answer may run an insert.
        """
        found = min(self._inserted_until(server) for server in self._servers)
        if len(self._servers) == 1:
            return found
        delay = max(map(self._delay, self._servers))
        delay += INSERT_SECONDS if delay else 0
        now = self._clock()
        self._read.append((now, found))
        while len(self._read) > 1 and now - self._read[1][0] >= PASS_SECONDS:
            del self._read[0]
        read_at, until = self._read[0]
        return until - delay if now - read_at >= PASS_SECONDS else 0

    def wait_until(self, pause: Callable[[float], object] = time.sleep) -> int:
        """Returns `until()`; with several servers after PASS_SECONDS. Raises the same errors."""
        while not (found := self.until()):
            pause(PASS_SECONDS)
        return found

    def require_no_delay(self, pause: Callable[[float], object] = time.sleep) -> None:
        """Waits PASS_SECONDS with several servers, so that replicas have learnt of each insert.

        One server alone may be a replica, too. Raises ReplicaError if one lags then, ClickHouseError and
        OSError.
        """
        if len(self._servers) > 1:
            pause(PASS_SECONDS)
        for server in self._servers:
            if delay := self._delay(server):
                raise ReplicaError(
                    f"{server.url}: a replica lags by {delay} s: repeat the command when it has caught up"
                )

    def _inserted_until(self, server: ClickHouse) -> int:
        return server.rows(UNTIL, {"margin": MARGIN_SECONDS})[0]["until"]

    def _delay(self, server: ClickHouse) -> int:
        """Returns how old, in seconds, the oldest row can be that a server still has to fetch."""
        names = {"databases": [DATABASE, SHARD_DATABASE], "tables": list(self._tables)}
        rows = server.rows(DELAYS, names)
        for row in rows:
            if row["is_cut_off"]:
                raise ReplicaError(f"{server.url}: the replica of {row['table']} has lost its Keeper")
        return max((int(row["delay"]) for row in rows), default=0)
