"""The migration runner against a real ClickHouse."""

import dataclasses
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import pytest

from e2e.limits import LIMIT_SECONDS
from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.config.resources import REPOSITORY
from tailrace.migrations import lock, migration_files, rollups, servers
from tailrace.migrations import runner as migration_runner
from tailrace.migrations.lock import LockedError, LockLostError
from tailrace.migrations.migration_files import Dialect, Migration, MigrationError
from tailrace.migrations.servers import Servers

NEXT = migration_files.load_migrations()[-1].number + 1
SMALL = Migration(
    NEXT,
    "small",
    "-- why\nCREATE TABLE tailrace.small {on_cluster} (a UInt8) ENGINE = {engine:MergeTree} ORDER BY a\n",
)


@pytest.fixture
def with_small(admin) -> Iterator[ClickHouse]:
    """Admin's access to the whole schema; the migration `small` is undone."""
    yield admin
    admin.execute("DROP TABLE IF EXISTS tailrace.small SYNC")
    admin.execute(f"ALTER TABLE tailrace.schema_migrations DELETE WHERE number = {NEXT}", mutations_sync=2)


def test_status_of_an_empty_server_lists_what_is_to_be_done(empty):
    assert [s.title for s in migration_runner.status(empty) if not s.applied_at] == [
        m.title for m in migration_files.load_migrations()
    ]


def test_only_one_migrates_at_a_time(empty):
    with (
        lock.lock(empty),
        pytest.raises(LockedError, match=r"another migration is running: .* process \d+"),
        lock.lock(empty),
    ):
        pass

    with lock.lock(empty):
        pass


def test_the_lock_ends_with_its_holder(empty):
    hold = (
        "import sys\n"
        "from tailrace.clickhouse.client import ClickHouse\n"
        "from tailrace.migrations import lock\n"
        "with lock.lock(ClickHouse(*sys.argv[1:])): print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, empty.url, empty.user, empty.password],
        cwd=REPOSITORY / "embedded",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout.readline() == "held\n"
    holder.kill()
    holder.communicate()

    deadline = time.monotonic() + LIMIT_SECONDS
    while not _can_lock(empty):
        assert time.monotonic() < deadline, "the lock outlived its holder"


def _can_lock(clickhouse) -> bool:
    try:
        with lock.lock(clickhouse):
            return True
    except LockedError:
        return False


def test_nobody_gets_a_lock_while_it_is_renewed(empty):
    """Another process tries all the time while the query of the lock is replaced."""
    stopped, tries = threading.Event(), []

    def compete() -> None:
        while not stopped.is_set():
            tries.append(_can_lock(empty))

    competing = threading.Thread(target=compete)
    with lock.lock(empty) as held:
        competing.start()
        try:
            while len(tries) < 3:
                held.renew()
                held.require()
        finally:
            stopped.set()
            competing.join()
    assert not any(tries)
    assert _can_lock(empty)


def test_a_holder_renews_its_lock_by_itself(empty):
    elapsed = "SELECT min(elapsed) AS seconds FROM system.processes WHERE query_id LIKE {id:String}"
    deadline = time.monotonic() + LIMIT_SECONDS
    with lock.lock(empty, renew_seconds=0.01):
        youngest = []
        while len(youngest) < 2 or youngest[-1] >= youngest[-2]:
            assert time.monotonic() < deadline, "the lock is not renewed"
            youngest.append(empty.rows(elapsed, {"id": f"{lock.LOCK_QUERY_ID}%"})[0]["seconds"])


def test_a_lock_that_is_not_renewed_expires_and_its_holder_knows(empty):
    """As if the machine of the holder had disappeared without closing its connections."""
    deadline = time.monotonic() + LIMIT_SECONDS
    with lock.lock(empty, seconds=0.4, renew_seconds=3600) as held:
        while not _can_lock(empty):
            assert time.monotonic() < deadline, "the lock did not expire"
        with pytest.raises(LockLostError, match="nothing more was changed"):
            held.require()


def test_applies_everything_once(empty, server):
    assert migration_runner.apply(empty) == [m.title for m in migration_files.load_migrations()]
    assert migration_runner.apply(empty) == []
    assert all(state.applied_at and not state.problem for state in migration_runner.status(empty))
    server.is_migrated = True  # the next test need not migrate again


def test_applies_only_what_is_new(with_small):
    assert migration_runner.apply(with_small, migrations=[*migration_files.load_migrations(), SMALL]) == [
        SMALL.title
    ]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda files: [dataclasses.replace(files[0], text="-- other"), *files[1:]], "changed after"),
        (lambda files: [dataclasses.replace(files[0], name="other"), *files[1:]], "changed after"),
        (lambda files: files[:-1], "its file is missing"),
    ],
)
def test_refuses_what_no_longer_fits_the_database(admin, change, complaint):
    with pytest.raises(MigrationError, match=complaint):
        migration_runner.apply(admin, migrations=change(migration_files.load_migrations()))


def test_refuses_a_migration_that_was_slipped_in_before_applied_ones(admin):
    files = migration_files.load_migrations()
    unused = min(set(range(1, NEXT)) - {file.number for file in files})
    slipped_in = sorted([*files, dataclasses.replace(SMALL, number=unused)], key=lambda file: file.number)

    with pytest.raises(
        MigrationError, match=rf"{unused:04}_small: not applied, but {files[-1].number:04} is"
    ):
        migration_runner.apply(admin, migrations=slipped_in)


def test_names_the_migration_that_clickhouse_refuses_and_goes_on_from_there(with_small):
    broken = dataclasses.replace(SMALL, text="-- why\nCREATE TABLE tailrace.small (a Nothing42)")
    with pytest.raises(MigrationError, match=rf"{SMALL.title}: Code: 50"):
        migration_runner.apply(with_small, migrations=[*migration_files.load_migrations(), broken])

    assert migration_runner.apply(with_small, migrations=[*migration_files.load_migrations(), SMALL]) == [
        SMALL.title
    ]


def test_refuses_to_change_views_of_a_database_in_use(admin):
    view = dataclasses.replace(SMALL, text="-- why\nDROP VIEW IF EXISTS tailrace.no MATERIALIZED VIEW")

    with pytest.raises(MigrationError, match="stop the job with a savepoint"):
        migration_runner.apply(admin, migrations=[*migration_files.load_migrations(), view])


def test_a_migrated_replica_is_complete(admin):
    """A table that is not found, such as one without rows of its own, would stop each later migration."""
    assert servers.tables_of(migration_files.load_migrations()) <= servers.created_tables(admin, "tailrace")


def test_changes_the_retention_of_existing_tables(admin):
    changed = {**migration_runner.load_retention(), "query_samples": 3}
    said = []
    for days in (changed, changed, None):
        migration_runner.apply(admin, retention_days=days, report=said.append)

    assert said == [
        "retention of query_samples: 3 days instead of 7",
        "retention of query_samples: 7 days instead of 3",
    ]


@pytest.mark.parametrize(
    ("names", "complaint"),
    [(["1_a.sql"], "is named"), (["0002_a.sql", "0002_b.sql"], "0002_a and 0002_b have the same number")],
)
def test_file_names_and_numbers_are_checked(tmp_path, names, complaint):
    for name in names:
        (tmp_path / name).write_text("SELECT 1")
    with pytest.raises(MigrationError, match=complaint):
        migration_files.load_migrations(tmp_path)


def test_one_statement_per_file(tmp_path):
    (tmp_path / "0001_a.sql").write_text("SELECT 1; SELECT 2")
    with pytest.raises(MigrationError, match="one statement per file"):
        migration_files.load_migrations(tmp_path)


def test_every_migration_says_why():
    assert all(migration.text.startswith("-- ") for migration in migration_files.load_migrations())


def test_renders_for_a_replicated_cluster():
    text = (
        "CREATE TABLE t {on_cluster}\nENGINE = {engine:SummingMergeTree((a, b))}\n"
        "TTL d + INTERVAL {retention:t} DAY\nSETTINGS {deduplication_window}"
    )
    assert Dialect({"t": 9}, cluster="main").render(Migration(1, "t", text)) == (
        "CREATE TABLE t ON CLUSTER 'main'\nENGINE = ReplicatedSummingMergeTree((a, b))\n"
        "TTL d + INTERVAL 9 DAY\nSETTINGS replicated_deduplication_window = 10000, "
        "replicated_deduplication_window_seconds = 604800"
    )
    assert Dialect({"t": 9}).render(Migration(1, "t", text)) == (
        "CREATE TABLE t\nENGINE = SummingMergeTree((a, b))\n"
        "TTL d + INTERVAL 9 DAY\nSETTINGS non_replicated_deduplication_window = 10000"
    )


def test_renders_for_replicas_without_on_cluster():
    dialect = Dialect({}, in_turn=True)
    path = "'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'"
    text = "CREATE TABLE t {on_cluster}\nENGINE = {engine:SummingMergeTree((a, b))}"
    assert dialect.render(Migration(1, "t", text)) == (
        f"CREATE TABLE t\nENGINE = ReplicatedSummingMergeTree({path}, (a, b))"
    )
    text = "CREATE TABLE t {on_cluster} ENGINE = {engine:MergeTree} SETTINGS {deduplication_window}"
    assert dialect.render(Migration(1, "t", text)) == (
        f"CREATE TABLE t  ENGINE = ReplicatedMergeTree({path}) SETTINGS "
        "replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800"
    )


def test_every_migration_renders_for_a_replicated_cluster():
    dialect = Dialect(migration_runner.load_retention(), cluster="main")
    rendered = [dialect.render(migration) for migration in migration_files.load_migrations()]

    assert all(
        "ON CLUSTER 'main'" in statement or statement.startswith("INSERT INTO") for statement in rendered
    ), "rows are replicated by the engine; all other statements need {on_cluster}"
    assert not any("non_replicated" in statement or " = MergeTree" in statement for statement in rendered)


def test_the_engine_parses_every_migration_of_a_replicated_cluster(server):
    """Parsed only: this engine has neither ON CLUSTER nor Keeper to run them."""
    dialect, admin = Dialect(migration_runner.load_retention(), cluster="main"), server.user("admin")
    for migration in migration_files.load_migrations():
        assert admin.execute(f"EXPLAIN AST {dialect.render(migration)}"), migration.title
    with pytest.raises(ClickHouseError):
        admin.execute("EXPLAIN AST CREATE TABLE t ON CLUSTER 'main' (a UInt8) ENGINE = ORDER BY a")


def test_one_server_does_not_become_replicas(admin):
    """Its replicas would be empty, and each would store other rows."""
    with pytest.raises(MigrationError, match=r"are not replicated.*recreate the database"):
        migration_runner.apply(admin, "main")


def test_an_unknown_placeholder_names_the_nearest_known_one():
    with pytest.raises(MigrationError, match=r"placeholder \{retention:ledgre\}.*\{retention:ledger\}"):
        Dialect({"ledger": 1}).render(Migration(1, "t", "{retention:ledgre}"))


def test_rebuilding_a_rollup_gives_what_the_view_gave(admin):
    days = [datetime.now(UTC).date() - timedelta(days=ago) for ago in (2, 1)]
    for day in days:
        insert_events(admin, day, 500)
    before = all_summed(admin)
    for rollup in rollups.ROLLUPS:
        insert_noise(admin, rollup)

    rollups.rebuild_rollups(admin, days[0] - timedelta(days=1), days[-1])

    assert all_summed(admin) == before
    assert not admin.rows("SELECT name FROM system.tables WHERE name LIKE '%_draft'")


def test_a_created_view_counts_the_past_once(admin):
    for ago in (40, 2, 1):
        insert_events(admin, datetime.now(UTC).date() - timedelta(days=ago), 300)
    before = summed(admin, "entities_1d")
    migrations = [each for each in migration_files.load_migrations() if each.creates_view]
    created = [rollup for each in migrations if (rollup := rollups.new_rollup(each))]
    servers = Servers(admin, (), Dialect(migration_runner.load_retention()))
    admin.execute("TRUNCATE TABLE tailrace.entities_1d")
    for _ in range(2):
        for rollup in created:
            rollups.count_once(servers, rollup, is_created=True)
        assert summed(admin, "entities_1d") == before


def test_days_before_an_upgrade_are_filled_once_from_a_finer_rollup(admin):
    """The past of query_classes_1d: the same as its view, and a second run adds nothing."""
    rollup = "query_classes_1d"
    for ago in (2, 1):
        insert_events(admin, datetime.now(UTC).date() - timedelta(days=ago), 300)
    before = summed(admin, rollup)
    (fill,) = (each for each in migration_files.load_migrations() if each.name == f"{rollup}_of_the_past")
    admin.execute(f"TRUNCATE TABLE tailrace.{rollup}")
    for _ in range(2):
        admin.execute(Dialect(migration_runner.load_retention()).render(fill))
        assert summed(admin, rollup) == before


def test_a_rollup_is_not_rebuilt_from_events_that_may_be_gone(admin):
    with pytest.raises(MigrationError, match="may be deleted"):
        rollups.rebuild_rollups(admin, date(2014, 1, 1), date(2014, 1, 2))


def insert_events(clickhouse, day: date, count: int) -> None:
    clickhouse.execute(
        "INSERT INTO tailrace.query_events (event_id, cluster, instance, database, user, event_time, "
        "query_id, query_time, weight, rows_examined) SELECT generateUUIDv4(), 'c', 'db1', 'shop', "
        "concat('u', toString(number % 3)), toDateTime64({day:String}, 6, 'UTC') + number, number % 7, "
        "(number % 11) / 8, 1 + number % 2, number FROM numbers({count:UInt64})",
        {"day": f"{day} 10:00:00", "count": count},
    )
    clickhouse.execute(
        "INSERT INTO tailrace.audit_events (event_id, cluster, instance, source, user, host, ip, event_time, "
        "event_class, status, tables_read, tables_written) SELECT generateUUIDv4(), 'c', 'db1', 'audit', "
        "concat('u', toString(number % 3)), 'h', if(number % 2, '', concat('::ffff:10.0.0.', "
        "toString(number % 5))), toDateTime64({day:String}, 6, 'UTC') + number, 'query', "
        "1142 * (number % 2), "
        "if(number % 2, [], ['shop.a', 'shop.b']), if(number % 3, [], ['shop.b']) "
        "FROM numbers({count:UInt64})",
        {"day": f"{day} 10:00:00", "count": count},
    )


def insert_noise(clickhouse, rollup: rollups.Rollup) -> None:
    """Rows without an event, on a day with events and on one without."""
    more = f", '{rollup.events}'" if rollup.own != "1" else ""
    for ago in (1, 3):
        clickhouse.execute(
            f"INSERT INTO tailrace.{rollup.table} "
            f"(instance, {rollup.time}, count, weight{', event_table' if more else ''}) "
            f"VALUES ('db1', now() - INTERVAL {ago} DAY, 1000, 1000{more})"
        )


def all_summed(clickhouse) -> dict[str, list]:
    return {rollup.table: summed(clickhouse, rollup.table) for rollup in rollups.ROLLUPS}


def summed(clickhouse, rollup: str) -> list:
    keys = [name for name, kind in columns(clickhouse, rollup, True).items() if "DateTime" not in kind]
    values = columns(clickhouse, rollup, False).items()
    sums = [f"{_aggregate(kind)}({name}) AS {name}" for name, kind in values]
    return clickhouse.rows(
        f"SELECT {', '.join(keys + sums)} FROM tailrace.{rollup} GROUP BY ALL ORDER BY ALL"
    )


def _aggregate(kind: str) -> str:
    """Returns the aggregate function by which merges combine a column of this type."""
    simple = re.match(r"SimpleAggregateFunction\((\w+),", kind)
    return simple[1] if simple else "sum"


def columns(clickhouse, table: str, of_key: bool) -> dict[str, str]:
    """Returns the types of the stored columns that are in the sorting key, or of the others."""
    rows = clickhouse.rows(
        "SELECT name, type FROM system.columns WHERE database = 'tailrace' AND table = {table:String} "
        "AND default_kind != 'ALIAS' AND is_in_sorting_key = {of_key:UInt8}",
        {"table": table, "of_key": int(of_key)},
    )
    return {row["name"]: row["type"] for row in rows}
