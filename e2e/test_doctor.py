"""A badly configured MariaDB: the doctor's findings are correct, its fixes work unchanged, and with the
sources.yaml that it writes, the logs arrive in ClickHouse."""

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pymysql
import pytest

from e2e import commands
from e2e.attack_day.mariadb import Installation, Server
from e2e.pulling.five_ways import check_ways
from e2e.pulling.log_tables import (
    PULLER,
    TableServer,
    check_both_logs,
    check_refusals,
    check_seed,
    check_truncate,
)
from e2e.pulling.performance_schema_doctor import KINDS, TOO_OLD
from e2e.stack import wait_until
from tailrace.config.resources import REPOSITORY
from tailrace.sources import sources_file

DATABASE_PORT = int(os.environ.get("DOCTOR_PORT", "22640"))
SEEDS, LONG_SEEDS = 3, 100
"""Of the puller of log tables, which is tested here because the server is a MariaDB."""
ZONE = "America/New_York"
INSTANCE = "new-db-1"
ACCOUNT = "'tailrace'@'localhost'"

BAD = """\
log_output=TABLE
slow_query_log=0
long_query_time=10
min_examined_row_limit=100
log_warnings=0
log_slow_verbosity=
performance_schema=OFF
"""

PROBLEMS = {
    ("error", "audit", "the activity of users is not logged"),
    ("error", "slow log", "it is off"),
    ("error", "slow log", "log_output is TABLE: slow statements are not written to a file"),
    ("warning", "slow log", "long_query_time is 10 s: faster statements are not logged"),
    (
        "warning",
        "slow log",
        "min_examined_row_limit is 100: slow statements that read fewer rows are not logged",
    ),
    ("warning", "error log", "log_warnings is 0: refused logins are not in the error log"),
    (
        "info",
        "slow log",
        "log_slow_verbosity is empty: the log lacks sorts and temporary tables, and pages that InnoDB read",
    ),
}


@pytest.fixture(scope="module")
def installation() -> Installation:
    if os.geteuid() != 0:
        pytest.skip("Debian's packages are unpacked by root")
    return Installation.install(Path(os.environ.get("TAILRACE_CACHE") or Path.home() / ".cache" / "tailrace"))


@pytest.fixture(scope="module")
def server(installation, tmp_path_factory) -> Iterator[Server]:
    """A server with the zone of New York, which the machine may lack, without audit plugin and with bad
    settings."""
    found = Server(
        installation,
        tmp_path_factory.mktemp("server"),
        datetime.now(UTC),
        port=DATABASE_PORT,
        bind="127.0.0.1",
    )
    found.create()
    lines = found.configuration.read_text().splitlines()
    found.configuration.write_text(
        "\n".join(each for each in lines if "server_audit" not in each) + "\n" + BAD
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TZ", ZONE)
        found.start()
        run(
            found,
            f"CREATE USER {ACCOUNT} IDENTIFIED BY 'x' WITH MAX_USER_CONNECTIONS 2",
            "CREATE DATABASE shop",
        )
        yield found
        found.stop()


def run(server: Server, *statements: str) -> None:
    with (
        pymysql.connect(unix_socket=str(server.socket), user="root", charset="utf8mb4") as connection,
        connection.cursor() as cursor,
    ):
        for statement in statements:
            cursor.execute(statement)


def doctor(server: Server, *words: str | Path, code: int | None = None) -> dict:
    address = f"mysql://tailrace@localhost/?socket={server.socket}"
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "collectors" / "capture")}
    environment.pop("TZ", None)
    done = subprocess.run(
        [sys.executable, "-m", "tailrace_capture", "doctor", "--server", address, "--json", *words],
        env={**environment, "TAILRACE_SERVER_PASSWORD": "x"},
        capture_output=True,
        text=True,
    )
    assert done.returncode in ((0, 1) if code is None else (code,)), done.stdout + done.stderr
    return json.loads(done.stdout)


def problems(report: dict) -> list[dict]:
    return [each for each in report["findings"] if each["severity"] in ("error", "warning")]


def statements(findings: list[dict]) -> list[str]:
    """Returns the statements of fixes, unchanged; fixes of rotation are no statements."""
    lines = [line for each in findings for line in each["fix"]]
    return [line.partition("  --")[0] for line in lines if line.startswith(("SET ", "GRANT ", "INSTALL "))]


def configuration(findings: list[dict]) -> str:
    """Returns the lines of fixes for my.cnf."""
    components = ["\n".join(each["fix"]).partition("# my.cnf")[2].partition("\n")[2] for each in findings]
    return "\n".join(filter(None, components)) + "\n"


def check_listed(server: Server, directory: Path) -> None:
    """What the doctor says of this server if sources.yaml wants the counters of Performance Schema."""
    entry = {"instance": INSTANCE, "cluster": "shop", "source": "server", **dict.fromkeys(KINDS, True)}
    entry["dsn"] = f"mysql://tailrace@localhost/?socket={server.socket}"
    entry["password_file"] = str(directory / "password")
    (directory / "password").write_text("x")
    (directory / "sources.yaml").write_text(json.dumps([entry]))
    home = {"TAILRACE_SOURCES": str(directory / "sources.yaml"), "TAILRACE_HOME": str(directory / "home")}
    done = commands.run(home, "doctor", "--source", INSTANCE)
    assert done.returncode == 1, done.stderr
    fix = "         # my.cnf, then restart the server\n         [mysqld]\n         performance_schema=ON\n"
    for kind in ("digests", "metadata_locks"):
        assert f"error    {INSTANCE} server: {kind}: performance_schema is OFF\n{fix}" in done.stdout
    assert f"warning  {INSTANCE} server: {TOO_OLD}\n         # sources.yaml" in done.stdout


def test_each_finding_is_correct_and_its_fix_works_now_and_after_a_restart(server, tmp_path):
    before = doctor(server, code=1)["findings"]
    findings = {(each["severity"], each["topic"], each["message"]) for each in before}
    assert findings >= PROBLEMS
    assert any(topic == "time zone" and ZONE in message for _, topic, message in findings)
    assert {topic for severity, topic, _ in findings if severity == "warning"} == {
        "slow log",
        "error log",
        "permissions",
    }
    check_listed(server, tmp_path)
    repaired = [each for each in before if each["topic"] not in ("rotation", "plans")]
    run(server, *statements(repaired))
    assert problems(doctor(server, code=0)) == []

    with server.configuration.open("a") as out:
        out.write(configuration(repaired))
    server.stop()
    server.start()
    assert problems(doctor(server, "--strict", code=0)) == []


def test_a_plugin_that_is_off_is_switched_on(server):
    run(server, "SET GLOBAL server_audit_logging = OFF")
    (found,) = problems(doctor(server, code=1))
    assert (found["topic"], found["message"]) == (
        "audit",
        "SERVER_AUDIT is loaded and writes nothing (server_audit_logging)",
    )
    run(server, *statements([found]))
    assert problems(doctor(server, code=0)) == []


def test_its_logrotate_stanza_works_unchanged(server, installation, tmp_path, monkeypatch):
    run(
        server,
        *(
            "SET GLOBAL slow_query_log = ON",
            "SET GLOBAL log_output = 'FILE'",
            "SET GLOBAL long_query_time = 0",
        ),
        "SET GLOBAL min_examined_row_limit = 0",
    )
    (tip,) = [
        each
        for each in doctor(server)["findings"]
        if each["topic"] == "rotation" and each["message"].split(":")[0].endswith("slow.log")
    ]
    stanza = tmp_path / "stanza"
    stanza.write_text("\n".join(line for line in tip["fix"] if not line.startswith("#")) + "\n")
    admin = tmp_path / "programs" / "mariadb-admin"
    admin.parent.mkdir()
    libraries = installation.environment()["LD_LIBRARY_PATH"]
    program = installation.program(admin.name)
    admin.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH={libraries} exec {program} "$@"\n')
    admin.chmod(admin.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{admin.parent}:{os.environ['PATH']}")
    path = Path(re.search(r"\S*slow\.log", tip["message"])[0])
    run(server, "SELECT SLEEP(0.6) AS before_it")
    wait_until(lambda: "before_it" in path.read_text(), "the entry before")
    done = subprocess.run(
        [installation.program("logrotate"), "--force", "--state", tmp_path / "state", stanza],
        env=installation.environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    run(server, "SELECT SLEEP(0.6) AS after_it")

    assert "before_it" in path.with_name("slow.log.1").read_text()
    assert "before_it" not in path.read_text()
    wait_until(lambda: "after_it" in path.read_text(), "the entry in the new file")


def test_a_log_on_a_full_disk_is_reported(server, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tailrace", small], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("may not mount a small file system")
    try:
        run(server, f"SET GLOBAL slow_query_log_file = '{small / 'slow.log'}'")
        found = {each["topic"]: each for each in problems(doctor(server))}
        assert "are free for" in found["disk"]["message"]
        for line in found["disk"]["fix"]:
            subprocess.run(line, shell=True, check=True, capture_output=True)
    finally:
        run(server, f"SET GLOBAL slow_query_log_file = '{server.logs / 'slow.log'}'")
        subprocess.run(["umount", small], check=True)


def test_the_account_for_explain_is_checked_and_written(server, tmp_path):
    run(server, "CREATE USER 'wide'@'localhost'", "GRANT SELECT, EXECUTE ON *.* TO 'wide'@'localhost'")
    address = "mysql://{}@localhost/?socket=" + str(server.socket)
    (wide,) = problems(
        doctor(server, "--explain-dsn", address.format("wide"), "--explain-password-file", os.devnull)
    )
    assert (wide["topic"], "has more privileges than reading data" in wide["message"]) == ("plans", True)

    run(
        server,
        *(each.partition("  --")[0] for each in wide["fix"]),
        "SET PASSWORD FOR wide@localhost = PASSWORD('y')",
    )
    secret = tmp_path / "explain"
    secret.write_text("y")
    words = (
        "--explain-dsn",
        address.format("wide"),
        "--explain-password-file",
        secret,
        "--instance",
        INSTANCE,
    )
    report = doctor(server, *words)
    assert problems(report) == []
    (entry,) = [each for each in report["sources"] if each["source"] == "server"]
    assert (entry["explain"], entry["explain_password_file"]) == (True, str(secret))


def test_with_the_list_that_it_writes_the_logs_are_in_clickhouse(server, detecting, tmp_path):
    listed = tmp_path / "sources.yaml"
    sources_file.make_empty(listed)
    doctor(server, "--write", "--sources", listed, "--instance", INSTANCE, "--cluster", "shop")
    detecting.watch_sources([*sources_file.load(listed), *sources_file.load_servers(listed)])
    since = datetime.now(UTC) - timedelta(seconds=60)
    run(server, "SELECT SLEEP(0.6) AS seen_by_the_stack")
    for table in ("query_events", "audit_events"):
        rows: list[dict] = []

        def arrived(table: str = table, rows: list[dict] = rows) -> bool:
            rows[:] = detecting.clickhouse().rows(
                f"SELECT toFloat64(event_time) AS at FROM tailrace.{table} "
                "WHERE instance = {instance:String} AND user = 'root' ORDER BY event_time DESC LIMIT 1",
                {"instance": INSTANCE},
            )
            return bool(rows) and rows[0]["at"] > since.timestamp()

        wait_until(arrived, f"rows of {table} with the time in UTC")
        assert rows[0]["at"] < datetime.now(UTC).timestamp() + 60
    count = "SELECT count() AS n FROM tailrace.dead_letters WHERE instance = {instance:String}"
    assert detecting.clickhouse().rows(count, {"instance": INSTANCE})[0]["n"] in (0, "0")


def test_classes_are_proposed_by_names_and_values_and_no_value_is_printed(server, tmp_path):
    people = [(f"person{n}@example.org", f"DE{_iban(n)}", f"note {n}") for n in range(40)]
    rows = ", ".join(f"('{mail}', '{iban}', '{note}')" for mail, iban, note in people)
    run(
        server,
        "CREATE DATABASE clinic",
        "CREATE TABLE clinic.visits (contact VARCHAR(60), account VARCHAR(34), note TEXT, diagnosis TEXT)",
        f"INSERT INTO clinic.visits (contact, account, note) VALUES {rows}",
        f"GRANT SELECT ON clinic.* TO {ACCOUNT}",
    )
    try:
        address = f"mysql://tailrace@localhost/?socket={server.socket}"
        words = ("--database", "clinic", "--sample", "100", "--strict", "--json")
        done = subprocess.run(
            [REPOSITORY / "bin" / "tailrace", "classes", "propose", "--server", address, *words],
            env={**os.environ, "TAILRACE_SERVER_PASSWORD": "x", "TAILRACE_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        run(server, f"REVOKE SELECT ON clinic.* FROM {ACCOUNT}", "DROP DATABASE clinic")

    assert done.returncode == 1, done.stdout + done.stderr
    found = {(row["pattern"], row["kind"], row["basis"], row["matching"]) for row in json.loads(done.stdout)}
    assert found == {
        ("clinic.visits.contact", "e-mail address", "values", 40),
        ("clinic.visits.account", "bank account", "values", 40),
        ("clinic.visits.diagnosis", "health data", "name", None),
    }
    assert "columns examined by name: 4; tables with examined values: 1" in done.stderr
    assert not any(value in done.stdout + done.stderr for row in people for value in row)


def _iban(number: int) -> str:
    body = f"{number:018}"
    return f"{98 - int(body + '131400') % 97:02}{body}"


@pytest.fixture
def tables(server, tmp_path) -> TableServer:
    return TableServer(server.socket, tmp_path)


def test_log_tables_have_the_events_of_the_files(tables, tmp_path):
    check_both_logs(tables, tmp_path)


def test_a_slow_log_has_the_same_events_by_five_ways(tables, tmp_path):
    check_ways(tables, tmp_path)


def test_tables_are_read_once_although_they_are_renamed_and_the_puller_is_killed(tables):
    for seed in range(SEEDS):
        check_seed(tables, seed)


@pytest.mark.long
def test_tables_are_read_once_although_they_are_renamed_and_the_puller_is_killed_long(tables):
    for seed in range(SEEDS, LONG_SEEDS):
        check_seed(tables, seed)


def test_a_truncated_log_table_is_a_gap(tables):
    check_truncate(tables)


def test_what_a_log_table_lacks_is_named_with_its_fix(tables):
    check_refusals(tables)


def test_a_report_of_log_tables_needs_no_files(tables):
    with tables.logging():
        tables.work(Random(4), 20)
        rows = tables.rows_of_others()
        address = f"mysql://{PULLER}@localhost/?socket={tables.socket}"
        done = subprocess.run(
            [
                *(REPOSITORY / "bin" / "tailrace", "digest", "--server", address),
                *("--limit", "1", "--json"),
            ],
            env={**os.environ, "TAILRACE_SERVER_PASSWORD": "x"},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["entries"] == rows
