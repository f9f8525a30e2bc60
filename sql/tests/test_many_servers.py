"""With many servers the ledger, its metrics and the page Setup send as many queries as with one.

MANY_SERVERS=10000 and `-s` print CPU-seconds of this process and of ClickHouse: docs/CAPACITY.md.
"""

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from entity_rows import Store

from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.health import metrics
from tailrace.health.exporter import text
from tailrace.ledger import balance as ledger_balance
from tailrace_pages.setup import listing, reading, servers

SERVERS = int(os.environ.get("MANY_SERVERS", "1000"))
LOG = (
    "concat('cluster-', toString(intDiv(number, 20))) AS cluster,"
    " concat('db-', toString(intDiv(number, 2))) AS instance,"
    " if(number % 2, 'audit', 'slowlog') AS source, concat('/log/', source) AS log"
)
POSTINGS = (
    ("CENSUS", "FRAMER", "0, 0, 0, 0", "1000"),
    ("FRONTIER", "FRAMER", "1000, 1000, 0, 0", "0"),
    ("ENTRY", "FRAMER", "0, 1000, 5, 1000", "0"),
    ("EVENT", "PARSER", "0, 1000, 5, 1000", "0"),
)
Spent = tuple[int, float, float]
"""Queries, CPU-seconds of this process, CPU-seconds of ClickHouse."""


class Counted:
    """A client that counts its queries."""

    def __init__(self, client: ClickHouse) -> None:
        self._client = client
        self.queries = 0

    def rows(self, *arguments: object, **options: object) -> list[Row]:
        self.queries += 1
        return self._client.rows(*arguments, **options)

    def execute(self, *arguments: object, **options: object) -> str:
        self.queries += 1
        return self._client.execute(*arguments, **options)


def insert(admin: ClickHouse, begin: int, end: int) -> None:
    """Adds two logs of each server from one number to another, each with five entries, and lists them."""
    logs = f"FROM numbers({2 * begin}, {2 * (end - begin)})"
    for kind, stage, amounts, size in POSTINGS:
        admin.execute(
            "INSERT INTO tailrace.ledger (cluster, instance, source, log, generation, stage, kind,"
            " from_offset, to_offset, count, bytes, size, inode, at, ingested_at)"
            f" SELECT {LOG}, 1, '{stage}', '{kind}', {amounts}, {size}, number + 1,"
            f" now64(6) - INTERVAL 1 MINUTE, now() - INTERVAL 1 MINUTE {logs}"
        )
    admin.execute(
        "INSERT INTO tailrace.receipts (instance, source, log, generation, kind, stage, day,"
        " after_checkpoint, rows, bytes)"
        f" SELECT * EXCEPT cluster FROM (SELECT {LOG}, 1, 'EVENT', 'PARSER', today(), 0, 5, 1000 {logs})"
    )
    admin.execute(
        "INSERT INTO tailrace.listed_logs (cluster, instance, source, log, host, action, at)"
        f" SELECT {LOG}, instance, 'listed', now() - INTERVAL 1 HOUR {logs}"
    )


@pytest.fixture
def spent(server) -> Callable[[str, Callable[[], int]], Spent]:
    """Runs an action that returns its number of queries; returns what it costs."""

    def of_server() -> float:
        fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def measure(what: str, action: Callable[[], int]) -> Spent:
        own, served = time.process_time(), of_server()
        queries = action()
        found = queries, time.process_time() - own, of_server() - served
        print(f"{what}: {queries} queries, CPU s {found[1]:.2f} and {found[2]:.2f} of ClickHouse")
        return found

    return measure


def test_reading_many_servers_sends_no_query_for_each(admin, user, spent):
    queries: dict[str, list[int]] = {}
    samples = []
    for begin, end in ((0, 1), (1, SERVERS)):
        insert(admin, begin, end)
        for what, read in (("ledger", _ledger), ("metrics", _metrics), ("setup", _setup)):
            reader = Counted(user("reader_security" if what == "setup" else "reader_compliance"))

            def act(read=read, reader=reader, end=end) -> int:
                samples.append(read(reader, end))
                return reader.queries

            queries.setdefault(what, []).append(spent(f"{what} of {end} servers", act)[0])
    for what, (one, many) in queries.items():
        assert one == many, f"{what}: {one} queries for one server, {many} for {SERVERS}"
    assert samples[len(samples) // 2 :] == [2 * SERVERS, samples[1] * SERVERS, listing.PAGE_SIZE]


def _ledger(reader: Counted, _: int) -> int:
    """Returns the number of files."""
    found = ledger_balance.read(reader, patience_seconds=0)
    assert found.balances and not found.unknown
    return len(found.accounts)


def _metrics(reader: Counted, _: int) -> int:
    """Returns the number of samples."""
    exported = text(metrics.ledger_metrics(reader)).splitlines()
    assert "tailrace_ledger_up 1.0" in exported
    return sum("instance=" in line for line in exported)


def _setup(reader: Counted, count: int) -> int:
    """Returns the number of servers on the first page."""
    known = servers.servers(reading.found(Store(reader), datetime.now(UTC), "", True))
    assert len(known) == count
    return len(listing.server_rows(listing.page(known, 1), str))
