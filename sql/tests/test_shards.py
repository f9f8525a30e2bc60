"""ClickHouse with two shards, two real servers without replicas: rows, rights and answers are as on one.

`make test-shards` runs the tests of queries, the ledger, evidence and rights on two shards too.
"""

import re
import uuid
from collections import Counter
from datetime import timedelta

import pytest
from archive_rows import DAY, NEXT_DAY, insert_query_events
from clickhouse_servers import Server, Shards
from compared_rows import INSTANCES, NOW, asked, chart_queries, check_result, insert_same_rows, queries
from test_rights import MAY_READ, VIEW_PARAMETERS, users
from test_tables import EXACTLY_ONCE, VIEW_TARGETS, events, letter

from tailrace.archive import location, service
from tailrace.archive.restore import Restorer
from tailrace.archive.verifier import ArchiveVerifier, verify_all
from tailrace.archive.warehouse import Warehouse
from tailrace.cli.exit_codes import Exit
from tailrace.clickhouse import replica_progress, server_config, shards
from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.clickhouse.query_files import QUERIES
from tailrace.clickhouse.view_calls import views
from tailrace.deployment import __main__ as deployment
from tailrace.erasure import erasing
from tailrace.erasure.pseudonyms import KEY_BYTES, USER, Pseudonyms, Subject, SubjectError
from tailrace.migrations import migration_files
from tailrace.migrations import runner as migration_runner
from tailrace.migrations.migration_files import Dialect, Migration, MigrationError
from tailrace.retention import holds, selectors
from tailrace_verify.findings import Report

ACCESS_DENIED = 497
VIOLATED_CONSTRAINT = 469
SETTING_OUT_OF_RANGE = 452
RANGE = ((NOW - timedelta(days=1)).isoformat(), (NOW + timedelta(minutes=1)).isoformat())


@pytest.fixture
def clean(two_shards: Shards) -> Shards:
    two_shards.empty_tables()
    return two_shards


def many_events() -> list[dict]:
    """Events of every instance, so that each shard gets some."""
    return [
        {**event, "instance": INSTANCES[number % len(INSTANCES)]} for number, event in enumerate(events(400))
    ]


def on_each(server: Shards, question: str) -> list[int]:
    return [int(admin.execute(question)) for admin in server.each("admin")]


def counts(server: Shards) -> dict[str, list[int]]:
    """Returns the rows of each shard: events and the results of the views."""
    return {
        "events": on_each(server, "SELECT count() FROM tailrace_shard.query_events"),
        "ids": on_each(server, "SELECT uniqExact(event_id) FROM tailrace_shard.query_events"),
        "load": on_each(server, "SELECT sum(count) FROM tailrace_shard.query_load_1m"),
        "classes": on_each(server, "SELECT sum(count) FROM tailrace_shard.query_classes_1h"),
        "days": on_each(server, "SELECT sum(count) FROM tailrace_shard.query_classes_1d"),
        "entities": on_each(
            server, "SELECT sum(count) FROM tailrace_shard.entities_1d WHERE entity_kind = 'log'"
        ),
        "receipts": on_each(server, "SELECT sum(rows) FROM tailrace_shard.receipts"),
    }


def post(writer: ClickHouse, rows: list[dict], token: str) -> None:
    writer.insert("tailrace.query_events", rows, insert_deduplication_token=token, **EXACTLY_ONCE)


def assert_each_row_once(server: Shards, rows: list[dict]) -> None:
    found = counts(server)
    assert sum(found["events"]) == len(rows)
    assert all(each == found["events"] for each in found.values()), found
    assert all(found["events"]), "one shard has all rows: nothing was shown"


def test_a_block_that_is_posted_again_counts_once_on_each_shard(clean):
    rows = many_events()
    for writer in (*clean.each("writer"), clean.user("writer")):
        post(writer, rows, "one")

    assert_each_row_once(clean, rows)


def test_a_block_that_one_shard_refused_counts_once_when_it_is_posted_again(clean):
    """A view of the second shard fails after the first shard has stored its part."""
    rows, writer, second = many_events(), clean.user("writer"), clean.second.user("admin")
    second.execute("ALTER TABLE tailrace_shard.receipts ADD CONSTRAINT refused CHECK sleep(1) = 1")
    try:
        with pytest.raises(ClickHouseError):
            post(writer, rows, "two")
        assert on_each(clean, "SELECT count() FROM tailrace_shard.query_events")[0], "nothing was halfway"
    finally:
        second.execute("ALTER TABLE tailrace_shard.receipts DROP CONSTRAINT refused")
    for _ in range(2):
        post(writer, rows, "two")

    assert_each_row_once(clean, rows)


def test_a_block_is_refused_before_any_shard_has_part_of_it(clean):
    """Rows that are refused because of their data are sent again in blocks with other tokens."""
    servers = clean.each("admin")
    for admin in servers:
        admin.execute("ALTER TABLE tailrace_shard.query_events ADD CONSTRAINT small CHECK query_id < 100")
    try:
        clean.migrate()
        for instance in INSTANCES:
            wrong = {**events(1)[0], "instance": instance, "query_id": 100}
            with pytest.raises(ClickHouseError) as error:
                post(clean.user("writer"), [*many_events(), wrong], f"of {instance}")
            assert error.value.code == VIOLATED_CONSTRAINT
            assert "Received from" not in str(error.value)
            assert on_each(clean, "SELECT count() FROM tailrace_shard.query_events") == [0, 0]
    finally:
        for admin in servers:
            admin.execute("ALTER TABLE tailrace_shard.query_events DROP CONSTRAINT small")
        clean.migrate()


def test_a_block_counts_once_after_a_shard_died_and_came_back(clean):
    rows, writer = many_events(), clean.user("writer")
    post(writer, rows, "three")
    clean.second.kill()
    try:
        with pytest.raises(ClickHouseError):
            post(writer, rows, "three")
        with pytest.raises(ClickHouseError):
            clean.user("reader_developer").rows("SELECT count() FROM tailrace.query_events")
    finally:
        clean.second.start()
    post(writer, rows, "three")

    assert_each_row_once(clean, rows)


def test_the_writer_cannot_stop_waiting_for_the_shards(clean):
    with pytest.raises(ClickHouseError) as error:
        clean.user("writer").insert(
            "tailrace.query_events", many_events(), distributed_foreground_insert=0, **EXACTLY_ONCE
        )
    assert error.value.code == SETTING_OUT_OF_RANGE


def test_what_replaces_a_row_meets_it(clean):
    for superseded in (False, True):
        row = {**letter(), "superseded": superseded, "raw": "" if superseded else "x"}
        rows = [{**row, "instance": instance} for instance in INSTANCES]
        clean.user("writer").insert("tailrace.dead_letters", rows, **EXACTLY_ONCE)

    found = clean.user("admin").rows(
        "SELECT superseded, count() AS n FROM tailrace.dead_letters FINAL GROUP BY ALL"
    )
    assert found == [{"superseded": True, "n": len(INSTANCES)}]


def test_rows_that_replace_each_other_are_sharded_by_their_key(two_shards):
    admin = two_shards.user("admin")
    keys = dict_of(admin, "sorting_key", "database = 'tailrace_shard' AND engine LIKE '%ingMergeTree'")
    engines = dict_of(admin, "engine_full", "database = 'tailrace' AND engine = 'Distributed'")
    assert keys
    for name, sorting_key in keys.items():
        key = re.search(r"cityHash64\((.*)\)\)$", engines[name])[1]
        assert set(key.split(", ")) <= set(sorting_key.split(", ")), name


def dict_of(admin: ClickHouse, column: str, where: str) -> dict[str, str]:
    """Returns a column of system.tables by table name."""
    rows = admin.rows(f"SELECT name, {column} AS value FROM system.tables WHERE {where}")
    return {row["name"]: row["value"] for row in rows}


def test_what_a_view_fills_can_be_read_from_many_shards(two_shards):
    """Rows of a view are on the shards of its source: no query may rely on their sharding key."""
    views = two_shards.user("admin").rows(
        "SELECT extract(create_table_query, ' TO tailrace_shard\\\\.(\\\\w+)') AS target FROM system.tables "
        "WHERE database = 'tailrace_shard' AND engine = 'MaterializedView'"
    )
    assert {view["target"] for view in views} == VIEW_TARGETS
    statements = [path.read_text() for path in QUERIES.rglob("*.sql")]
    for target in VIEW_TARGETS:
        assert not [text for text in statements if re.search(rf"tailrace\.{target}( AS \w+)? FINAL", text)]


def test_every_table_of_a_shard_is_there_over_all_of_them(two_shards):
    for admin in two_shards.each("admin"):
        tables = admin.rows(
            "SELECT database, name, engine FROM system.tables WHERE database LIKE 'tailrace%'"
        )
        stored = {row["name"] for row in tables if row["database"] == shards.SHARD_DATABASE}
        views = {row["name"] for row in tables if row["engine"] == "MaterializedView"}
        spread = {row["name"]: row["engine"] for row in tables if row["database"] == shards.DATABASE}
        assert spread.keys() == stored - views
        assert set(spread.values()) == {"Distributed", "View"}


@pytest.fixture(scope="module")
def invokers_views(two_shards) -> set[str]:
    """Views that read with the rights of who asks."""
    views = two_shards.user("admin").rows(
        "SELECT name FROM system.tables WHERE database = 'tailrace' AND engine = 'View'"
    )
    return {view["name"] for view in views}


@pytest.mark.parametrize("name", users())
def test_a_user_reads_of_a_shard_what_it_reads_of_all(two_shards, invokers_views, name):
    for table, readers in MAY_READ.items():
        database = shards.SHARD_DATABASE if table.endswith("_mv") else shards.DATABASE
        assert may(two_shards.user(name), f"{database}.{table}") == (name in readers), table
        if table not in invokers_views:
            assert may(two_shards.user(name), f"{shards.SHARD_DATABASE}.{table}") == (name in readers)


def may(clickhouse: ClickHouse, table: str) -> bool:
    try:
        parameters = VIEW_PARAMETERS.get(table.rpartition(".")[2], "")
        clickhouse.execute(f"SELECT * FROM {table}{parameters} LIMIT 0")
    except ClickHouseError as error:
        assert error.code == ACCESS_DENIED, error
        return False
    return True


def test_rows_of_others_are_seen_on_no_shard(clean):
    post(clean.user("writer"), many_events(), "rows")
    seen = "SELECT groupUniqArray(toString(instance)) AS seen FROM"
    for reader in clean.each("reader_developer"):
        for database in (shards.DATABASE, shards.SHARD_DATABASE):
            for table in ("query_events", "query_load_1m", "receipts"):
                (row,) = reader.rows(f"{seen} {database}.{table}")
                assert row["seen"] in (["db1"], []), (database, table)
        assert reader.rows(f"{seen} tailrace.query_events") == [{"seen": ["db1"]}]
    (row,) = clean.user("reader_compliance").rows(f"{seen} tailrace.query_events")
    assert sorted(row["seen"]) == INSTANCES


def test_statements_are_known_to_who_sees_them_on_another_shard(clean):
    """The row policy of fingerprints queries the statements of all shards from within each shard."""
    known = [
        {"query_id": number, "rule_set": "1", "fingerprint": f"select {number}", "seen_at": f"{NOW:%F %T}"}
        for number in range(20)
    ]
    both = [
        {**event, "query_id": number, "instance": f"db{1 + number % 2}"}
        for number, event in enumerate(events(20))
    ]
    clean.user("writer").insert("tailrace.fingerprints", known, **EXACTLY_ONCE)
    post(clean.user("writer"), both, "statements")

    for reader in clean.each("reader_developer"):
        (row,) = reader.rows("SELECT arraySort(groupArray(query_id)) AS ids FROM tailrace.fingerprints")
        assert row["ids"] == list(range(0, 20, 2))
    assert all(on_each(clean, "SELECT count() FROM tailrace_shard.fingerprints"))


ACCESS = {
    "look_id": "6a4a9d60-0f3e-4a3c-9d0d-9a4fe1f0a001",
    "step": "shown",
    "superset_user": "ann",
    "clickhouse_user": "reader_unmasked",
    "statement": "SELECT 1",
}


@pytest.mark.parametrize("forged", [{"account": "admin"}, {"at": "2020-01-01 00:00:00"}])
@pytest.mark.parametrize("database", [shards.DATABASE, shards.SHARD_DATABASE])
def test_who_signs_gives_neither_time_nor_account(clean, database, forged):
    for number, recorder in enumerate(clean.each("witness")):
        access = {**ACCESS, "look_id": str(uuid.UUID(int=number))}
        recorder.insert(f"tailrace.unmasked_looks ({', '.join(access)})", [access])
        with pytest.raises(ClickHouseError) as error:
            recorder.insert(
                f"{database}.unmasked_looks ({', '.join([*access, *forged])})", [{**access, **forged}]
            )
        assert error.value.code in (ACCESS_DENIED, VIOLATED_CONSTRAINT)

    rows = clean.user("admin").rows("SELECT account, at > today() - 1 AS is_new FROM tailrace.unmasked_looks")
    assert rows == [{"account": "witness", "is_new": True}] * 2


def test_a_migration_reaches_the_tables_over_all_shards(two_shards):
    files = migration_files.load_migrations()
    text = "-- why\nALTER TABLE tailrace.reviews {on_cluster} ADD COLUMN note String"
    more = Migration(files[-1].number + 1, "note", text)
    first, second = two_shards.each("admin")
    apply = {"cluster": Shards.CLUSTER, "sharded": True, "others": [second]}
    try:
        assert migration_runner.apply(first, migrations=[*files, more], **apply) == [more.title]
        for admin in (first, second):
            assert admin.execute("SELECT count(note) FROM tailrace.reviews").strip() == "0"
    finally:
        for admin in (first, second):
            admin.execute("ALTER TABLE tailrace_shard.reviews DROP COLUMN note")
            forget = f"ALTER TABLE tailrace_shard.schema_migrations DELETE WHERE number = {more.number}"
            admin.execute(forget, mutations_sync=2)
    two_shards.migrate()
    columns = "SELECT count() FROM system.columns WHERE database = 'tailrace' AND name = 'note'"
    assert on_each(two_shards, columns) == [0, 0]


def test_a_shard_that_missed_a_change_of_retention_gets_it_with_the_next_migration(two_shards):
    """Statements run on each server in turn: a server that was unavailable has the old retention."""
    counted = (
        "SELECT create_table_query FROM system.tables WHERE database = 'tailrace_shard' AND name = 'ledger'"
    )
    before = [admin.execute(counted) for admin in two_shards.each("admin")]
    two_shards.second.user("admin").execute(
        "ALTER TABLE tailrace_shard.ledger MODIFY TTL toDateTime(at) + INTERVAL 9 DAY"
    )
    two_shards.migrate()
    assert [admin.execute(counted) for admin in two_shards.each("admin")] == before


def test_a_legal_hold_keeps_rows_of_every_shard(two_shards, capsys):
    auditor = two_shards.user("auditor")
    servers = [word for admin in two_shards.each("admin") for word in ("--clickhouse", admin.url)]
    step = ["retention", "--secrets", str(two_shards.home.secrets), *servers, "--cluster", Shards.CLUSTER]
    ttls = (
        "SELECT countIf(position(create_table_query, 'host IN (''app-1'')') > 0) FROM system.tables "
        "WHERE database = 'tailrace_shard' AND name IN ('query_events', 'audit_events')"
    )
    id_ = holds.place(auditor, "case 7", selectors.parse("client:app-1"), "ines", "a letter")

    assert deployment.main(step) == Exit.OK
    assert on_each(two_shards, ttls) == [2, 2]

    for person in ("ines", "omar"):
        holds.release(auditor, id_, person, "closed")
    assert deployment.main(step) == Exit.OK
    assert on_each(two_shards, ttls) == [0, 0]


def test_an_erasure_is_refused_on_shards(two_shards):
    subject = Subject(USER, f"p1-user-{32 * '0'}")
    with pytest.raises(SubjectError, match="on one shard"):
        erasing.require_erasable([two_shards.user("admin")], Pseudonyms(bytes(KEY_BYTES)), subject)


def test_a_day_of_all_shards_is_archived_and_restored_to_them(clean, tmp_path, monkeypatch):
    monkeypatch.setattr(replica_progress, "PASS_SECONDS", 0)
    admin, at = clean.user("admin"), location.opened(str(tmp_path / "archive"))
    insert_query_events(admin, 400)
    before = counts(clean)
    assert all(before["events"]), "one shard has all rows: nothing was shown"
    task = service.Task(admin, at, tmp_path, lambda _: None, servers=clean.each("admin"))
    archived = [(day.table, day.rows, good) for day, good in task.run(NEXT_DAY + timedelta(days=1))]
    assert archived == [("query_events", 400, True)]

    clean.empty_tables()
    again = Restorer(admin, at, tmp_path / "restore.json", {})
    restored = [list(again.restore(DAY, NEXT_DAY)) for _ in range(2)]
    assert [(each.inserted, each.present) for (each,) in restored] == [(400, 0), (0, 400)]
    assert counts(clean) == before
    report = Report()
    list(verify_all(ArchiveVerifier(admin, at, Warehouse(at)), report))
    assert (report.findings, report.counts["rows equal in ClickHouse"]) == ([], 400)


def test_what_is_as_it_shall_be_is_left_alone(two_shards):
    two_shards.migrate()
    ran: list[str] = []
    shards.spread(two_shards.user("admin"), Shards.CLUSTER, "", ran.append)
    assert ran == ["CREATE DATABASE IF NOT EXISTS tailrace "]


def test_the_deployments_step_migrates_each_shard_where_there_is_no_keeper(two_shards, capsys):
    servers = [word for admin in two_shards.each("admin") for word in ("--clickhouse", admin.url)]
    step = ["migrations", "--secrets", str(two_shards.home.secrets), *servers]

    assert deployment.main(step) == Exit.FAILED
    assert "shards need --cluster" in capsys.readouterr().err
    assert deployment.main([*step, "--cluster", Shards.CLUSTER]) == Exit.OK


def test_one_shard_does_not_become_two_nor_two_one(two_shards, admin):
    with pytest.raises(MigrationError, match="more than one shard; use --sharded"):
        migration_runner.apply(two_shards.user("admin"))
    with pytest.raises(MigrationError, match="recreate the database"):
        migration_runner.apply(admin, Shards.CLUSTER, sharded=True, others=[admin])


def test_the_engine_parses_every_statement_of_replicated_shards(two_shards):
    """Parsed only: this engine has neither ON CLUSTER nor Keeper to run them."""
    admin = two_shards.user("admin")
    dialect = Dialect(migration_runner.load_retention(), cluster="main", sharded=True)
    statements = [dialect.render(migration) for migration in migration_files.load_migrations()]
    admin.execute("RENAME DATABASE tailrace TO tailrace_aside")
    try:
        shards.spread(admin, "main", dialect.on_cluster(), statements.append)
    finally:
        admin.execute("RENAME DATABASE tailrace_aside TO tailrace")

    for statement in statements:
        assert "ON CLUSTER 'main'" in statement or statement.startswith("INSERT INTO")
        over_all = re.match(r"CREATE OR REPLACE (TABLE|VIEW) tailrace\.\w+ ON CLUSTER 'main'", statement)
        assert over_all or "tailrace." not in statement
        assert admin.execute(f"EXPLAIN AST {statement}"), statement


def test_rights_without_shards_are_as_they_were():
    def secret(name: str) -> str:
        return name

    one = server_config.users_text(secret, 1000, [], {})
    assert shards.SHARD_DATABASE not in one
    assert shards.SHARD_DATABASE in server_config.users_text(secret, 1000, [], {}, sharded=True)


@pytest.fixture(scope="module")
def same_rows(two_shards: Shards, server: Server, _migrated) -> tuple[Server, Shards]:
    """One server and two shards with the same rows in every written table."""
    if isinstance(server, Shards):
        pytest.fail("compares one server with two shards")
    two_shards.empty_tables()
    insert_same_rows(server, two_shards)
    return server, two_shards


@pytest.mark.parametrize("name", queries())
def test_a_query_has_the_same_answer_on_two_shards(same_rows, rendered, name):
    one, two = same_rows
    text = rendered(name, *RANGE)
    on_one, on_two = asked(one, name, text), asked(two, name, text)
    check_result(name, on_one)
    assert not name.startswith(("page_", "api_")) or not any(
        row.startswith("refused with") for row in on_one
    ), on_one
    assert on_one - on_two == Counter(), "on one server only"
    assert on_two - on_one == Counter(), "on two shards only"


@pytest.mark.parametrize("name", chart_queries())
def test_a_query_of_a_chart_has_an_answer_without_a_time_range(same_rows, rendered, name):
    one, _ = same_rows
    answer = asked(one, name, rendered(name, None, None))
    assert not [row for row in answer if row.startswith("refused with")], answer
    check_result(name, answer)


@pytest.mark.parametrize("name", sorted(views()))
def test_a_view_has_the_rows_of_its_query_in_pages(same_rows, name):
    one, two = same_rows
    begin, end = (f"toDateTime('{time}', 'UTC')" for time in RANGE)
    known = {"server": "''", "kinds": "[]"}
    known |= dict.fromkeys(("begin", "period_from", "first_minute"), begin)
    known |= dict.fromkeys(("until", "period_to", "end_minute"), end)
    values = {each: known[each] for each in views()[name].parameters}
    call = ", ".join(f"{each} = {value}" for each, value in values.items())
    of_view = asked(one, name, f"SELECT * FROM tailrace.{name}({call})")

    assert "refused" not in str(of_view)
    assert of_view or name == "listed_logs_of_period", "the compared rows list no logs"
    for server in (one, two):
        assert asked(server, name, f"SELECT * FROM {views()[name].with_values(values)}") == of_view
