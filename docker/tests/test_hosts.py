"""The packages of a database server, installed on a Debian whose first process is systemd.

The tests are the life of one server, in order. Kafka, ClickHouse and the normalize job are processes of this
machine, and the test writes the logs of the server as MariaDB writes them.
"""

import os
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from random import Random
from threading import Thread

import pytest

from collectors.host.package import build
from docker.tests.built_images import FLUENT_BIT_LIBRARIES, collector_component, exists, install
from docker.tests.built_images import base as base  # fixtures
from docker.tests.built_images import buildah as buildah
from docker.tests.confinement import is_read_only
from docker.tests.conftest import ToOutput
from docker.tests.container_stack import DATABASE_PORT, FIRST_PORT, PULLER
from docker.tests.container_stack import database as database
from docker.tests.container_stack import directory as directory
from docker.tests.container_stack import podman as podman
from docker.tests.database_host import STATE, DatabaseHost
from docker.tests.rendering import TIME_ZONE
from e2e import collector_state, topics
from e2e.stack import PORTS, Stack, wait_until
from e2e.test_signing import statuses
from e2e.wait_for_idle import await_exact, tailrace
from e2e.workload.shapes import MariaDb, MariaDbAudit
from e2e.workload.statements import ordinary
from e2e.workload.writer import LogWriter
from tailrace.config import content_hash
from tailrace.credentials.names import password_name
from tailrace.programs.fluentbit import COLLECTOR, for_version_1
from tailrace_local.components.repair import ACCOUNT

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "procps", "python3-confluent-kafka", "python3-cryptography"),
    *("python3-jinja2", "python3-msgpack", "python3-pymysql", "python3-stdnum", "python3-yaml"),
    *FLUENT_BIT_LIBRARIES,
)
IMAGE = f"localhost/tailrace-database-host-{content_hash.fingerprint(*PACKAGES)}"
INSTANCE = "shop-db-7"
OLD, NEW = "1.0.0", "1.0.1"
FLUENT_BIT, WATCH, CENSUS, REPAIR, CAPTURE = (
    f"tailrace-{name}.service" for name in ("fluent-bit", "fluent-bit-watch", "census", "repair", "capture")
)
SERVICES = (FLUENT_BIT, WATCH, CENSUS, REPAIR)
PASSWORD_FILE = "server.password"
HEALTH_PORT, FAILING_PORT = (FIRST_PORT + len(PORTS) + number for number in (4, 5))
EXACT_SECONDS = 300
EXPOSURE = "20"
"""Tenths of the exposure of a unit by `systemd-analyze security`, from 0 (none) to 100."""


@pytest.fixture(scope="module")
def stack(directory: Path) -> Iterator[Stack]:
    made = Stack(directory / "home", FIRST_PORT, components=("kafka", "clickhouse", "flink"))
    made.up()
    yield made
    made.down()


@pytest.fixture(scope="module")
def image(buildah, base: str) -> str:
    """Debian with systemd, and with what Debian has of the dependencies of the packages."""
    if not exists(buildah, IMAGE):
        container = buildah("from", base).strip()
        install(buildah, container, *PACKAGES)
        buildah("commit", "--rm", container, IMAGE)
    return IMAGE


@pytest.fixture(scope="module")
def logs(directory: Path) -> list[LogWriter]:
    """A slow log and an audit log, readable for Debian's group adm."""
    random = Random(11)
    made = [
        LogWriter(MariaDb(random), INSTANCE, "default", directory / "logs/slow.log", random),
        LogWriter(MariaDbAudit(random), INSTANCE, "default", directory / "logs/audit.log", random),
    ]
    for log in made:
        os.chown(log.path, 0, 4)
        log.path.chmod(0o640)
        log.manifest.path = f"/var/log/mysql/{log.path.name}"  # in the container
    return made


@pytest.fixture(scope="module")
def host(podman, image: str, directory: Path, logs) -> Iterator[DatabaseHost]:
    component = collector_component()
    if not component.installed():
        component.install(ToOutput())
    packages = directory / "packages"
    for version in (OLD, NEW):
        build.build(packages, version)
    volumes = {
        "/packages": packages,
        "/var/log/mysql": directory / "logs",
        "/opt/fluent-bit/bin/fluent-bit": component.program(),
        "/opt/fluent-bit/tailrace": files_of_fluent_bit(directory / "fluent-bit"),
    }
    made = DatabaseHost(podman, image, "tailrace-database-host", volumes)
    yield made
    made.remove()


def files_of_fluent_bit(directory: Path) -> Path:
    """Returns a directory with the files that the package contains, which are changed for version 1."""
    directory.mkdir()
    for file in COLLECTOR.glob("*.conf"):
        text = file.read_text()
        (directory / file.name).write_text(
            for_version_1(text) if collector_component().is_version_1() else text
        )
    return directory


def install_packages(host: DatabaseHost, version: str, *names: str) -> None:
    host("dpkg", "--install", *(f"/packages/tailrace-{name}_{version}_all.deb" for name in names))


def write(logs: list[LogWriter], entries: int) -> None:
    random = Random(entries)
    for log in logs:
        for _ in range(entries):
            log.write(ordinary(random))
        log.finish()


def assert_exact(stack: Stack, logs: list[LogWriter]) -> None:
    await_exact(stack, [log.manifest for log in logs], EXACT_SECONDS)
    # Without --wait it omits a checkpoint whose rows are still arriving.
    tailrace(stack, "ledger", "--instance", INSTANCE, "--strict", "--wait", str(EXACT_SECONDS))


def errors(host: DatabaseHost, expected: int) -> list[str]:
    """Returns the errors that `tailrace-collector check` prints, with their corrections.

    Our build of version 1 of Fluent Bit is too old for users, and is no error here.
    """
    is_old = collector_component().is_version_1()
    said = host("tailrace-collector", "check", expected=1 if is_old else expected)
    lines = [each for each in said.splitlines() if not each.startswith("ok")]
    return [each for each in lines if not re.search("too old|install Fluent Bit", each)]


def test_the_check_names_what_is_missing(host, stack, logs):
    install_packages(host, OLD, "collector", "repair")
    assert not any(host.is_running(unit) for unit in SERVICES)
    assert any("no directory /var/lib/mysql" in line for line in errors(host, 1))

    collector = {
        "INSTANCE": INSTANCE,
        "CLUSTER": "default",
        "TZ": TIME_ZONE,
        "SLOWLOG_PATH": logs[0].manifest.path,
        "AUDIT_PATH": logs[1].manifest.path,
        "ERRORLOG_PATH": "",
        "KAFKA_BROKERS": f"127.0.0.1:{stack.settings.port_kafka}",
        "KAFKA_SECURITY_PROTOCOL": "plaintext",
        "KAFKA_SASL_MECHANISM": "PLAIN",
        "HEALTH_PORT": str(HEALTH_PORT),
    }
    if collector_component().is_version_1():
        collector["COLLECTOR_DIR"] = "/opt/fluent-bit/tailrace"
    host.change_settings("collector.env", **{f"TAILRACE_{name}": value for name, value in collector.items()})
    host.change_settings(
        "repair.env",
        TAILRACE_CLICKHOUSE_URL=f"http://127.0.0.1:{stack.settings.port_clickhouse}",
        TAILRACE_CLICKHOUSE_PASSWORD=stack.home.secret(password_name(ACCOUNT)),
        TAILRACE_KAFKA_SASL_USERNAME="",
    )
    (correction,) = {line.strip() for line in errors(host, 1) if "usermod" in line}
    command, _, _ = correction.partition(",")
    host(*command.split())
    assert errors(host, 0) == []


def test_lines_arrive_from_confined_services(host, stack, logs):
    host("systemctl", "enable", "--now", FLUENT_BIT, CENSUS, REPAIR)
    write(logs, 2000)
    assert_exact(stack, logs)
    host("systemd-analyze", "verify", *SERVICES)
    for unit in SERVICES:
        assert host.is_running(unit), host.journal(unit)
        host("systemd-analyze", "security", f"--threshold={EXPOSURE}", unit)
        process = host.shown(unit, "MainPID")
        assert host("ps", "--no-headers", "--format", "user", process).strip() == "tailrace"
        status = host("cat", f"/proc/{process}/status")
        assert "CapEff:\t0000000000000000" in status
        assert "NoNewPrivs:\t1" in status
        assert is_read_only(host.root() / "proc" / process)


def test_killed_services_are_restarted_and_lost_lines_repaired(host, stack, logs):
    """Fluent Bit is killed while Kafka is down, so that it loses what it has queued."""
    state = host.root() / STATE / "fluent-bit"
    with stack.without("kafka"):
        write(logs, 500)
        wait_until(
            lambda: collector_state.has_queued(state, [log.path for log in logs]), "Fluent Bit to queue lines"
        )
        host.kill(FLUENT_BIT)
    host.kill(CENSUS)
    stack.await_healthy()
    write(logs, 500)
    assert_exact(stack, logs)
    assert "repaired" in host.journal(REPAIR)


def test_lines_of_a_stop_arrive_after_the_start(host, stack, logs):
    host("systemctl", "stop", FLUENT_BIT, CENSUS)
    assert not host.is_running(WATCH)
    write(logs, 300)
    host("systemctl", "start", FLUENT_BIT, CENSUS)
    assert_exact(stack, logs)


def test_services_run_after_a_boot(host, stack, logs):
    for log in logs:
        log.rotate(late=5)
        os.chown(log.path, 0, 4)
    host.restart()
    write(logs, 300)
    assert_exact(stack, logs)
    assert all(host.is_running(unit) for unit in SERVICES)


def test_a_host_signs_its_logs(host, stack, logs):
    directory, owner = "/var/lib/tailrace/keys", ("--owner=tailrace", "--group=tailrace")
    host("install", "--directory", *owner, "--mode=0700", directory)
    create = ("tailrace-census", "--create-key", f"{directory}/host.pem")
    public_key = host("runuser", "--user", "tailrace", "--", *create).strip()
    tailrace(stack, "keys", "add", "--host", INSTANCE, public_key)
    host.change_settings("collector.env", TAILRACE_HOST_KEY=f"{directory}/host.pem", TAILRACE_HOST=INSTANCE)
    host("systemctl", "restart", FLUENT_BIT, CENSUS)
    write(logs, 300)
    assert_exact(stack, logs)
    wait_until(lambda: "verified" in statuses(stack, INSTANCE), "a verified range", seconds=EXACT_SECONDS)


def test_capture_ships_what_it_reads_from_the_server(host, stack, logs, database):
    install_packages(host, OLD, "capture")
    file = f"/etc/tailrace/{PASSWORD_FILE}"
    host("install", "--group=tailrace", "--mode=0640", "/dev/null", file)
    host("sh", "-c", f"echo x > {file}")
    dsn = f"mysql://{PULLER}@127.0.0.1:{DATABASE_PORT}/"
    host.change_settings("collector.env", TAILRACE_SERVER_DSN=dsn)
    host("systemctl", "restart", FLUENT_BIT)
    host("systemctl", "enable", "--now", CAPTURE)
    wait_until(
        lambda: topics.committed(stack.settings, "tailrace.snapshots", INSTANCE),
        "a snapshot in Kafka",
        seconds=EXACT_SECONDS,
    )
    host("systemd-analyze", "security", f"--threshold={EXPOSURE}", CAPTURE)


class Failing(BaseHTTPRequestHandler):
    """Answers as a Fluent Bit of which an output has failed permanently."""

    def do_GET(self) -> None:
        self.send_error(500)


def test_fluent_bit_is_restarted_if_an_output_has_failed(host, stack, logs):
    """The watch asks a server of the test in place of Fluent Bit."""
    before = int(host.shown(FLUENT_BIT, "NRestarts"))
    server = HTTPServer(("127.0.0.1", FAILING_PORT), Failing)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        host("sh", "-c", f"echo TAILRACE_HEALTH_PORT={FAILING_PORT} > /run/failing.env")
        drop_in = f"/run/systemd/system/{WATCH}.d"
        host(
            "sh",
            "-c",
            f"mkdir -p {drop_in} && printf '[Service]\\nEnvironmentFile=/run/failing.env' > {drop_in}/a.conf",
        )
        host("systemctl", "daemon-reload")
        host("systemctl", "restart", WATCH)
        host.await_restart(FLUENT_BIT, before)
    finally:
        host("rm", "-r", drop_in)
        host("systemctl", "daemon-reload")
        host("systemctl", "restart", WATCH)
        server.shutdown()
    assert "failed permanently" in host.journal(WATCH)
    write(logs, 100)
    assert_exact(stack, logs)


def test_an_upgrade_keeps_settings_and_state(host, stack, logs):
    settings = host("cat", "/etc/tailrace/collector.env")
    processes = {unit: host.shown(unit, "MainPID") for unit in (*SERVICES, CAPTURE)}
    install_packages(host, NEW, "collector", "repair", "capture")
    assert host("dpkg-query", "--show", "--showformat=${Version}", "tailrace-collector") == NEW
    assert host("cat", "/etc/tailrace/collector.env") == settings
    for unit, process in processes.items():
        assert host.is_running(unit)
        assert host.shown(unit, "MainPID") != process
    write(logs, 300)
    assert_exact(stack, logs)


def test_a_removal_stops_the_services_and_a_purge_deletes_their_state(host):
    names = ("tailrace-capture", "tailrace-repair", "tailrace-collector")
    host("dpkg", "--remove", *names)
    assert host("systemctl", "list-units", "--no-legend", "tailrace-*") == ""
    assert (host.root() / STATE / "fluent-bit").exists()
    assert (host.root() / "etc/tailrace/collector.env").exists()

    said = host("dpkg", "--purge", *names)
    assert "Deleting /var/lib/tailrace" in said
    assert not (host.root() / STATE).exists()
    assert {*os.listdir(host.root() / "etc/tailrace")} == {PASSWORD_FILE}
