"""Applies to each table when its rows are deleted: sql/retention.yaml, legal holds, days without an archive.

A table without holds has `TTL time + INTERVAL n DAY`. With holds, the TTL of a held row is FAR: ClickHouse
deletes exactly the others. ttl_only_drop_parts is off then: a part would wait for its last row.

ClickHouse stores the earliest and latest TTL of a part when it writes it, and drops a part by them alone.
So a changed TTL protects no part that exists: these get new values (MATERIALIZE TTL, which here changes no
row), while SYSTEM STOP TTL MERGES keeps ClickHouse from deleting. It is started again only if all is done.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from tailrace.clickhouse import running_inserts
from tailrace.clickhouse.client import ClickHouse
from tailrace.migrations.migration_files import MigrationError, load_migrations
from tailrace.migrations.retention import waiting_tables
from tailrace.migrations.servers import ALL_REPLICAS, ANSWER_SECONDS, STATEMENT_SECONDS, Servers
from tailrace.plural import counted
from tailrace.retention import archive, holds
from tailrace.retention.selectors import Selector

FAR = "toDateTime('2106-01-01 00:00:00', 'UTC')"
"""When held rows would be deleted: a DateTime ends in February 2106."""
INSERT_SECONDS = 3600
"""How long running inserts may take to end."""
ROUNDS = 20
RECALCULATE = "materialize_ttl_recalculate_only"
DROP_PARTS = "ttl_only_drop_parts"

STALE = """
SELECT DISTINCT partition_id FROM
(
    SELECT _part AS name, min(toUnixTimestamp(toDateTime({ttl}))) AS first,
        max(toUnixTimestamp(toDateTime({ttl}))) AS last
    FROM {name} GROUP BY _part
) AS rows
INNER JOIN
(
    SELECT name, partition_id, toUnixTimestamp(delete_ttl_info_min) AS earliest,
        toUnixTimestamp(delete_ttl_info_max) AS latest
    FROM system.parts WHERE active AND database = {{database:String}} AND table = {{table:String}}
) AS parts USING (name)
WHERE latest < last OR earliest > first
"""
MERGING = """
SELECT partition_id FROM system.merges WHERE database = {database:String} AND table = {table:String}
"""

_MADE = re.compile(r"CREATE TABLE IF NOT EXISTS tailrace\.(\w+)")
_TTL = re.compile(r"\bTTL (.+?) \+ INTERVAL \{retention:(\w+)\} DAY")
_DAYS = re.compile(r" TTL .*\btoIntervalDay\((\d+)\)\)? SETTINGS ")
_DROPS_PARTS = re.compile(rf"\b{DROP_PARTS} = 1\b")
_FORMATTED = re.compile(r"^ALTER TABLE t \(MODIFY TTL (.*)\)$", re.DOTALL)
Report = Callable[[str], None]


@dataclass(frozen=True)
class Expiry:
    """When the rows of one table are deleted, without holds."""

    table: str
    time: str
    """The expression of the time of a row, such as `toDateTime(event_time)`."""
    days: int
    drops_parts: bool
    """Whether its migrations set ttl_only_drop_parts."""

    def ttl(self, kept: Collection[str] = ()) -> str:
        """Returns the TTL; `kept` are conditions for rows that are not deleted."""
        if not kept:
            return f"{self.time} + toIntervalDay({self.days})"
        return f"if({' OR '.join(kept)}, {FAR}, toDateTime({self.time}) + toIntervalDay({self.days}))"


@dataclass(frozen=True)
class Kept:
    """What is not deleted although its retention is over."""

    selectors: Sequence[Selector] = ()
    caps: Mapping[str, date] = field(default_factory=dict)
    """By table: rows of this day (UTC) and of later days wait for the archive."""

    def conditions(self, expiry: Expiry, columns: Collection[str]) -> list[str]:
        found = [each.condition(expiry.table, columns, expiry.time) for each in self.selectors]
        cap = self.caps.get(expiry.table)
        waits = [f"(toDateTime({expiry.time}) >= toDateTime('{cap} 00:00:00', 'UTC'))"] if cap else []
        return [*filter(None, found), *waits]


def expiries(days: Mapping[str, int]) -> dict[str, Expiry]:
    """Returns by table what the migrations and sql/retention.yaml define."""
    found = {}
    for migration in load_migrations():
        made, ttl = _MADE.search(migration.statement), _TTL.search(migration.statement)
        if made and ttl and ttl[2] in days:
            drops_parts = bool(_DROPS_PARTS.search(migration.statement))
            found[made[1]] = Expiry(made[1], ttl[1], days[ttl[2]], drops_parts)
    return found


def times(days: Mapping[str, int]) -> dict[str, str]:
    """Returns by table the expression of the time of a row."""
    return {table: expiry.time for table, expiry in expiries(days).items()}


def kept(first: ClickHouse, days: Mapping[str, int], waiting: Collection[str] | None = None) -> Kept:
    """Reads the holds in force, and how far the archive is for the tables that wait for it: by default those
    of sql/retention.yaml."""
    waiting = waiting_tables(archive.tables(first)) if waiting is None else waiting
    of_waiting = {table: time_ for table, time_ in times(days).items() if table in waiting}
    caps = archive.caps(first, of_waiting) if of_waiting else {}
    return Kept(held(first), caps)


def held(first: ClickHouse) -> list[Selector]:
    """Returns the selectors of the holds in force."""
    return [hold.selector for hold in holds.in_force(first)]


def apply(
    servers: Servers,
    found: Kept,
    report: Report = lambda _: None,
    require_lock: Callable[[], None] = lambda: None,
) -> None:
    """Makes the TTLs of all tables those that they should be, on each server in order.

    `require_lock` is called before each table. Returns after no held row can be deleted any more. If it
    fails, nothing is deleted until it is repeated or ClickHouse restarts. Raises MigrationError,
    LockLostError, ClickHouseError, OSError.
    """
    for tables in _tables(servers, found):
        require_lock()
        _apply_to(tables, found, report)


def is_applied(servers: Servers, found: Kept) -> bool:
    """Whether all tables have the TTLs that `apply` gives them. Raises ClickHouseError, OSError."""
    return all(table.is_right(table.wanted(found)) for tables in _tables(servers, found) for table in tables)


def _tables(servers: Servers, found: Kept) -> Iterator[Sequence["_Table"]]:
    """Yields each table of the database, on the servers that have it."""
    database = servers.dialect.database
    definitions = {server.url: _definitions(server, database) for server in servers.all}
    columns = holds.stored_columns(servers.first, database) if found.selectors else {}
    for name, expiry in expiries(servers.dialect.retention_days).items():
        having = [server for server in servers.all if name in definitions[server.url]]
        leading = servers.of_each_shard(database, name) if servers.dialect.in_turn else having
        yield [
            _Table(
                server,
                servers,
                expiry,
                columns.get(name, ()),
                definitions[server.url][name],
                server in leading,
            )
            for server in having
        ]


def _definitions(server: ClickHouse, database: str) -> dict[str, str]:
    rows = server.rows(
        "SELECT name, create_table_query AS definition FROM system.tables "
        "WHERE database = {database:String} AND engine LIKE '%MergeTree'",
        {"database": database},
    )
    return {str(row["name"]): str(row["definition"]) for row in rows}


def _apply_to(tables: Sequence["_Table"], found: Kept, report: Report) -> None:
    """Applies the TTL of one table on all servers."""
    wanted = [(table, table.wanted(found)) for table in tables]
    for table, ttl in wanted:
        if table.leads and not table.is_right(ttl):
            report(table.change(ttl))
            if not table.is_guarded(ttl):
                table.alter(f"MODIFY TTL {ttl.text}")
    _guard([pair for pair in wanted if pair[0].is_guarded(pair[1])])


def _guard(wanted: Sequence[tuple["_Table", "_Wanted"]]) -> None:
    """Replicas delete for each other, so all stop before one is changed."""
    if any(not table.is_right(ttl) or table.stale(ttl) for table, ttl in wanted):
        for table, _ in wanted:
            table.system("STOP TTL MERGES")
        for table, ttl in wanted:
            table.replace(ttl)
    for table, _ in wanted:
        table.system("START TTL MERGES")
    for table, ttl in wanted:
        table.forget(ttl)


@dataclass(frozen=True)
class _Wanted:
    """The TTL that a table should have."""

    text: str
    """As ClickHouse stores it."""
    conditions: int
    """How many conditions keep rows."""


@dataclass(frozen=True)
class _Table:
    """One table on one server."""

    server: ClickHouse
    servers: Servers
    expiry: Expiry
    columns: Collection[str]
    definition: str
    leads: bool
    """Whether it is changed directly, and not by another replica."""

    @property
    def name(self) -> str:
        return f"{self.servers.dialect.database}.{self.expiry.table}"

    @property
    def had_kept_rows(self) -> bool:
        return f"{RECALCULATE} = 1" in self.definition

    def wanted(self, found: Kept) -> _Wanted:
        conditions = found.conditions(self.expiry, self.columns)
        if not conditions:
            return _Wanted(self.expiry.ttl(), 0)
        ttl = f"ALTER TABLE t MODIFY TTL {self.expiry.ttl(conditions)}"
        formatted = "SELECT formatQuerySingleLine({ttl:String}) AS text"
        (row,) = self.server.rows(formatted, {"ttl": ttl.replace("\\", "\\\\")})
        return _Wanted(_FORMATTED.sub(r"\1", str(row["text"])), len(conditions))

    @property
    def is_recalculated(self) -> bool:
        """Whether its parts have the values of its TTL: DROP_PARTS is stated until then and reset after.
        With ON CLUSTER a repeated run knows nothing else of the parts."""
        return self.had_kept_rows and f"{DROP_PARTS} = " not in self.definition

    def is_right(self, ttl: _Wanted) -> bool:
        has_ttl = f" TTL {ttl.text} SETTINGS " in self.definition
        return has_ttl and (self.is_recalculated if ttl.conditions else not self.had_kept_rows)

    def is_guarded(self, ttl: _Wanted) -> bool:
        """Whether the table keeps rows, or did before."""
        return bool(ttl.conditions) or self.had_kept_rows

    def change(self, ttl: _Wanted) -> str:
        """Returns one line about what changes."""
        before = _DAYS.search(self.definition)
        was = f" instead of {before[1]}" if before and int(before[1]) != self.expiry.days else ""
        number = ttl.conditions
        kept = f", without rows that {counted(number, 'condition keeps', 'conditions keep')}"
        days = counted(self.expiry.days, "day")
        return f"retention of {self.expiry.table}: {days}{was}{kept if number else ''}"

    def replace(self, ttl: _Wanted) -> None:
        """Gives the table its TTL, and the values of the TTL to its parts. Nothing is deleted meanwhile."""
        self._set(f"MODIFY SETTING {RECALCULATE} = 1, {DROP_PARTS} = 0")
        if self.leads:
            self.alter(f"MODIFY TTL {ttl.text}", materialize_ttl_after_modify=0)
            self._await_inserts()
            self._recalculate(ttl)
        if stale := self.stale(ttl):
            raise MigrationError(
                f"{self.name}: the TTL of {counted(len(stale), 'partition')} could not be changed"
            )
        is_set = self.expiry.drops_parts and not ttl.conditions
        self._set(f"MODIFY SETTING {DROP_PARTS} = 1" if is_set else f"RESET SETTING {DROP_PARTS}")

    def forget(self, ttl: _Wanted) -> None:
        """Removes the trace of holds. Until then a repeated run starts deletion, so this is the last step."""
        if self.had_kept_rows and not ttl.conditions:
            self._set(f"RESET SETTING {RECALCULATE}")

    def _recalculate(self, ttl: _Wanted) -> None:
        """Gives all parts the values of the TTL. The partition of a merge that ends meanwhile is recalculated
        again. With ON CLUSTER all partitions are, once."""
        for _ in range(ROUNDS):
            clauses = self.stale(ttl, with_merging=True)
            for clause in clauses:
                self.alter(f"MATERIALIZE TTL {clause}", mutations_sync=ALL_REPLICAS)
            if not clauses or self.servers.dialect.on_cluster():
                return

    def stale(self, ttl: _Wanted, with_merging: bool = False) -> list[str]:
        """Returns the clauses of partitions with parts whose stored TTLs do not fit their rows.

        A merge that runs gives its part the values of its sources, so `with_merging` adds its partition. With
        ON CLUSTER the parts of other servers are not known: all partitions, once.
        """
        if self.servers.dialect.on_cluster():
            return [""] if with_merging else []
        database, _, table = self.name.partition(".")
        names = {"database": database, "table": table}
        rows = self.server.rows(STALE.format(ttl=ttl.text, name=self.name), names, timeout=STATEMENT_SECONDS)
        if with_merging:
            rows += self.server.rows(MERGING, names)
        return [f"IN PARTITION ID '{each}'" for each in sorted({str(row["partition_id"]) for row in rows})]

    def system(self, what: str) -> None:
        self._execute(f"SYSTEM {what} {self.servers.dialect.on_cluster()} {self.name}")

    def alter(self, change: str, **settings: int) -> None:
        if self.servers.dialect.in_turn:
            settings["alter_sync"] = ALL_REPLICAS
        self._execute(f"ALTER TABLE {self.name} {self.servers.dialect.on_cluster()} {change}", **settings)

    def _set(self, change: str) -> None:
        self._execute(f"ALTER TABLE {self.name} {self.servers.dialect.on_cluster()} {change}")

    def _execute(self, statement: str, **settings: int) -> None:
        """With ON CLUSTER, each server runs statements in order: a short one waits for a recalculation, which
        may take hours."""
        settings |= self.servers.waiting()
        self.server.execute(statement, timeout=STATEMENT_SECONDS + ANSWER_SECONDS, **settings)

    def _await_inserts(self) -> None:
        """Waits for inserts that began before the TTL was changed: their parts have values of the old one."""
        dialect = self.servers.dialect
        cluster = dialect.cluster if dialect.on_cluster() else ""
        if not running_inserts.await_end(self.server, INSERT_SECONDS, cluster):
            raise MigrationError(f"{self.name}: an insert has been running for more than {INSERT_SECONDS} s")
