"""Migrates ClickHouse to the schema in sql/migrations: numbered files, one statement each, forward only.

tailrace.schema_migrations records the applied migrations with the SHA-256 of each file, before templating. A
file that was changed, removed or inserted between applied ones is an error, because the state of the database
would be unknown. A second run does nothing.

Templates: a migration may contain

    {on_cluster}             `ON CLUSTER 'name'` on a replicated cluster, nothing on one server
    {engine:Name(args)}      `Name(args)`, or `ReplicatedName(args)` with the server's default replica path.
                             Without ON CLUSTER that path is given (migration_files.REPLICA_PATH)
    {deduplication_window}   the settings by which ClickHouse drops a block that is posted again
    {retention:table}        days, from sql/retention.yaml

On more than one shard the statements apply to database tailrace_shard; the tables over it are created again
afterwards (tailrace.clickhouse.shards).

Materialized views may change only while nothing writes and no checkpoint contains blocks that are still to be
posted: stop the job with a savepoint first. `apply` refuses such a migration on a database in use unless
`writers_stopped` is set.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tailrace import __version__
from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.migrations import changed_views, expiry, rebalancing_record, rollups
from tailrace.migrations.migration_files import Dialect, Migration, MigrationError, load_migrations
from tailrace.migrations.retention import load_retention
from tailrace.migrations.servers import Servers

RECORDS_FROM = 2
"""The migration that creates tailrace.schema_migrations; earlier ones are recorded with it."""


@dataclass(frozen=True)
class State:
    """The state of one migration in the files and in the database."""

    number: int
    title: str
    applied_at: str
    """UTC; empty if it has not been applied."""
    problem: str = ""
    """A problem with it, in one clause; empty if there is none."""


def status(clickhouse: ClickHouse, migrations: Sequence[Migration] | None = None) -> list[State]:
    """Returns every migration of files and database, in order."""
    migrations = load_migrations() if migrations is None else migrations
    applied = _applied(clickhouse)
    newest = max(applied, default=0)
    states = [_state(migration, applied.pop(migration.number, None), newest) for migration in migrations]
    return states + [_missing(row) for row in applied.values()]


def _applied(clickhouse: ClickHouse) -> dict[int, Mapping]:
    known = "SELECT 1 FROM system.tables WHERE database = 'tailrace' AND name = 'schema_migrations'"
    if not clickhouse.rows(known):
        return {}
    rows = clickhouse.rows("SELECT * FROM tailrace.schema_migrations FINAL ORDER BY number")
    return {row["number"]: row for row in rows}


def _state(migration: Migration, row: Mapping | None, newest: int) -> State:
    if row is None:
        late = f"not applied, but {newest:04} is: give it a number above that"
        return State(migration.number, migration.title, "", late if migration.number < newest else "")
    changed = "changed after it was applied: restore the file and put the change into a new migration"
    same = row["sha256"] == migration.sha256 and row["name"] == migration.name
    return State(migration.number, migration.title, row["applied_at"], "" if same else changed)


def _missing(row: Mapping) -> State:
    title = f"{row['number']:04}_{row['name']}"
    return State(
        row["number"],
        title,
        row["applied_at"],
        f"applied by version {row['version']}, but its file is missing: use a version that has it",
    )


def apply(
    clickhouse: ClickHouse,
    cluster: str = "",
    writers_stopped: bool = False,
    report: Callable[[str], None] = lambda _: None,
    migrations: Sequence[Migration] | None = None,
    retention_days: Mapping[str, int] | None = None,
    sharded: bool = False,
    others: Sequence[ClickHouse] = (),
    replicated: bool = False,
) -> list[str]:
    """Applies missing migrations and returns their titles; adjusts TTLs that differ from sql/retention.yaml
    and from the legal holds (tailrace.migrations.expiry).

    `cluster` is the name of the servers in ClickHouse's remote_servers, empty for one server. `sharded`: the
    cluster has more than one shard. `others` are the other servers if statements run on each server in order
    instead of ON CLUSTER: with `replicated` all replicas of all shards, otherwise the server of each other
    shard, without Keeper. `report` is called before each migration. Raises MigrationError, LockedError,
    ClickHouseError, OSError.
    """
    migrations = load_migrations() if migrations is None else migrations
    days = load_retention() if retention_days is None else retention_days
    servers = _servers(days, clickhouse, cluster, sharded, others, replicated)
    with servers.locked() as require_lock:
        servers.refuse_other_layout()
        servers.refuse_new_first()
        if sharded:
            rebalancing_record.refuse_open(servers.all)
        servers.add_shards(report)
        states = status(clickhouse, migrations)
        _refuse_problems(states)
        pending = [m for m, state in zip(migrations, states, strict=True) if not state.applied_at]
        servers.complete([m for m in migrations if m not in pending], report)
        if len(pending) < len(migrations) and not writers_stopped:
            _refuse_views(pending)
        _apply_in_order(servers, pending, report, require_lock)
        servers.spread()
        _apply_expiry(servers, days, report, require_lock)
    return [migration.title for migration in pending]


def _servers(
    days: Mapping[str, int],
    clickhouse: ClickHouse,
    cluster: str,
    sharded: bool,
    others: Sequence[ClickHouse],
    replicated: bool,
) -> Servers:
    dialect = Dialect(days, cluster, sharded, keeper=replicated or not others, in_turn=replicated)
    return Servers(clickhouse, others, dialect)


def apply_retention(
    clickhouse: ClickHouse,
    cluster: str = "",
    report: Callable[[str], None] = lambda _: None,
    retention_days: Mapping[str, int] | None = None,
    sharded: bool = False,
    others: Sequence[ClickHouse] = (),
    replicated: bool = False,
) -> None:
    """Adjusts TTLs to sql/retention.yaml, to the legal holds and to the archive; the arguments are those of
    `apply`. Returns after no held row can be deleted. Raises as `apply`."""
    days = load_retention() if retention_days is None else retention_days
    servers = _servers(days, clickhouse, cluster, sharded, others, replicated)
    with servers.locked() as require_lock:
        servers.refuse_other_layout()
        _apply_expiry(servers, days, report, require_lock)


def is_retention_applied(clickhouse: ClickHouse) -> bool:
    """Whether the TTLs of one server fit sql/retention.yaml, the legal holds and the archive; parts are not
    compared. Raises SelectorError, ClickHouseError, OSError."""
    days = load_retention()
    return expiry.is_applied(_servers(days, clickhouse, "", False, (), False), expiry.kept(clickhouse, days))


def _apply_expiry(
    servers: Servers,
    days: Mapping[str, int],
    report: Callable[[str], None],
    require_lock: Callable[[], None],
) -> None:
    """Applies the TTLs, and again if a hold was recorded meanwhile: the run that recorded it could not apply
    it, because this one has the lock.
    """
    while True:
        found = expiry.kept(servers.first, days)
        expiry.apply(servers, found, report, require_lock)
        if expiry.held(servers.first) == found.selectors:
            return


def _refuse_problems(states: Sequence[State]) -> None:
    problems = [f"{state.title}: {state.problem}" for state in states if state.problem]
    if problems:
        raise MigrationError("\n".join(problems))


def _refuse_views(pending: Sequence[Migration]) -> None:
    views = [migration.title for migration in pending if migration.touches_view]
    if views:
        raise MigrationError(
            f"{', '.join(views)}: changes materialized views, which is safe only while nothing writes: stop "
            "the job with a savepoint and run `tailrace migrate --writers-stopped` "
            "(on Kubernetes: docs/UPGRADING.md)"
        )


def _apply_in_order(
    servers: Servers,
    pending: Sequence[Migration],
    report: Callable[[str], None],
    require_lock: Callable[[], None],
) -> None:
    unrecorded = []
    for migration in pending:
        require_lock()
        report(migration.title)
        unrecorded.append(_apply_one(servers, migration, report))
        if migration.number == RECORDS_FROM:
            servers.spread()
        if migration.number >= RECORDS_FROM:
            servers.first.insert("tailrace.schema_migrations", unrecorded, async_insert=0)
            unrecorded = []


def _apply_one(servers: Servers, migration: Migration, report: Callable[[str], None]) -> Mapping:
    begin = time.monotonic()
    try:
        if view := changed_views.changed_view(migration):
            changed_views.load(servers, view)
        servers.run(servers.dialect.render(migration))
        if view:
            changed_views.load_again(servers, view)
        if rollup := rollups.new_rollup(migration):
            rollups.count_once(servers, rollup, migration.creates_view, report)
    except ClickHouseError as error:
        raise MigrationError(f"{migration.title}: {error}") from error
    return {
        "number": migration.number,
        "name": migration.name,
        "sha256": migration.sha256,
        "seconds": time.monotonic() - begin,
        "version": __version__,
    }
