"""Snapshots of a real MariaDB, and outages of it, arrive in ClickHouse."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgpack
import pymysql
import pytest
from confluent_kafka import Consumer
from jsonschema import Draft202012Validator

from e2e.attack_day.mariadb import Installation, Server
from e2e.limits import LIMIT_SECONDS
from e2e.pulling.metadata_lock_waits import check_lock_waits
from e2e.pulling.statement_counters import check_counters
from e2e.pulling.statement_histograms import check_histograms
from e2e.stack import Stack, wait_until
from tailrace.config.resources import REPOSITORY
from tailrace.sources import sources_file
from tailrace_capture.doctor.accounts import grants_for
from tailrace_capture.dsn import Password, parse
from tailrace_capture.product import product_of
from tailrace_capture.server import ServerError, connect
from tailrace_capture.snapshot import ALWAYS
from tailrace_local.components.capture import Capture

FIRST_PORT = int(os.environ.get("CAPTURE_FIRST_PORT", "22540"))
DATABASE_PORT = FIRST_PORT + 20
PARTS = ("kafka", "clickhouse", "capture", "explain", "fluentbit", "facts")
INSTANCE, REPLICA, DENIED, BROKEN = "shop-db-1", "shop-db-2", "shop-db-1-denied", "broken"
PASSWORD = "geheim-für-alle"

ACCOUNT = "'tailrace'@'localhost'"
EXPLAINER = "'tailrace_explain'@'localhost'"
MARIADB = product_of("10.11.19-MariaDB", "")


@pytest.fixture(scope="module")
def installation() -> Installation:
    """A MariaDB from Debian's packages."""
    if os.geteuid() != 0:
        pytest.skip("Debian's packages are unpacked by root")
    cache = Path(os.environ.get("TAILRACE_CACHE") or Path.home() / ".cache" / "tailrace")
    return Installation.install(cache)


@pytest.fixture(scope="module")
def database(installation: Installation, tmp_path_factory) -> Iterator[Server]:
    """A source with accounts and a table."""
    directory = tmp_path_factory.mktemp("mariadb")
    server = Server(installation, directory, datetime.now(UTC), port=DATABASE_PORT, bind="127.0.0.1")
    server.create()
    server.start("--performance-schema=ON")
    run(
        server,
        "CREATE DATABASE shop",
        f"CREATE USER {ACCOUNT} IDENTIFIED BY '{PASSWORD}' WITH MAX_USER_CONNECTIONS 2",
        *grants(),
        "CREATE USER 'nobody'@'localhost' IDENTIFIED BY 'x'",
        f"CREATE USER {EXPLAINER} IDENTIFIED BY 'y' WITH MAX_USER_CONNECTIONS 2",
        f"GRANT SELECT ON `shop`.* TO {EXPLAINER}",
        "CREATE TABLE shop.orders (id INT PRIMARY KEY, note TEXT)",
        "CREATE USER 'früh'@'%' IDENTIFIED BY 'x' REQUIRE SSL",
    )
    yield server
    server.stop()


@pytest.fixture(scope="module")
def replica(installation: Installation, database: Server, tmp_path_factory) -> Iterator[Server]:
    """A replica with the complete history of the source."""
    directory = tmp_path_factory.mktemp("replica")
    server = Server(installation, directory, datetime.now(UTC), port=DATABASE_PORT + 1, bind="127.0.0.1")
    server.create()
    server.start("--server-id=2")
    run(
        database,
        "CREATE USER 'replication'@'127.0.0.1' IDENTIFIED BY 'x'",
        "GRANT REPLICATION SLAVE ON *.* TO 'replication'@'127.0.0.1'",
    )
    run(
        server,
        f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={DATABASE_PORT}, "
        "MASTER_USER='replication', MASTER_PASSWORD='x', MASTER_USE_GTID=slave_pos",
        "START SLAVE",
    )
    yield server
    server.stop()


@pytest.fixture(scope="module")
def stack(tmp_path_factory, database: Server, replica: Server) -> Iterator[Stack]:
    """The components that process a snapshot."""
    directory = tmp_path_factory.mktemp("stack")
    running = Stack(
        directory / "home", FIRST_PORT, components=PARTS, capture_poll_interval="1", capture_interval="3600"
    )
    secrets = {"tailrace": PASSWORD, "nobody": "x", "tailrace_explain": "y"}
    for name, secret in secrets.items():
        (directory / name).write_text(f"{secret}\n")
    sources_file.add(
        running.settings.sources,
        [
            sources_file.Server(
                INSTANCE,
                "server",
                dsn(database, "tailrace"),
                "shop",
                directory / "tailrace",
                explain=True,
                explain_dsn=dsn(database, "tailrace_explain"),
                explain_password_file=directory / "tailrace_explain",
            ),
            sources_file.Server(BROKEN, "server", "mysql://tailrace@127.0.0.1:1/?ssl=1", "elsewhere"),
            sources_file.Server(REPLICA, "server", dsn(replica, "tailrace"), "shop", directory / "tailrace"),
            sources_file.Server(DENIED, "server", dsn(database, "nobody"), "elsewhere", directory / "nobody"),
        ],
    )
    running.up()
    yield running
    running.down()


def grants() -> list[str]:
    """Returns exactly the doctor's grants; its example schema is `shop`, as in the tests."""
    groups = grants_for(MARIADB, ACCOUNT).values()
    return [line.partition(";")[0] for group in groups for line in group]


def dsn(database: Server, user: str) -> str:
    return f"mysql://{user}@localhost/?socket={database.socket}"


def run(database: Server, *statements: str) -> None:
    with (
        pymysql.connect(unix_socket=str(database.socket), user="root", charset="utf8mb4") as connection,
        connection.cursor() as cursor,
    ):
        for statement in statements:
            cursor.execute(statement)


def current(stack: Stack, kind: str, instance: str = INSTANCE) -> dict[str, dict[str, str]]:
    """Returns the attributes of present facts, by key."""
    rows = stack.clickhouse().rows(
        "SELECT key, attributes FROM tailrace.server_facts_current "
        "WHERE instance = {instance:String} AND kind = {kind:String}",
        {"instance": instance, "kind": kind},
    )
    return {row["key"]: row["attributes"] for row in rows}


def changes(stack: Stack, key: str) -> list[tuple[str, str, dict, dict]]:
    rows = stack.clickhouse().rows(
        "SELECT kind, change, before, after FROM tailrace.server_changes FINAL "
        "WHERE instance = {instance:String} AND key = {key:String} ORDER BY at",
        {"instance": INSTANCE, "key": key},
    )
    return [(row["kind"], row["change"], row["before"], row["after"]) for row in rows]


def statuses(stack: Stack, instance: str, kind: str) -> list[str]:
    """Returns the results of the snapshots of one kind, in order."""
    rows = stack.clickhouse().rows(
        "SELECT status FROM tailrace.server_snapshots FINAL "
        "WHERE instance = {instance:String} AND kind = {kind:String} ORDER BY at",
        {"instance": instance, "kind": kind},
    )
    return [row["status"] for row in rows]


def await_status(stack: Stack, instance: str, expected: str, *kinds: str) -> None:
    """Waits until the last snapshot of each of these kinds has this result. A snapshot's row follows the rows
    of its facts."""
    await_true(
        lambda: all(statuses(stack, instance, kind)[-1:] == [expected] for kind in kinds),
        f"{expected} as the result of {kinds}",
    )


def await_true(condition, what: str) -> None:
    wait_until(condition, what)


def test_reports_and_samples_of_statements_equal_the_counters_of_the_server(database, tmp_path):
    check_counters(database.socket, tmp_path)


def test_a_server_without_histograms_of_statements_says_so(database: Server):
    check_histograms(database.socket)


def test_a_session_that_waits_for_a_metadata_lock_is_read(database):
    check_lock_waits(database.socket)


def test_requested_tls_is_required(database: Server):
    """Debian's MariaDB has no certificate unless it is configured."""
    run(
        database,
        "CREATE USER 'wire'@'127.0.0.1' IDENTIFIED BY 'x'",
        "GRANT USAGE ON *.* TO 'wire'@'127.0.0.1'",
    )
    address = f"mysql://wire@127.0.0.1:{database.port}/"
    connect(parse(address), Password("x"), LIMIT_SECONDS, "test").close()
    for tls in ("required", "verify"):
        with pytest.raises(ServerError, match="offers no TLS"):
            connect(parse(f"{address}?tls={tls}"), Password("x"), LIMIT_SECONDS, "test")


def test_complete_snapshots_of_a_server_arrive(stack, database):
    await_status(stack, INSTANCE, "ok", *(kind.name for kind in ALWAYS))

    accounts = current(stack, "accounts")
    assert accounts["'früh'@'%'"]["tls"] == "any"
    assert accounts["'früh'@'%'"]["password"] == "set"
    assert current(stack, "settings")["long_query_time"] == {"value": "0.000000"}
    assert current(stack, "audit")["auditing"]["active"] == "yes"
    assert current(stack, "replication")["role"]["role"] == "source"
    assert current(stack, "server")["server"]["product"] == "mariadb"
    await_true(lambda: current(stack, "gtid"), "the GTIDs")
    sizes = stack.clickhouse().rows("SELECT database, table, engine FROM tailrace.table_sizes FINAL")
    assert {"database": "shop", "table": "orders", "engine": "InnoDB"} in sizes


def test_no_authentication_string_leaves_the_server(stack, database):
    await_true(lambda: current(stack, "accounts"), "the accounts")
    with (
        pymysql.connect(unix_socket=str(database.socket), user="root") as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT authentication_string FROM mysql.user WHERE authentication_string != ''")
        hashes = [row[0] for row in cursor.fetchall()]
    assert hashes
    for path, content in contents(stack.home.data("capture")):
        assert not any(secret in content for secret in (*hashes, PASSWORD)), path


def contents(directory: Path) -> Iterator[tuple[Path, str]]:
    """Yields each file and its text. The service replaces some at any time."""
    for path in filter(Path.is_file, directory.rglob("*")):
        with suppress(FileNotFoundError):
            yield path, path.read_text()


def test_a_new_account_and_a_revoked_grant_are_changes(stack, database):
    await_true(lambda: current(stack, "accounts"), "the accounts")
    run(database, "CREATE USER 'intruder'@'%' IDENTIFIED BY 'x'", "GRANT FILE ON *.* TO 'intruder'@'%'")
    grant = "'intruder'@'%' global *.*"
    await_true(lambda: changes(stack, grant), "the grant")
    run(database, "REVOKE FILE ON *.* FROM 'intruder'@'%'")
    await_true(lambda: len(changes(stack, grant)) == 2, "the grant's end")
    # The rows of facts and of other kinds may come after those of a change.
    await_true(lambda: changes(stack, "'intruder'@'%'"), "the account as a change")
    await_true(lambda: grant not in current(stack, "grants_global"), "the grant to be absent")
    await_true(lambda: "'intruder'@'%'" in current(stack, "accounts"), "the account as a fact")

    assert [(kind, change) for kind, change, _, _ in changes(stack, "'intruder'@'%'")] == [
        ("accounts", "added")
    ]
    (_, made, _, after), (_, ended, before, _) = changes(stack, grant)
    assert (made, ended) == ("added", "removed")
    assert after["privileges"] == before["privileges"] == "FILE"


def test_unreadable_kinds_are_denied_and_not_empty(stack, database):
    await_true(lambda: statuses(stack, DENIED, "grants_proxy"), "the look that is denied")
    kinds = ("accounts", "roles", "grants_global", "grants_schema", "replication")
    await_status(stack, DENIED, "denied", *kinds)
    await_status(stack, DENIED, "ok", "settings")
    assert current(stack, "accounts", DENIED) == {}


def test_writes_only_to_a_replica_are_errant(stack, database, replica):
    await_true(lambda: "channel" in current(stack, "replication", REPLICA), "the replica's source")
    await_true(lambda: statuses(stack, REPLICA, "errant"), "the comparison")
    run(database, "CREATE TABLE shop.replicated (id INT)")
    assert current(stack, "errant", REPLICA) == {}
    run(replica, "CREATE DATABASE errant")
    await_true(lambda: current(stack, "errant", REPLICA), "the errant transaction")

    (found,) = current(stack, "errant", REPLICA).values()
    assert found["source"] == INSTANCE
    assert found["gtids"].startswith("0-2-")
    (alert,) = stack.clickhouse().rows(
        "SELECT rule_title, instance, facts FROM tailrace.alerts FINAL WHERE instance = {instance:String}",
        {"instance": REPLICA},
    )
    assert alert["rule_title"] == "Errant transactions on a replica"
    assert alert["facts"]["gtids"] == found["gtids"]


def test_an_outage_of_a_server_and_its_return_are_recorded(stack, database):
    await_true(lambda: statuses(stack, INSTANCE, "server"), "a look")
    database.stop()
    try:
        await_true(lambda: statuses(stack, INSTANCE, "server")[-1] == "gone", "the server to be missed")
        run_before = len(statuses(stack, INSTANCE, "server"))
    finally:
        database.start("--long-query-time=3")
    await_true(lambda: statuses(stack, INSTANCE, "server")[-1] == "ok", "the server to be back")

    assert run_before < len(statuses(stack, INSTANCE, "server"))
    await_true(lambda: changes(stack, "long_query_time"), "the changed setting")
    assert [change for _, change, _, _ in changes(stack, "long_query_time")] == ["changed"]
    assert "'früh'@'%'" in current(stack, "accounts")


def test_a_killed_loader_loses_nothing(stack, database):
    await_true(lambda: current(stack, "accounts"), "the accounts")
    stack.kill("facts")
    run(database, "CREATE USER 'meanwhile'@'%' IDENTIFIED BY 'x'")
    await_true(lambda: changes(stack, "'meanwhile'@'%'"), "the account")
    assert len(changes(stack, "'meanwhile'@'%'")) == 1


def test_the_doctor_examines_a_real_server_and_writes_its_sources(database, tmp_path):
    (tmp_path / "password").write_text(PASSWORD)
    file = tmp_path / "sources.yaml"
    words = ["--server", dsn(database, "tailrace"), "--password-file", tmp_path / "password", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "tailrace_local", "doctor", *words, "--write", "--instance", INSTANCE],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "embedded"), "TAILRACE_SOURCES": str(file)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)

    assert report["product"] == "mariadb"
    assert {(each["severity"], each["topic"]) for each in report["findings"]} >= {
        ("ok", "version"),
        ("ok", "audit"),
        ("ok", "slowlog"),
        ("info", "rotation"),
    }
    assert PASSWORD not in done.stdout
    assert [log.source for log in sources_file.load(file)] == ["slowlog", "audit", "errorlog"]
    (server,) = sources_file.load_servers(file)
    assert (server.instance, server.password_file) == (INSTANCE, tmp_path / "password")


def test_the_doctor_reports_missing_privileges_of_an_account(database, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tailrace_capture", "doctor", "--server", dsn(database, "nobody"), "--strict"],
        env={
            **os.environ,
            "PYTHONPATH": str(REPOSITORY / "collectors" / "capture"),
            "TAILRACE_SERVER_PASSWORD": "x",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "GRANT SELECT ON mysql.global_priv TO 'nobody'@'localhost';" in done.stdout
    assert "GRANT SLAVE MONITOR ON *.* TO 'nobody'@'localhost';" in done.stdout


STATEMENTS = {
    0xA1: "SELECT o.note FROM orders o JOIN (SELECT max(id) AS id FROM orders) AS newest USING (id)",
    0xA2: "DELETE FROM orders",
    0xA3: "SELECT shop.leak()",
}


def test_plans_of_the_heaviest_statements_reach_their_topic(stack, database, tmp_path):
    """Those of the component `explain`, whose account can read the shop and no accounts."""
    run(
        database,
        "CREATE FUNCTION shop.leak() RETURNS INT DETERMINISTIC NO SQL RETURN 1",
    )
    at = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
    for table, column in (("query_samples", "statement"), ("query_events", "")):
        rows = [
            {
                "query_id": query_id,
                "instance": INSTANCE,
                "database": "shop",
                "event_time": at,
                **({column: text} if column else {"query_time": query_id, "weight": 1}),
            }
            for query_id, text in STATEMENTS.items()
        ]
        stack.clickhouse().insert(f"tailrace.{table}", rows)

    schema = json.loads((REPOSITORY / "schemas" / "plan-capture.schema.json").read_text())
    captured = {}

    def has_all(records: list[dict]) -> bool:
        return {int(record["query_id"], 16) for record in records} >= STATEMENTS.keys()

    for record in arrived(stack, "tailrace.explain.lines", has_all):
        assert [error.message for error in Draft202012Validator(schema).iter_errors(record)] == []
        captured[int(record["query_id"], 16)] = record
    assert {key: record["status"] for key, record in captured.items()} == {
        0xA1: "ok",
        0xA2: "refused",
        0xA3: "refused",
    }
    assert json.loads(captured[0xA1]["plan"])["query_block"]
    await_status(stack, INSTANCE, "ok", "explain")


def test_a_busy_server_is_not_explained(stack, database, tmp_path):
    row = {"query_id": "B" * 16, "database": "shop", "statement": "SELECT 1"}
    (tmp_path / "samples").write_text(json.dumps(row))
    words = ["--samples", tmp_path / "samples", "--once", "--spool", tmp_path / "spool", "--state", tmp_path]
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY / "collectors" / "capture"),
        "TAILRACE_INSTANCE": INSTANCE,
        "TAILRACE_SERVER_DSN": dsn(database, "tailrace_explain"),
        "TAILRACE_SERVER_PASSWORD": "y",
    }
    explain = [sys.executable, "-m", "tailrace_capture", "explain", *words]
    busy = subprocess.run(
        [*explain, "--max-threads-running", "0"], env=environment, capture_output=True, text=True
    )
    assert (busy.returncode, "busy: " in busy.stderr) == (1, True)
    subprocess.run(explain, env=environment, check=True)


def test_a_wrong_address_is_reported_and_does_not_affect_other_servers(stack):
    await_true(lambda: statuses(stack, BROKEN, "server"), "word of the address")

    def states() -> dict[str, tuple[str, str]]:
        rows = stack.clickhouse().rows("SELECT instance, state, error FROM tailrace.server_capture")
        return {row["instance"]: (row["state"], row["error"]) for row in rows}

    # The other servers may just have been asked for the first time, or have answered too late.
    await_true(lambda: states().get(BROKEN, ("",))[0] == "failed", "the address to be a failure")
    assert "unknown option 'ssl'" in states()[BROKEN][1]
    await_true(lambda: states().get(INSTANCE) == ("ok", ""), "another server to be well")
    await_true(lambda: states().get(DENIED, ("",))[0] == "partial", "the one that denies some kinds")

    def servers() -> dict[str, tuple[bool, str]]:
        found = Capture(stack.settings, stack.home).servers()
        return {each.instance: (each.ok, each.problem) for each in found}

    await_true(lambda: servers().get(INSTANCE) == (True, ""), "another server to be well in the status")
    await_true(lambda: "accounts denied" in servers().get(DENIED, (True, ""))[1], "what is denied")
    assert servers()[DENIED][0]
    is_ok, problem = servers()[BROKEN]
    assert not is_ok and "unknown option 'ssl'" in problem
    stack.await_healthy()


def authority(directory: Path, name: str) -> Path:
    """Creates the certificate of an authority, and one for 127.0.0.1 signed by it (`<name>-server.pem`)."""
    key, ca = directory / f"{name}-key.pem", directory / f"{name}.pem"
    subject = ("-subj", f"/CN={name}", "-days", "2", "-nodes", "-newkey", "rsa:2048")
    openssl("req", "-x509", *subject, "-keyout", key, "-out", ca)
    server = directory / f"{name}-server"
    alternative = "subjectAltName=IP:127.0.0.1"
    openssl(
        *("req", "-x509", "-CA", ca, "-CAkey", key, *subject, "-addext", alternative),
        *("-addext", "basicConstraints=critical,CA:FALSE"),
        *("-keyout", f"{server}-key.pem", "-out", f"{server}.pem"),
    )
    return ca


def openssl(*words: str | Path) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def test_a_server_with_a_private_authority_that_requires_tls(installation, tmp_path):
    ours, others = authority(tmp_path, "ours"), authority(tmp_path, "others")
    server = Server(
        installation, tmp_path / "server", datetime.now(UTC), port=DATABASE_PORT + 2, bind="127.0.0.1"
    )
    server.create()
    files = (f"--ssl-cert={tmp_path / 'ours-server.pem'}", f"--ssl-key={tmp_path / 'ours-server-key.pem'}")
    server.start("--require-secure-transport=ON", f"--ssl-ca={ours}", *files)
    try:
        run(server, "CREATE USER 'wire'@'127.0.0.1' IDENTIFIED BY 'x' REQUIRE SSL")
        address = f"mysql://wire@127.0.0.1:{server.port}/"
        for tls in ("preferred", "required", f"verify-ca&ca={ours}", f"verify&ca={ours}"):
            connection = connect(parse(f"{address}?tls={tls}"), Password("x"), LIMIT_SECONDS, "test")
            (row,) = connection.rows("SHOW SESSION STATUS LIKE 'Ssl_version'")
            connection.close()
            assert str(row["Value"]).startswith("TLS"), tls
        for tls in ("off", f"verify-ca&ca={others}", f"verify&ca={others}", "verify"):
            with pytest.raises(ServerError):
                connect(parse(f"{address}?tls={tls}"), Password("x"), LIMIT_SECONDS, "test")
        local = f"mysql://wire@localhost:{server.port}/?tls=verify&ca={ours}"
        with pytest.raises(ServerError, match="not valid for 'localhost'"):
            connect(parse(local), Password("x"), LIMIT_SECONDS, "test")
    finally:
        server.stop()


def arrived(stack: Stack, topic: str, is_enough: Callable[[list[dict]], bool]) -> list[dict]:
    """Returns the records of a topic, once they are enough."""
    brokers = f"127.0.0.1:{stack.settings.port_kafka}"
    consumer = Consumer(
        {"bootstrap.servers": brokers, "group.id": f"test-{topic}", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([topic])
    records: list[dict] = []

    def all_there() -> bool:
        records.extend(
            msgpack.unpackb(each.value(), raw=False)
            for each in consumer.consume(100, timeout=1)
            if not each.error()
        )
        return is_enough(records)

    try:
        await_true(all_there, f"records of {topic}")
    finally:
        consumer.close()
    return records
