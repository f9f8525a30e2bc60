"""The chart's workloads run in containers, by podman and runc, as the chart confines them.

Kafka, ClickHouse and MariaDB are processes, because no registry of packages has their images. Our images
have bases of Debian (built_images.py). The jobs are standalone applications, because no registry has the
operator of this Flink. Containers use this machine's network. Pods with metrics have the same port: only one
of them runs at a time.
"""

import json
import os
import shutil
import signal
import sqlite3
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
import yaml

from docker.tests import pods
from docker.tests.built_images import base as base  # fixtures
from docker.tests.built_images import bud as bud
from docker.tests.built_images import build as build
from docker.tests.built_images import buildah as buildah
from docker.tests.built_images import flink_base as flink_base
from docker.tests.built_images import flink_runtime as flink_runtime
from docker.tests.built_images import flink_runtime_base as flink_runtime_base
from docker.tests.built_images import fluent_bit as fluent_bit
from docker.tests.built_images import superset as superset
from docker.tests.built_images import superset_base as superset_base
from docker.tests.built_images import tools as tools
from docker.tests.confinement import assert_confined
from docker.tests.container_stack import CALLBACK_SECRET, DATABASE_POD, PULLED, run
from docker.tests.container_stack import database as database  # fixtures
from docker.tests.container_stack import directory as directory
from docker.tests.container_stack import images as images
from docker.tests.container_stack import play as play
from docker.tests.container_stack import podman as podman
from docker.tests.container_stack import receiver as receiver
from docker.tests.container_stack import search as search
from docker.tests.container_stack import secrets as secrets
from docker.tests.container_stack import signing_keys as signing_keys
from docker.tests.container_stack import stack as stack
from docker.tests.container_stack import workloads as workloads
from docker.tests.pods import template_of
from docker.tests.test_steps import running, settings_with_free_ports
from docker.tests.workloads import NODE, Volumes, assert_finished, await_probes, start_job
from e2e.callback_requests import signed
from e2e.stack import Stack, wait_until
from e2e.wait_for_idle import await_exact, tailrace
from e2e.workload.shapes import MariaDb, MariaDbAudit
from e2e.workload.statements import ordinary
from e2e.workload.writer import LogWriter, Workload
from tailrace.clickhouse.client import ClickHouse
from tailrace.config.home import Home
from tailrace.credentials.names import password_name
from tailrace.migrations import migration_files
from tailrace.transparency import status
from tailrace.transparency.log import CHECKPOINT
from tailrace_local.components.clickhouse import ClickHouse as ClickHousePart
from tailrace_verify import notes

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

ENTRIES = 4000
EXACT_SECONDS = 300
SERVICES = ("delivery", "forwarding", "callbacks", "metrics", "facts", "api")
JOBS = ("normalize", "detect")
COLLECTOR, METRICS_POD = "tailrace-collector", "tailrace-metrics"
BRUTE_FORCE = "Many refused logins to one account"
METRICS = {
    'tailrace_job_up{job="normalize"} 1.0',
    'tailrace_job_up{job="detect"} 1.0',
    "tailrace_ledger_up 1.0",
    "tailrace_ledger_imbalances 0.0",
}
PULLED_STATEMENTS = 200


@pytest.fixture
def started(podman, play, workloads) -> Callable[[str, str], str]:
    """Starts the pod of a workload, waits for its probes, and checks what its processes may do; returns its
    name."""

    def confined(kind: str, name: str) -> str:
        workload = workloads[kind, name]
        pod = play(kind, name)
        await_probes(podman, pod, workload)
        assert_confined(podman, pod, template_of(workload)["spec"])
        return pod

    return confined


def test_the_job_of_the_migrations_makes_all_tables(podman, workloads, directory):
    """On a ClickHouse of its own, because the stack migrates its own one."""
    settings = settings_with_free_ports(directory / "empty")
    component = ClickHousePart(settings, Home(settings.home))
    component.prepare()
    workload = json.loads(json.dumps(workloads["Job", "tailrace-migrations"]))
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    container["args"][-1] = component.address()
    with running(component, [str(word) for word in component.command()]):
        volumes = Volumes(directory / "volumes/migrations", workloads, component.home)
        name = podman.play(pods.pod(workload, volumes, NODE), directory)
        assert_finished(podman, f"{name}-migrations")
        reader = ClickHouse(
            component.address(), "reader_developer", component.home.secret(password_name("reader_developer"))
        )
        assert reader.execute("SELECT count() FROM tailrace.query_events") == "0\n"
    assert len(podman.logs(f"{name}-migrations").splitlines()) == len(migration_files.load_migrations())


def test_superset_serves_and_gets_its_dashboards(podman, play, started):
    started("Deployment", "tailrace-superset")
    assert_finished(podman, f"{play('Job', 'tailrace-dashboards')}-dashboards")
    with urllib.request.urlopen("http://127.0.0.1:8088/login/", timeout=60) as answer:
        assert b"Tailrace" in answer.read()


@pytest.fixture
def started_alone(podman, started) -> Iterator[Callable[[str, str], str]]:
    """The same for a pod with metrics, whose port no other pod may have. The pod ends with the test."""
    podman.remove(METRICS_POD)
    names = []

    def alone(kind: str, name: str) -> str:
        names.append(name)
        return started(kind, name)

    yield alone
    for name in names:
        podman.remove(name)


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_is_confined_and_its_probes_succeed(started, service):
    started("Deployment", f"tailrace-{service}")


@pytest.fixture(scope="module")
def workload(directory: Path) -> Workload:
    """The logs of a server on the node, which the collector may read."""
    logs = directory / "logs"
    logs.mkdir()
    random = Random(7)
    made = Workload(directory / "unused", 7)
    shutil.rmtree(directory / "unused")
    made.logs = [
        LogWriter(MariaDb(random), NODE, "default", logs / "slow.log", random),
        LogWriter(MariaDbAudit(random), NODE, "default", logs / "server_audit.log", random),
    ]
    for writer in made.logs:
        writer.path.chmod(0o644)
    return made


def test_a_log_passes_all_containers_and_the_ledger_balances(
    podman, play, started, stack, workloads, workload, directory, receiver, search
):
    for step in ("rules", "host-keys"):
        assert_finished(podman, f"{play('Job', f'tailrace-{step}')}-{step}")
    started("DaemonSet", COLLECTOR)
    for job in JOBS:
        for pod in start_job(podman, workloads, stack.home, directory, f"tailrace-{job}"):
            assert_confined(podman, pod["metadata"]["name"], pod["spec"])

    workload.write(ENTRIES)
    workload.finish()

    await_exact(stack, workload.manifests, EXACT_SECONDS)
    assert workload.entries >= ENTRIES
    tailrace(stack, "ledger", "--instance", NODE, "--strict", "--wait", str(EXACT_SECONDS))
    wait_until(lambda: has_alert(stack), "an alert of the detect job", seconds=EXACT_SECONDS)
    wait_until(lambda: receiver.requests, "the delivered alert", seconds=EXACT_SECONDS)
    wait_until(lambda: search.documents.keys() == events(stack), "all events", seconds=EXACT_SECONDS)
    assert metrics() >= METRICS


def test_an_alert_is_acknowledged_by_a_callback(stack):
    (alert,) = stack.clickhouse().rows("SELECT toString(any(alert_id)) AS id FROM tailrace.alerts")
    action = {"id": "1", "action": "acknowledge", "user": "ines", "reason": "known"}
    body = json.dumps({**action, "alert": alert["id"].replace("-", "")}).encode()
    headers = signed("webhook", body, CALLBACK_SECRET.encode(), time.time())
    request = urllib.request.Request("http://127.0.0.1:18091/callbacks/tickets", body, headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 200
    stored = stack.clickhouse().rows("SELECT toString(alert_id) AS id, action FROM tailrace.alert_actions")
    assert stored == [{"id": alert["id"], "action": "ack"}]


def test_the_node_has_signed_the_log(stack, workload):
    def verified() -> bool:
        rows = stack.clickhouse().rows(
            "SELECT log, max(to_offset) AS bytes FROM tailrace.signed_ranges FINAL "
            "WHERE host = {host:String} AND status = 'verified' GROUP BY log",
            {"host": NODE},
        )
        return {row["log"]: row["bytes"] for row in rows} == {
            str(writer.path): writer.current.bytes for writer in workload.logs
        }

    wait_until(verified, "the verified signature of every byte", seconds=EXACT_SECONDS)
    others = "SELECT * FROM tailrace.signed_ranges FINAL WHERE status NOT IN ('verified', 'superseded')"
    assert stack.clickhouse().rows(others) == []


def test_lost_lines_are_repaired(podman, stack, workload, directory):
    lose_lines(podman, workload, directory)
    await_exact(stack, workload.manifests, EXACT_SECONDS)
    assert "shipped" in podman.logs(f"{COLLECTOR}-repair")
    tailrace(stack, "ledger", "--instance", NODE, "--strict", "--wait", str(EXACT_SECONDS))


def test_lost_lines_are_shipped_by_hand(podman, stack, workload, directory):
    """With the command of the pod, while its automatic repair stands still."""
    repair = f"{COLLECTOR}-repair"
    process = int(podman("inspect", "--format", "{{.State.Pid}}", repair))
    os.kill(process, signal.SIGSTOP)
    try:
        lose_lines(podman, workload, directory)
        filled: set[str] = set()

        def all_filled() -> bool:
            done = podman.run("exec", repair, "sh", "/etc/tailrace/repair/backfill", "--output", "json")
            assert done.stdout, done.stderr
            found = json.loads(done.stdout)["stretches"]
            filled.update(row["log"] for row in found if row["state"] == "filled")
            return filled == {str(writer.path) for writer in workload.logs}

        wait_until(all_filled, "shipped lines of both logs", seconds=EXACT_SECONDS)
        await_exact(stack, workload.manifests, EXACT_SECONDS)
    finally:
        os.kill(process, signal.SIGCONT)
    tailrace(stack, "ledger", "--instance", NODE, "--strict", "--wait", str(EXACT_SECONDS))


def test_the_sidecar_collects_the_logs_of_its_pod(podman, stack, workloads, secrets, directory):
    podman.remove(COLLECTOR)  # its Fluent Bit has the same port
    sidecar = yaml.safe_load(workloads["ConfigMap", f"{COLLECTOR}-sidecar"]["data"]["sidecar.yaml"])
    logs = {"name": "logs", "hostPath": {"path": str(directory / "database-logs")}}
    own = {"securityContext": {"runAsUser": 999, "fsGroup": 999}, "volumes": [*sidecar["volumes"], logs]}
    workload = {
        "kind": "StatefulSet",
        "metadata": {"name": DATABASE_POD},
        "spec": {"template": {"spec": {**sidecar, **own}}},
    }
    random = Random(8)
    writer = LogWriter(MariaDb(random), DATABASE_POD, "default", directory / "database-logs/slow.log", random)
    writer.path.chmod(0o644)
    writer.manifest.path = str(directory / "logs/slow.log")  # in the container

    volumes = Volumes(directory / "volumes" / DATABASE_POD, workloads, stack.home, secrets)
    pod = podman.play(pods.pod(workload, volumes, DATABASE_POD), directory)
    await_probes(podman, pod, workload)
    assert_confined(podman, pod, template_of(workload)["spec"])
    for _ in range(400):
        writer.write(ordinary(random))
    writer.finish()
    await_exact(stack, [writer.manifest], EXACT_SECONDS)
    podman.remove(pod)


def test_the_puller_reads_log_tables(started_alone, stack, database):
    started_alone("Deployment", "tailrace-pull")
    statements = (f"SELECT sum FROM orders WHERE id = {number}" for number in range(PULLED_STATEMENTS))
    run(database, "USE shop", *statements)
    wait_until(lambda: pulled(stack) == PULLED_STATEMENTS, "all statements", seconds=EXACT_SECONDS)
    assert any(line.startswith(f'tailrace_pull_unread_seconds{{instance="{PULLED}"') for line in metrics())


def test_capture_asks_a_server_for_facts_and_plans(podman, started, stack, database):
    """Its statements are those that were pulled."""
    pod = started("Deployment", "tailrace-capture")
    wait_until(lambda: has_snapshot(stack), f"a snapshot of {PULLED}", seconds=EXACT_SECONDS)
    wait_until(lambda: has_plan(stack), f"a plan of {PULLED}", seconds=EXACT_SECONDS)
    podman.remove(pod)


def test_a_checkpoint_of_the_transparency_log_is_cosigned(started, started_alone, directory, signing_keys):
    started("StatefulSet", "tailrace-witness")
    started_alone("StatefulSet", "tailrace-transparency")
    log = directory / "volumes/tailrace-transparency/log"
    wait_until(lambda: (status.read(log).published_size or 0) > 1, "leaves", seconds=EXACT_SECONDS)
    checkpoint = notes.parse((log / CHECKPOINT).read_bytes())
    assert notes.verify(checkpoint, signing_keys.log)
    assert notes.cosigned_at(checkpoint, signing_keys.witness)
    assert "tailrace_transparency_incidents 0.0" in metrics()


def test_the_cron_job_of_retention_restores_a_ttl(podman, play, stack):
    stack.clickhouse().execute("ALTER TABLE tailrace.dead_letters REMOVE TTL")
    assert not has_ttl(stack)
    assert_finished(podman, f"{play('CronJob', 'tailrace-retention')}-retention")
    assert has_ttl(stack)


def has_ttl(stack: Stack) -> bool:
    """Returns whether ClickHouse deletes dead letters after the days of the chart's values."""
    (row,) = stack.clickhouse().rows(
        "SELECT engine_full FROM system.tables WHERE database = 'tailrace' AND name = 'dead_letters'"
    )
    return "toIntervalDay(9)" in row["engine_full"]


def lose_lines(podman, workload: Workload, directory: Path) -> None:
    """Writes lines that Fluent Bit does not read: its positions are set to the end of the logs while it does
    not run. Writes others after them."""
    podman("stop", f"{COLLECTOR}-fluentbit")
    workload.write(400)
    workload.finish()
    for writer in workload.logs:
        skip_to_the_end(directory / "collector/fluent-bit", writer.path)
    podman("start", f"{COLLECTOR}-fluentbit")
    workload.write(400)
    workload.finish()


def skip_to_the_end(state: Path, log: Path) -> None:
    """Has Fluent Bit continue at the end of a log, as if it had read everything. It must not be running."""
    found = log.stat()
    changed = 0
    for file in state.glob("*.db"):
        with closing(sqlite3.connect(file)) as positions, positions:
            done = positions.execute(
                "UPDATE in_tail_files SET offset = ? WHERE inode = ?", (found.st_size, found.st_ino)
            )
            changed += done.rowcount
            columns = [column[1] for column in positions.execute("PRAGMA table_info(in_tail_files)")]
            if "offset_marker_size" in columns:  # of the bytes before the old position, which it compares
                positions.execute("UPDATE in_tail_files SET offset_marker_size = 0")
    assert changed == 1, f"{changed} positions of {log}"


def metrics() -> set[str]:
    """Returns the lines of the metrics at the port of a pod with metrics; only one such pod runs."""
    with urllib.request.urlopen("http://127.0.0.1:9090/metrics", timeout=60) as answer:
        return set(answer.read().decode().splitlines())


def events(stack: Stack) -> set[str]:
    """Returns the ids of all stored events of slow logs and audit logs, as channels write them."""
    tables = (f"SELECT toString(event_id) AS id FROM tailrace.{name}_events" for name in ("query", "audit"))
    rows = stack.clickhouse().rows(" UNION ALL ".join(tables))
    return {row["id"].replace("-", "") for row in rows}


def pulled(stack: Stack) -> int:
    """Returns the number of stored statements of the puller's test."""
    (row,) = stack.clickhouse().rows(
        "SELECT count() AS events FROM tailrace.query_events "
        "WHERE instance = {instance:String} AND user = 'root' AND verb = 'SELECT'",
        {"instance": PULLED},
    )
    return row["events"]


def has_snapshot(stack: Stack) -> bool:
    """Returns whether answers of the database are stored."""
    (row,) = stack.clickhouse().rows(
        "SELECT count() AS snapshots FROM tailrace.server_snapshots WHERE instance = {instance:String} "
        "AND status = 'ok'",
        {"instance": PULLED},
    )
    return row["snapshots"] > 0


def has_plan(stack: Stack) -> bool:
    """Returns whether the plan of a statement of the database is stored."""
    (row,) = stack.clickhouse().rows(
        "SELECT count() AS plans FROM tailrace.plan_captures WHERE instance = {instance:String} "
        "AND status = 'ok' AND plan_hash != ''",
        {"instance": PULLED},
    )
    return row["plans"] > 0


def has_alert(stack: Stack) -> bool:
    """Returns whether an alert of refused logins is stored."""
    (row,) = stack.clickhouse().rows(
        "SELECT count() AS alerts FROM tailrace.alerts FINAL WHERE rule_title = {title:String}",
        {"title": BRUTE_FORCE},
    )
    return row["alerts"] > 0
