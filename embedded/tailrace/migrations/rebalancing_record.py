"""The record of an open run of `rebalance`: its shards, on each of its servers, until all rows are moved.

While a run is open, complete rows of a partition may be in a table of any of its servers. A second run that
reads other servers would lose them, so it is refused. The record is the comment of an empty table, which one
statement replaces. Its state is the same on all servers, except for a moment:

    PREPARED    no rows were copied yet; each server gets it before one becomes OPEN
    OPEN        rows may be copied on every server
    ENDED       all rows are in their tables; each server gets it before one loses its record

So a run is open if one server says OPEN and none says ENDED, and then all its servers have a record.
"""

import json
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from tailrace.clickhouse.client import ClickHouse
from tailrace.clickhouse.shards import SHARD_DATABASE
from tailrace.errors import ReportedError

TABLE = "rebalance_run"
PREPARED, OPEN, ENDED = "prepared", "open", "ended"


class RebalancingError(ReportedError):
    """The servers are not one of each shard or not those of the open run, or rows were not copied
    completely."""


@dataclass(frozen=True)
class Record:
    """What one server knows of a run."""

    run: str
    state: str
    since: str
    """UTC."""
    cluster: str
    own: int
    """The number of the server's shard."""
    shards: Sequence[tuple[int, int, str]]
    """Number, weight and address of the server of each shard."""

    @property
    def weights(self) -> Mapping[int, int]:
        return {number: weight for number, weight, _ in self.shards}

    def __str__(self) -> str:
        listed = ", ".join(f"{number} (weight {weight}, {url})" for number, weight, url in self.shards)
        return f"since {self.since} UTC, with the shards {listed}"


def opened(servers: Iterable[ClickHouse]) -> Record | None:
    """Returns a record of the open run. Raises RebalancingError if there are two runs."""
    records = [record for record in map(_read, servers) if record]
    ended = {record.run for record in records if record.state == ENDED}
    found = {record.run: record for record in records if record.state == OPEN and record.run not in ended}
    if len(found) > 1:
        raise RebalancingError(
            f"the servers take part in {len(found)} runs of rebalance: "
            f"{'; '.join(map(str, found.values()))}. Abandon each with its own servers: "
            "rebalance --abandon --writers-stopped"
        )
    return next(iter(found.values()), None)


def begin(cluster: str, shards: Sequence[tuple[int, int, ClickHouse]]) -> None:
    """Records a run on all servers, or continues the open one. `shards` are number, weight and server.

    Raises RebalancingError if a run with other servers or weights is open.
    """
    servers = [server for _, _, server in shards]
    record = opened(servers)
    if record:
        _require_same(record, shards)
    else:
        end(servers)
        listed = tuple((number, weight, server.url) for number, weight, server in shards)
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
        record = Record(str(uuid.uuid4()), PREPARED, since, cluster, 0, listed)
        for number, _, server in shards:
            _write(server, replace(record, own=number))
    for number, _, server in shards:
        _write(server, replace(record, own=number, state=OPEN))


def refuse_open(servers: Iterable[ClickHouse]) -> None:
    """Raises RebalancingError if a run is open: its copies have the columns of now."""
    if record := opened(servers):
        raise RebalancingError(
            f"a run of rebalance is open {record}: repeat it before you change the schema, or end it with "
            "rebalance --abandon"
        )


def require_all(servers: Sequence[ClickHouse]) -> None:
    """Raises RebalancingError if no run is open, or if these servers are not all of it."""
    record = opened(servers)
    if not record:
        raise RebalancingError("no run of rebalance is open on these servers: there is nothing to abandon")
    own = {found.own for found in map(_read, servers) if found and found.run == record.run}
    if missing := [url for number, _, url in record.shards if number not in own]:
        raise RebalancingError(
            f"a run of rebalance is open {record}. Servers of it are missing: {', '.join(missing)}. Give "
            "all of them with --clickhouse, also those that are no longer in remote_servers"
        )


def end(servers: Sequence[ClickHouse]) -> None:
    """Removes the records of a run that is not open or has moved all rows."""
    having = [(server, record) for server in servers if (record := _read(server))]
    for server, record in having:
        _write(server, replace(record, state=ENDED))
    for server, _ in having:
        server.execute(f"DROP TABLE IF EXISTS {SHARD_DATABASE}.{TABLE} SYNC")


def _require_same(record: Record, shards: Sequence[tuple[int, int, ClickHouse]]) -> None:
    problems = []
    for number, weight, server in shards:
        found = _read(server)
        if not found or found.run != record.run:
            problems.append(f"{server.url} has no part in it")
        elif found.own != number:
            problems.append(f"{server.url} was shard {found.own}, and is shard {number} now")
        if number in record.weights and record.weights[number] != weight:
            problems.append(f"shard {number} had the weight {record.weights[number]}, and has {weight} now")
    given = {number for number, _, _ in shards}
    missing = [(number, url) for number, _, url in record.shards if number not in given]
    problems += [f"shard {number}, {url}, is missing" for number, url in missing]
    if problems:
        addresses = " ".join(f"--clickhouse {url}" for _, _, url in record.shards)
        raise RebalancingError(
            f"a run of rebalance is open {record}. This run differs: {'; '.join(problems)}. Nothing was "
            "changed: copied rows would be lost or stored twice. Restore those servers and weights in "
            "remote_servers and repeat the run; or complete only the partition that is being replaced, and "
            "leave the other rows where they are: rebalance --abandon --writers-stopped "
            f"--cluster {record.cluster} {addresses}"
        )


def _read(server: ClickHouse) -> Record | None:
    rows = server.rows(
        "SELECT comment FROM system.tables WHERE database = {shard:String} AND name = {name:String}",
        {"shard": SHARD_DATABASE, "name": TABLE},
    )
    if not rows:
        return None
    fields = json.loads(str(rows[0]["comment"]))
    return Record(**{**fields, "shards": tuple(map(tuple, fields["shards"]))})


def _write(server: ClickHouse, record: Record) -> None:
    text = json.dumps(asdict(record)).replace("\\", "\\\\").replace("'", "\\'")
    server.execute(
        f"CREATE OR REPLACE TABLE {SHARD_DATABASE}.{TABLE} (shard UInt32) ENGINE = Null COMMENT '{text}'"
    )
