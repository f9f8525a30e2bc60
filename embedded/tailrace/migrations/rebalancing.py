"""Moves stored rows to the shards that store their kind of row now, after shards were added or removed.

A cluster's `remote_servers` assigns each row to a shard, by its sharding key and the weights of the shards.
After a change of shards or weights, the rows of before are elsewhere. This moves them, table by table and
partition by partition, while all writers are stopped:

1. Every shard sends its rows of the partition, or of several small ones, through a Distributed table to
   `rebalancing_TABLE` of the shard that stores them now. No materialized view reads these tables, so that
   nothing counts twice.
2. The number and the hash of all rows must equal those of the source. `rebalancing_TABLE` is then renamed to
   `rebalanced_TABLE` on every shard.
3. Each shard replaces its partition by that of `rebalanced_TABLE`, and drops that table.

An interrupted run is continued by the next one with the same servers and weights (rebalancing_record.py):
without any `rebalanced_TABLE` the partition has not changed, with one all rows are complete. While a
partition is replaced, queries may count its rows twice or not at all.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from tailrace.clickhouse import shards
from tailrace.clickhouse.client import ClickHouse
from tailrace.migrations import rebalancing_guard, rebalancing_record
from tailrace.migrations.rebalancing_record import RebalancingError
from tailrace.migrations.servers import STATEMENT_SECONDS

DATABASE = shards.SHARD_DATABASE
COPIES, WHOLE = "rebalancing_", "rebalanced_"
"""Prefixes of the tables with the rows of a partition: of those that arrive, and of all of them."""
ROUTE = "rebalancing_route_"
"""Prefix of the Distributed table that sends rows to COPIES."""
ATTEMPTS = 3
"""A merge of the source between copy and check changes the number of rows of tables that collapse rows."""

BATCH_ROWS = 1_000_000
"""Partitions with fewer rows together are copied together, which takes disk for a copy of them."""

COPY_SETTINGS = {
    "insert_deduplicate": 0,  # a repeated copy has the same blocks
    "optimize_on_insert": 0,
    "distributed_foreground_insert": 1,
    "max_execution_time": 0,
    "max_partitions_per_insert_block": 0,
}

_OF_PARTITIONS = "_partition_id IN {partitions:Array(String)}"
Result = TypeVar("Result")

_ENGINE = re.compile(r"ENGINE = \w*MergeTree(?:\([^()]*(?:\([^()]*\)[^()]*)?\))?")
_EXPIRY = re.compile(r"\sTTL .*?(?=\sSETTINGS |\sCOMMENT |$)", re.DOTALL)
_ROUTED = re.compile(r"Distributed\('[^']*', '[^']*', '[^']*', (.*)\)", re.DOTALL)


@dataclass(frozen=True)
class Shard:
    """One server of a shard, and which remainders of the sharding key its rows have."""

    server: ClickHouse
    number: int
    first: int
    weight: int

    @property
    def last(self) -> int:
        return self.first + self.weight - 1


@dataclass(frozen=True)
class Table:
    """A table of every shard: its sharding key, and the hash of a row."""

    name: str
    key: str
    definition: str
    columns: Sequence[str]
    row_hash: str


@dataclass(frozen=True)
class Moved:
    """Rows of a table that are, or were, on another shard than their key selects."""

    table: str
    partition: str
    rows: int
    stored: int
    """Rows of the whole partition, on all shards."""


class Rebalancing:
    """A cluster; every method raises RebalancingError, ClickHouseError, OSError."""

    def __init__(self, name: str, servers: Sequence[ClickHouse], only: Sequence[str] = ()) -> None:
        """`name` is that in remote_servers, `servers` one of each shard, `only` tables; empty for all."""
        self._cluster = name
        self._shards = _shards(name, servers)
        self._total = sum(shard.weight for shard in self._shards)
        self._tables = [table for table in _tables(self._shards[0].server) if table.name in only or not only]
        if unknown := set(only) - {table.name for table in self._tables}:
            raise RebalancingError(f"no table of several shards: {', '.join(sorted(unknown))}")

    def misplaced(self) -> list[Moved]:
        """Returns partitions with rows on another shard than their key selects, and the number of rows."""
        return [moved for table in self._tables for moved in self._misplaced(table)]

    def run(self, report: Callable[[Moved], None] = lambda _: None) -> None:
        """Moves all rows to their shard; reports each partition after it. All writers must be stopped.

        Refuses to continue a run with other servers or weights.
        """
        servers = [shard.server for shard in self._shards]
        if not rebalancing_record.opened(servers) and not self.misplaced():
            return
        rebalancing_record.begin(
            self._cluster, [(shard.number, shard.weight, shard.server) for shard in self._shards]
        )
        columns = {table.name: table.columns[0] for table in self._tables}
        self._each(lambda server: rebalancing_guard.close(server, columns))
        finish(servers)
        for table in self._tables:
            for batch in _batches(self._misplaced(table)):
                self._copy(table, [moved.partition for moved in batch])
                _replace(table.name, servers)
                for moved in batch:
                    report(moved)
        _end(servers)

    def _misplaced(self, table: Table) -> list[Moved]:
        rows: dict[str, int] = {}
        stored: dict[str, int] = {}
        for shard in self._shards:
            own = f"{table.key} % {self._total} BETWEEN {shard.first} AND {shard.last}"
            for found in shard.server.rows(
                f"SELECT _partition_id AS partition, countIf(NOT ({own})) AS n, count() AS stored "
                f"FROM {DATABASE}.{table.name} GROUP BY partition"
            ):
                partition = str(found["partition"])
                rows[partition] = rows.get(partition, 0) + int(str(found["n"]))
                stored[partition] = stored.get(partition, 0) + int(str(found["stored"]))
        return [Moved(table.name, each, count, stored[each]) for each, count in sorted(rows.items()) if count]

    def _copy(self, table: Table, partitions: Sequence[str]) -> None:
        """Copies the partitions of all shards to the shards that store their rows now."""
        source, copies = f"{DATABASE}.{table.name}", f"{DATABASE}.{COPIES}{table.name}"
        for _ in range(ATTEMPTS):
            self._each(partial(self._create_copies, table))
            self._each(partial(_send, table, partitions))
            if self._content(table, source, partitions) == self._content(table, copies, partitions):
                self._each(lambda server: server.execute(f"DROP TABLE {DATABASE}.{ROUTE}{table.name} SYNC"))
                self._each(partial(_complete, table.name))
                return
        raise RebalancingError(
            f"{table.name}, partitions {', '.join(partitions)}: the copied rows differ from the stored ones; "
            "nothing was replaced. Are all writers stopped?"
        )

    def _create_copies(self, table: Table, server: ClickHouse) -> None:
        copies, route = f"{COPIES}{table.name}", f"{ROUTE}{table.name}"
        server.execute(f"DROP TABLE IF EXISTS {DATABASE}.{copies} SYNC")
        server.execute(table.definition)
        server.execute(
            f"CREATE OR REPLACE TABLE {DATABASE}.{route} AS {DATABASE}.{copies} "
            f"ENGINE = Distributed('{self._cluster}', '{DATABASE}', '{copies}', {table.key})"
        )

    def _content(self, table: Table, name: str, partitions: Sequence[str]) -> tuple[int, int]:
        """Returns the number of rows of partitions on all shards, and the sum of their hashes."""
        question = f"SELECT count() AS n, sum({table.row_hash}) AS hash FROM {name} WHERE {_OF_PARTITIONS}"
        found = self._each(lambda server: server.rows(question, {"partitions": str(list(partitions))})[0])
        numbers, hashes = ([int(str(each[name])) for each in found] for name in ("n", "hash"))
        return sum(numbers), sum(hashes) % 2**64

    def _each(self, do: Callable[[ClickHouse], Result]) -> list[Result]:
        return on_each(do, [shard.server for shard in self._shards])


def on_each(do: Callable[[ClickHouse], Result], servers: Sequence[ClickHouse]) -> list[Result]:
    """Returns the results for all servers, which work at the same time; raises the first error after all."""
    with ThreadPoolExecutor(len(servers)) as pool:
        return list(pool.map(do, servers))


def _batches(moved: Iterable[Moved]) -> Iterator[list[Moved]]:
    """Divides partitions into groups that are copied together: statements take longer than few rows."""
    batch: list[Moved] = []
    for each in moved:
        if batch and sum(other.stored for other in batch) + each.stored > BATCH_ROWS:
            yield batch
            batch = []
        batch.append(each)
    if batch:
        yield batch


def _send(table: Table, partitions: Sequence[str], server: ClickHouse) -> None:
    columns = ", ".join(table.columns)
    server.execute(
        f"INSERT INTO {DATABASE}.{ROUTE}{table.name} ({columns}) SELECT {columns} "
        f"FROM {DATABASE}.{table.name} WHERE {_OF_PARTITIONS}",
        {"partitions": str(list(partitions))},
        timeout=STATEMENT_SECONDS,
        **COPY_SETTINGS,
    )


def abandon(servers: Sequence[ClickHouse]) -> None:
    """Finishes the partition of an interrupted run, and leaves all other rows where they are.

    `servers` are those of the run, in any order; remote_servers may have changed since. Raises
    RebalancingError if no run is open or one of its servers is missing.
    """
    rebalancing_record.require_all(servers)
    finish(servers)
    _end(servers)


def _end(servers: Sequence[ClickHouse]) -> None:
    on_each(rebalancing_guard.open_again, servers)
    rebalancing_record.end(servers)


def finish(servers: Sequence[ClickHouse]) -> None:
    """Finishes a partition whose rows are complete on at least one server, and drops incomplete copies."""
    for name in sorted({name for server in servers for name in _tables_named(server, WHOLE)}):
        _replace(name, servers)
    for server in servers:
        for prefix in (ROUTE, COPIES):
            for name in _tables_named(server, prefix):
                server.execute(f"DROP TABLE {DATABASE}.{prefix}{name} SYNC")


def _replace(table: str, servers: Sequence[ClickHouse]) -> None:
    """Replaces the partition of WHOLE on each server that has that table, and drops it."""
    for server in servers:
        if _exists(server, COPIES + table):
            _complete(table, server)
    having = [server for server in servers if _exists(server, WHOLE + table)]
    if not having:
        return
    partitions = sorted(set().union(*on_each(partial(_partitions, WHOLE + table), having)))

    def replace(server: ClickHouse) -> None:
        own = _partitions(WHOLE + table, server)
        for partition in partitions:
            change = f"REPLACE PARTITION ID '{partition}' FROM {DATABASE}.{WHOLE}{table}"
            if partition not in own:
                change = f"DROP PARTITION ID '{partition}'"
            server.execute(
                f"ALTER TABLE {DATABASE}.{table} {change}", timeout=STATEMENT_SECONDS, alter_sync=2
            )

    on_each(replace, having)
    on_each(lambda server: server.execute(f"DROP TABLE {DATABASE}.{WHOLE}{table} SYNC"), having)


def _shards(cluster: str, servers: Sequence[ClickHouse]) -> list[Shard]:
    """Returns one server of each shard in the order of the cluster."""
    layouts, found = set(), {}
    for server in servers:
        rows = server.rows(
            "SELECT shard_num AS number, any(shard_weight) AS weight, max(is_local) AS own "
            "FROM system.clusters WHERE cluster = {cluster:String} GROUP BY number ORDER BY number",
            {"cluster": cluster},
        )
        layout = tuple((int(str(row["number"])), int(str(row["weight"]))) for row in rows)
        layouts.add(layout)
        found |= {int(str(row["number"])): server for row in rows if row["own"]}
    if len(layouts) != 1:
        raise RebalancingError(f"the servers know different shards of {cluster}: {sorted(layouts)}")
    (layout,) = layouts
    if missing := sorted({number for number, _ in layout} - found.keys()):
        raise RebalancingError(f"no server of shard {', '.join(map(str, missing))} of {cluster} is given")
    if not any(weight for _, weight in layout):
        raise RebalancingError(f"{cluster} is no cluster of these servers, or all its shards have weight 0")
    starts = [sum(weight for _, weight in layout[:index]) for index in range(len(layout))]
    return [
        Shard(found[number], number, start, weight)
        for (number, weight), start in zip(layout, starts, strict=True)
    ]


def _tables(server: ClickHouse) -> list[Table]:
    """Returns the tables of a shard over which there is a Distributed table."""
    rows = server.rows(
        "SELECT stored.name AS name, stored.create_table_query AS text, layer.engine_full AS routed "
        "FROM system.tables AS stored INNER JOIN system.tables AS layer ON layer.name = stored.name "
        "WHERE stored.database = {shard:String} AND stored.engine LIKE '%MergeTree' "
        "AND layer.database = {layer:String} AND layer.engine = 'Distributed' ORDER BY name",
        {"shard": DATABASE, "layer": shards.DATABASE},
    )
    columns = _columns(server)
    return [
        _table(str(row["name"]), str(row["text"]), str(row["routed"]), columns[str(row["name"])])
        for row in rows
        if not str(row["name"]).startswith((COPIES, WHOLE))
    ]


def _columns(server: ClickHouse) -> Mapping[str, Mapping[str, bool]]:
    """Returns the stored columns of each table, in order, and whether an insert may name them."""
    tables: dict[str, dict[str, bool]] = {}
    for row in server.rows(
        "SELECT table, name, default_kind IN ('', 'DEFAULT') AS written FROM system.columns "
        "WHERE database = {shard:String} AND default_kind != 'ALIAS' ORDER BY table, position",
        {"shard": DATABASE},
    ):
        tables.setdefault(str(row["table"]), {})[f"`{row['name']}`"] = bool(row["written"])
    return tables


def _table(name: str, text: str, routed: str, columns: Mapping[str, bool]) -> Table:
    key = _ROUTED.match(routed)
    assert key is not None, routed
    written = [column for column, is_written in columns.items() if is_written]
    row_hash = f"cityHash64(toString(tuple({', '.join(columns)})))"
    return Table(name, key[1], _definition(name, text), written, row_hash)


def _definition(name: str, text: str) -> str:
    """Returns the statement that creates COPIES of a table, without expiry and collapsing merges."""
    head = f"CREATE TABLE {DATABASE}.{name} "
    assert text.startswith(head), text
    body = rebalancing_guard.without(text.removeprefix(head))
    plain = _ENGINE.sub("ENGINE = MergeTree", body, count=1)
    return f"CREATE TABLE {DATABASE}.{COPIES}{name} {_EXPIRY.sub('', plain)}"


def _complete(table: str, server: ClickHouse) -> None:
    server.execute(f"RENAME TABLE {DATABASE}.{COPIES}{table} TO {DATABASE}.{WHOLE}{table}")


def _exists(server: ClickHouse, name: str) -> bool:
    return server.execute(f"EXISTS TABLE {DATABASE}.{name}").strip() == "1"


def _tables_named(server: ClickHouse, prefix: str) -> list[str]:
    """Returns the tables over which there is one with this prefix."""
    rows = server.rows(
        "SELECT name FROM system.tables WHERE database = {shard:String} "
        "AND startsWith(name, {prefix:String})",
        {"shard": DATABASE, "prefix": prefix},
    )
    return [str(row["name"]).removeprefix(prefix) for row in rows]


def _partitions(name: str, server: ClickHouse) -> set[str]:
    rows = server.rows(
        "SELECT DISTINCT partition_id AS id FROM system.parts "
        "WHERE database = {shard:String} AND table = {table:String} AND active",
        {"shard": DATABASE, "table": name},
    )
    return {str(row["id"]) for row in rows}
