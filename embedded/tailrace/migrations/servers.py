"""The servers of the database, and which of them runs a statement."""

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tailrace.clickhouse import shards
from tailrace.clickhouse.client import ClickHouse
from tailrace.migrations import replicas
from tailrace.migrations.lock import lock
from tailrace.migrations.migration_files import Dialect, Migration, MigrationError

ALL_REPLICAS = 2
"""The value of alter_sync that waits for all replicas."""
STATEMENT_SECONDS = 86_400
"""The limit for a statement of a migration: some fill a table from all events."""
ANSWER_SECONDS = 60
"""How much longer than ClickHouse's own limit an answer may take: it names the servers that did not end."""
ACTIVE_REPLICAS = 3
"""The value of alter_sync that waits for the replicas that are not down."""

_PASSED_ON = re.compile(r"(?:ALTER TABLE|INSERT INTO) (\w+)\.(\w+)")
_READ = re.compile(r"\bFROM (\w+\.\w+)")
_CREATED = re.compile(r"CREATE TABLE IF NOT EXISTS \w+\.(\w+)")
_LOCAL = re.compile(r"\bMODIFY SETTING\b")
"""Changes that a replica does not pass on to the others."""


@dataclass(frozen=True)
class Servers:
    """The servers of the database."""

    first: ClickHouse
    """The server whose record of migrations is read and written."""
    others: Sequence[ClickHouse]
    """The other servers that receive statements directly, not through ON CLUSTER."""
    dialect: Dialect

    @property
    def all(self) -> tuple[ClickHouse, ...]:
        return (self.first, *self.others)

    @contextlib.contextmanager
    def locked(self) -> Iterator[Callable[[], None]]:
        """Holds the lock of each server; yields a function that raises LockLostError if one has ended.

        Raises LockedError, MigrationError if one of several is unavailable, and OSError if the only one is.
        """
        with contextlib.ExitStack() as locks:
            held = []
            for server in {each.url: each for each in self.all}.values():
                try:
                    held.append(locks.enter_context(lock(server)))
                except OSError as error:
                    if not self.others:
                        raise
                    text = f"{server.url} is unavailable, nothing was changed: {error}"
                    raise MigrationError(text) from error

            def require() -> None:
                for each in held:
                    each.require()

            yield require

    def run(self, statement: str) -> None:
        """Runs a statement where it must run. After ClickHouseError or OSError, some may have run it."""
        for server in self._targets(statement):
            if statement.startswith("INSERT"):
                self.await_rows(server, _READ.findall(statement))
            self.execute_on(server, statement)

    def await_rows(self, server: ClickHouse, tables: Iterable[str]) -> None:
        """Waits until a replica has the rows that other replicas of its shard have stored."""
        if self.dialect.in_turn:
            for table in tables:
                server.execute(f"SYSTEM SYNC REPLICA {table}")

    def _targets(self, statement: str) -> Sequence[ClickHouse]:
        """Returns one server of each shard if replicas pass the statement on to each other, else all."""
        passed_on = _PASSED_ON.match(statement)
        if not self.dialect.in_turn or not passed_on or _LOCAL.search(statement):
            return self.all
        return self.of_each_shard(*passed_on.groups())

    def of_each_shard(self, database: str, table: str) -> Sequence[ClickHouse]:
        """Returns one server of each shard, or every server if the table is not replicated."""
        chosen: dict[str, ClickHouse] = {}
        for server in self.all:
            chosen.setdefault(_replica_path(server, database, table) or server.url, server)
        return list(chosen.values())

    def execute_on(self, server: ClickHouse, statement: str) -> str:
        """Runs a statement on one server; if replicas or ON CLUSTER pass it on, waits for all servers."""
        settings = self.waiting()
        if self.dialect.in_turn:
            settings["alter_sync"] = ALL_REPLICAS
        return server.execute(statement, timeout=STATEMENT_SECONDS + ANSWER_SECONDS, **settings)

    def waiting(self) -> dict[str, int]:
        """Returns the setting that makes ClickHouse wait for all servers with ON CLUSTER.

        By default it stops to wait after three minutes."""
        return {"distributed_ddl_task_timeout": STATEMENT_SECONDS} if self.dialect.on_cluster() else {}

    def refuse_other_layout(self) -> None:
        for server in self.all:
            try:
                shards.refuse_other_layout(server, self.dialect.sharded)
            except shards.ShardsError as error:
                raise MigrationError(str(error)) from error
            if self.dialect.replicated and replicas.stores_alone(server, self.dialect.database):
                raise MigrationError(
                    f"{server.url}: the tables of {self.dialect.database} are not replicated, and cannot "
                    "become replicated in place; keep one server, or recreate the database"
                )
            if self.dialect.in_turn and replicas.created_on_cluster(server, self.dialect.database):
                raise MigrationError(
                    f"{server.url}: the tables of {self.dialect.database} were created ON CLUSTER; a run "
                    "with --replicated gives tables other paths in Keeper; run without it (in the chart: "
                    "clickhouse.onCluster: true)"
                )

    def refuse_new_first(self) -> None:
        """Raises MigrationError if only other servers have tables: the first has the record of migrations."""
        having = [server.url for server in self.all if created_tables(server, self.dialect.database)]
        if self.dialect.in_turn and having and having[0] != self.first.url:
            raise MigrationError(f"{self.first.url} has no tables, but {having[0]} has: list that one first")

    def add_shards(self, report: Callable[[str], None]) -> None:
        """Creates the tables of the first server on servers of a shard without any: a shard that was added.

        A table over all shards cannot be read before.
        """
        if not self.dialect.sharded or not created_tables(self.first, self.dialect.database):
            return
        for server in self.others:
            if not created_tables(server, self.dialect.database):
                report(f"{server.url}: creating the tables that {self.first.url} has")
                replicas.copy_schema(self.first, server, self.dialect.database)

    def complete(self, applied: Iterable[Migration], report: Callable[[str], None]) -> None:
        """Creates on new replicas what applied migrations created on the others."""
        if not self.dialect.in_turn:
            return
        created = tables_of(applied)
        tables = {server.url: created_tables(server, self.dialect.database) for server in self.all}
        complete = [server for server in self.all if created <= tables[server.url]]
        for server in self.all:
            if not created <= tables[server.url]:
                if not complete:
                    raise MigrationError("no server has all tables of the applied migrations")
                report(f"{server.url}: creating the tables that {complete[0].url} has")
                replicas.copy_schema(complete[0], server, self.dialect.database)

    def spread(self) -> None:
        """Creates the tables over all shards, if there is more than one."""
        if not self.dialect.sharded:
            return
        for server in self.all:
            shards.spread(server, self.dialect.cluster, self.dialect.on_cluster(), self._runner(server))

    def _runner(self, server: ClickHouse) -> Callable[[str], str]:
        return lambda statement: self.execute_on(server, statement)


def layout_of(
    servers: Sequence[ClickHouse], cluster: str, sharded: bool, replicated: bool
) -> dict[str, object]:
    """Returns the arguments of `runner.apply` for these servers. Raises MigrationError."""
    in_shards = sharded or (len(servers) > 1 and not replicated)
    if in_shards and not cluster:
        raise MigrationError(
            "shards need --cluster: the name by which ClickHouse's remote_servers lists them"
        )
    return {"sharded": in_shards, "others": servers[1:], "replicated": replicated}


def _replica_path(server: ClickHouse, database: str, table: str) -> str:
    """Returns the path that all replicas of a table share, or nothing if it is not replicated."""
    rows = server.rows(
        "SELECT zookeeper_path AS path FROM system.replicas WHERE database = {database:String} "
        "AND table = {table:String}",
        {"database": database, "table": table},
    )
    return str(rows[0]["path"]) if rows else ""


def tables_of(migrations: Iterable[Migration]) -> set[str]:
    """Returns the names of the tables that migrations create."""
    return {name for each in migrations for name in _CREATED.findall(each.statement)}


def created_tables(server: ClickHouse, database: str) -> set[str]:
    """Returns the names of the tables of a server that migrations create: with rows, or with views only."""
    rows = server.rows(
        "SELECT name FROM system.tables WHERE database = {database:String} "
        "AND (engine LIKE '%MergeTree' OR engine = 'Null')",
        {"database": database},
    )
    return {str(row["name"]) for row in rows}
