"""Real MySQL servers: snapshots, plans, logs, and the doctor's findings."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pymysql
import pytest

from e2e.limits import LIMIT_SECONDS
from e2e.mysql import EIGHT, FIVE, Installation, MySqlError, Package, Server
from e2e.pulling.error_log_ring import check_error_log
from e2e.pulling.log_tables import TableServer, check_both_logs, check_refusals, check_seed, check_truncate
from e2e.pulling.metadata_lock_waits import check_lock_waits
from e2e.pulling.performance_schema_doctor import check_performance_schema
from e2e.pulling.statement_counters import check_counters
from e2e.pulling.statement_histograms import check_histograms
from e2e.stack import wait_until
from tailrace.config.resources import REPOSITORY
from tailrace.snapshots.errant_transactions import Comparison, Verdict
from tailrace_capture.doctor.accounts import explain_account, grants_for
from tailrace_capture.dsn import Password, parse
from tailrace_capture.explain.samples import Sample
from tailrace_capture.explain.service import OK, REFUSED, explained
from tailrace_capture.product import product_of
from tailrace_capture.server import ServerError, connect
from tailrace_capture.service import Schedule, Service, Target
from tailrace_capture.snapshot import ALWAYS, Identity
from tailrace_pull.check import check
from tailrace_pull.config import Clients, Entry

FIRST_PORT = int(os.environ.get("MYSQL_FIRST_PORT", "22580"))
PASSWORD = "geheim-für-alle"
ACCOUNT = "'tailrace'@'localhost'"
EXPLAINER = "'tailrace_explain'@'localhost'"
SEEDS, LONG_SEEDS = 3, 100
PURGED = 40
"""Servers of a long history: their UUIDs together are longer than what SHOW VARIABLES returns."""

STATEMENTS = {
    1: "SELECT * FROM orders WHERE customer = 3",
    2: "SELECT o.id, sum(i.qty) FROM orders o JOIN items i ON i.order_id = o.id GROUP BY o.id ORDER BY 2",
    3: "SELECT * FROM orders WHERE id IN (SELECT order_id FROM items WHERE qty > 5)",
    4: "SELECT d.c FROM (SELECT customer c, count(*) n FROM orders GROUP BY customer) d WHERE d.n > 3",
    5: "SELECT note FROM orders UNION SELECT 'x'",
    6: "SELECT 1",
}


def cache() -> Path:
    return Path(os.environ.get("TAILRACE_CACHE") or Path.home() / ".cache" / "tailrace")


@pytest.fixture(scope="module", params=[EIGHT, FIVE], ids=lambda package: package.version)
def package(request) -> Package:
    return request.param


@pytest.fixture(scope="module")
def installation(package) -> Installation:
    try:
        return Installation.install(package, cache())
    except (MySqlError, OSError) as error:
        pytest.skip(f"no MySQL {package.version} here: {error}")


@pytest.fixture(scope="module")
def server(installation, tmp_path_factory) -> Iterator[Server]:
    """Creates tables, and an account with the doctor's grants."""
    found = Server(installation, tmp_path_factory.mktemp("mysql") / "source", 1, FIRST_PORT)
    found.create()
    found.start()
    version, comment = found.run("SELECT @@version, @@version_comment")[0]
    groups = grants_for(product_of(version, comment), ACCOUNT).values()
    grants = [line.partition(";")[0] for group in groups for line in group]
    found.run(
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders (id INT AUTO_INCREMENT PRIMARY KEY, customer INT, note TEXT)",
        "CREATE TABLE shop.items (id INT AUTO_INCREMENT PRIMARY KEY, order_id INT, qty INT, KEY (order_id))",
        "INSERT INTO shop.orders (customer, note) VALUES (1, 'a'), (2, 'ü\\n# Time: x'), (3, 'c')",
        "INSERT INTO shop.items (order_id, qty) SELECT id, 7 FROM shop.orders",
        f"CREATE USER {ACCOUNT} IDENTIFIED BY '{PASSWORD}' WITH MAX_USER_CONNECTIONS 2",
        f"CREATE USER 'tailrace'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'",
        "CREATE USER 'plain'@'localhost' IDENTIFIED BY 'x'",
        *grants,
        *(line.partition(";")[0].replace("…", PASSWORD) for line in explain_account(EXPLAINER)),
    )
    yield found
    found.stop()


def dsn(server: Server, user: str = "tailrace") -> str:
    return f"mysql://{user}@localhost/?socket={server.socket}"


def watch(directory: Path, *servers: Server) -> Service:
    (directory / "secret").write_text(PASSWORD)
    targets = [
        Target(Identity("shop", each.directory.name), parse(dsn(each)), directory / "secret")
        for each in servers
    ]
    return Service(targets, directory / "spool", directory / "state", Schedule())


def spooled(directory: Path) -> list[dict]:
    files = sorted((directory / "spool").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_the_doctors_grants_make_every_kind_readable(server, package, tmp_path):
    assert watch(tmp_path, server).once()

    records = spooled(tmp_path)
    assert {record["kind"]: record["status"] for record in records} == {kind.name: "ok" for kind in ALWAYS}
    facts = {
        record["kind"]: {fact["key"]: fact["attributes"] for fact in record["facts"]} for record in records
    }
    assert facts["server"]["server"]["version"].startswith(package.version)
    assert facts["accounts"]["'plain'@'localhost'"]["password"] == "unknown"
    assert facts["settings"]["long_query_time"] == {"value": "0.000000"}
    assert facts["table_sizes"]["shop.orders"]["engine"] == "InnoDB"
    assert facts["replication"]["role"]["role"] == "source"
    with pytest.raises(ServerError, match="denied"):
        connect(parse(dsn(server)), Password(PASSWORD), LIMIT_SECONDS, "test").rows(
            "SELECT * FROM shop.orders"
        )
    hashes = [
        row[0] for row in server.run("SELECT authentication_string FROM mysql.user WHERE user = 'plain'")
    ]
    assert not any(secret in json.dumps(records) for secret in (*hashes, PASSWORD))


def test_plans_are_captured_and_read(server, tmp_path):
    connection = connect(parse(dsn(server, "tailrace_explain")), Password(PASSWORD), LIMIT_SECONDS, "test")
    try:
        for number, statement in STATEMENTS.items():
            status, error, plan = explained(connection, Sample(f"{number:016X}", "shop", statement))
            assert (status, error) == (OK, ""), statement
            (tmp_path / f"{number}.json").write_text(plan)
        assert explained(connection, Sample("A" * 16, "shop", "DELETE FROM orders"))[0] == REFUSED
    finally:
        connection.close()
    hashes = tailrace("plan", "--hash", *sorted(tmp_path.glob("*.json")))
    assert len(hashes.splitlines()) == len(STATEMENTS)
    assert "orders:ALL" in hashes


def tailrace(*words: str | Path) -> str:
    done = subprocess.run([REPOSITORY / "bin" / "tailrace", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_byte_of_its_logs_is_read(server, tmp_path):
    server.run(
        *(f"USE shop; {each}".split("; ")[1] for each in ("SELECT SLEEP(0.01)", "SELECT 'ü\n# Time: x'"))
    )
    with pytest.raises(pymysql.err.OperationalError):
        pymysql.connect(unix_socket=str(server.socket), user="plain", password="wrong")
    dead = tmp_path / "dead"
    copies = {tmp_path / f"{name}.log": f"mysql-{name}" for name in ("slow", "error", "general")}
    for copy in copies:
        copy.write_bytes((server.logs / copy.name).read_bytes())
    events = tailrace("parse", "--json", "--tz", "UTC", "--dead-letters", dead, *copies).splitlines()
    assert dead.read_text() == ""
    found = {(event["log"], event["format"]) for event in map(json.loads, events)}
    assert found == {(str(copy), name) for copy, name in copies.items()}


@pytest.fixture
def tables(server, tmp_path) -> TableServer:
    return TableServer(server.socket, tmp_path)


def test_log_tables_have_the_events_of_the_files(tables, tmp_path):
    check_both_logs(tables, tmp_path)


def test_tables_are_read_once_although_they_are_renamed_and_the_puller_is_killed(tables):
    for seed in range(SEEDS):
        check_seed(tables, seed)


@pytest.mark.long
def test_tables_are_read_once_although_they_are_renamed_and_the_puller_is_killed_long(tables):
    for seed in range(SEEDS, LONG_SEEDS):
        check_seed(tables, seed)


def test_a_truncated_log_table_is_a_gap(tables):
    check_truncate(tables)


def test_the_error_log_of_performance_schema_is_read_once(server, package, tmp_path):
    if package is EIGHT:  # 5.7 has no codes in its messages
        check_error_log(server.socket, server.logs / "error.log", tmp_path / "ring.cnf", range(SEEDS))


@pytest.mark.long
def test_the_error_log_of_performance_schema_is_read_once_long(server, package, tmp_path):
    if package is EIGHT:
        seeds = range(SEEDS, LONG_SEEDS)
        check_error_log(server.socket, server.logs / "error.log", tmp_path / "ring.cnf", seeds)


def test_a_server_without_the_table_of_the_error_log_says_so(server, tmp_path):
    options = tmp_path / "server.cnf"
    options.write_text(f"[client]\nuser=root\nsocket={server.socket}\n")
    problem, _ = check(Entry("db", "db", "errorlog", "table", defaults_file=str(options)), Clients())
    assert "there is no performance_schema.error_log: MySQL has it since 8.0.22" in problem.message


def test_what_a_log_table_lacks_is_named_with_its_fix(tables):
    check_refusals(tables)


def test_reports_and_samples_of_statements_equal_the_counters_of_the_server(server, tmp_path):
    check_counters(server.socket, tmp_path)


def test_histograms_of_statements_equal_those_of_the_server(server):
    check_histograms(server.socket)


def test_a_session_that_waits_for_a_metadata_lock_is_read(server):
    check_lock_waits(server.socket)


def test_the_doctor_of_a_listed_server_says_what_performance_schema_lacks(server, package, tmp_path):
    check_performance_schema(server.socket, tmp_path, has_histograms=package is EIGHT)


def doctor(server: Server, *words: str) -> dict:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tailrace_capture",
            "doctor",
            "--server",
            dsn(server, "small"),
            "--json",
            *words,
        ],
        env={
            **os.environ,
            "PYTHONPATH": str(REPOSITORY / "collectors" / "capture"),
            "TAILRACE_SERVER_PASSWORD": "x",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def repair(server: Server, findings: list[dict]) -> None:
    """Runs the doctor's fixes unchanged."""
    fixes = [line for each in findings for line in each["fix"] if each["topic"] not in ("rotation", "plans")]
    server.run(
        *(line.partition("  --")[0] for line in fixes if line.startswith(("GRANT", "SET"))), "SELECT 1"
    )


def test_the_doctors_statements_run_unchanged_and_fix_their_findings(server):
    server.run(
        "CREATE USER 'small'@'localhost' IDENTIFIED BY 'x'",
        *("SET GLOBAL slow_query_log = OFF", "SET GLOBAL log_output = 'TABLE'"),
        *("SET GLOBAL long_query_time = 10", "SET GLOBAL general_log = OFF"),
        *("SET GLOBAL min_examined_row_limit = 5", "SET GLOBAL log_error_verbosity = 1"),
    )
    before = doctor(server)["findings"]
    assert {each["topic"] for each in before if each["severity"] in ("error", "warning")} == {
        *("slow log", "audit", "error log", "permissions"),
    }
    repair(server, before)
    repair(server, doctor(server)["findings"])  # findings that were hidden before: missing auditing

    # Without an audit plugin, MySQL Community's general log replaces the audit log.
    after = doctor(server)
    assert [each for each in after["findings"] if each["severity"] in ("error", "warning")] == []
    assert [each["source"] for each in after["sources"]] == ["slowlog", "errorlog", "general", "server"]


def test_tls(server, package):
    address = f"mysql://tailrace@127.0.0.1:{server.port}/"
    has_certificate = (server.data / "ca.pem").exists()
    assert has_certificate == (package is EIGHT)
    connect(parse(f"{address}?tls=preferred"), Password(PASSWORD), LIMIT_SECONDS, "test").close()
    insisting = ("required", f"verify-ca&ca={server.data / 'ca.pem'}") if has_certificate else ("required",)
    for tls in insisting:
        where = parse(f"{address}?tls={tls}")
        if has_certificate:
            connection = connect(where, Password(PASSWORD), LIMIT_SECONDS, "test")
            (row,) = connection.rows("SHOW SESSION STATUS LIKE 'Ssl_version'")
            assert str(row["Value"]).startswith("TLS")
            connection.close()
        else:
            with pytest.raises(ServerError, match="offers no TLS"):
                connect(where, Password(PASSWORD), LIMIT_SECONDS, "test")
    with pytest.raises(ServerError):  # the name in MySQL's generated certificate matches no host
        connect(
            parse(f"{address}?tls=verify&ca={server.data / 'ca.pem'}"),
            Password(PASSWORD),
            LIMIT_SECONDS,
            "test",
        )


@pytest.fixture(scope="module")
def replica(server, tmp_path_factory) -> Iterator[Server]:
    """A replica with a history so long that SHOW VARIABLES would truncate it."""
    purged = ",".join(f"{uuid.UUID(int=number)}:1-{number}" for number in range(1, PURGED + 1))
    server.run(
        "CREATE USER 'replication'@'127.0.0.1' IDENTIFIED WITH mysql_native_password BY 'x'",
        "GRANT REPLICATION SLAVE ON *.* TO 'replication'@'127.0.0.1'",
        "RESET MASTER",
        f"SET GLOBAL gtid_purged = '{purged}'",
    )
    server.stop()
    found = Server(server.installation, server.directory.parent / "replica", 2, server.port + 1)
    found.copy_of(server)
    server.start()
    found.start()
    found.run(
        f"CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {server.port}, "
        "MASTER_USER = 'replication', MASTER_PASSWORD = 'x', MASTER_AUTO_POSITION = 1",
        "START SLAVE",
    )
    yield found
    found.stop()


class Snapshots:
    """Takes snapshots of servers, and compares them."""

    def __init__(self, directory: Path, *servers: Server) -> None:
        self.verdicts: list[Verdict] = []
        self._directory = directory
        self._service = watch(directory, *servers)
        self._comparison = Comparison()
        self._taken = 0

    def again(self) -> list[Verdict]:
        assert self._service.once()
        records = spooled(self._directory)
        new = [each for record in records[self._taken :] for each in self._comparison.take(record)]
        self._taken = len(records)
        self.verdicts.extend(new)
        return new

    def until(self, is_there, what: str) -> None:
        wait_until(lambda: any(is_there(verdict) for verdict in self.again()), what)


def test_writes_only_to_a_replica_are_errant(server, replica, tmp_path):
    snapshots = Snapshots(tmp_path, replica, server)
    server.run("CREATE TABLE shop.replicated (id INT)")
    snapshots.until(lambda verdict: not verdict.errant, "the first verdict")
    server.run("INSERT INTO shop.replicated VALUES (1)")
    replica.run("CREATE DATABASE errant")
    snapshots.until(lambda verdict: verdict.errant, "the errant transaction")

    ((own,),) = replica.run("SELECT @@server_uuid")
    assert {verdict.errant for verdict in snapshots.verdicts} == {"", f"{own}:1"}
    assert {verdict.source for verdict in snapshots.verdicts} == {"source"}
    gtids = [record["facts"][0]["attributes"] for record in spooled(tmp_path) if record["kind"] == "gtid"]
    assert all(len(each["gtid_executed"]) > 1024 for each in gtids)

    # Once the source also follows the replica, both may write, however far behind the other is.
    server.run(
        f"CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {replica.port}, "
        "MASTER_USER = 'replication', MASTER_PASSWORD = 'x', MASTER_AUTO_POSITION = 1",
        "START SLAVE",
    )
    snapshots.until(lambda verdict: verdict.before and not verdict.errant, "the end of the episode")
    server.run("STOP SLAVE SQL_THREAD")
    replica.run("STOP SLAVE SQL_THREAD")
    for number in range(2, 6):
        server.run(f"INSERT INTO shop.replicated VALUES ({number})")
        replica.run(f"CREATE TABLE shop.ring_{number} (id INT)")
        for name in ("source", "replica"):
            snapshots.until(
                lambda verdict, name=name: verdict.member.instance == name, f"a snapshot of {name}"
            )
    behind = [each.run("SELECT @@GLOBAL.gtid_executed")[0][0] for each in (server, replica)]
    assert behind[0] != behind[1]
    began = next(
        index for index, verdict in enumerate(snapshots.verdicts) if verdict.before and not verdict.errant
    )
    assert not any(verdict.errant for verdict in snapshots.verdicts[began:])
