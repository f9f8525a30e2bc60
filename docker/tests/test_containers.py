"""The chart's workloads run in containers, by podman and runc, as the chart confines them.

Kafka and ClickHouse are processes of a test stack, because no registry of packages has their images. Our
images have bases of Debian (built_images.py). The jobs are standalone applications, because no registry has
the operator of this Flink. Capture asks a server that does not answer. Containers use this machine's network.
"""

import json
import os
import shutil
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from docker.tests import pods, rendering
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
from docker.tests.podman import Podman
from docker.tests.pods import template_of
from docker.tests.test_steps import running, settings_with_free_ports
from docker.tests.workloads import NODE, Volumes, Workloads, assert_finished, await_probes, start_job
from e2e.receivers import WebReceiver, web_receiver
from e2e.stack import PORTS, Stack, wait_until
from e2e.wait_for_idle import await_exact, tailrace
from e2e.workload.shapes import MariaDb, MariaDbAudit
from e2e.workload.writer import LogWriter, Workload
from tailrace.clickhouse.client import ClickHouse
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.credentials.names import password_name
from tailrace.migrations import migration_files
from tailrace_local.components.clickhouse import ClickHouse as ClickHousePart

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

FIRST_PORT = int(os.environ.get("E2E_FIRST_PORT", "24600")) + 300
TAG = "tested"
ENTRIES = 4000
EXACT_SECONDS = 300
RECEIVER_PORT = FIRST_PORT + len(PORTS) + 1
NOBODY_LISTENS = FIRST_PORT + len(PORTS) + 2
SERVICES = ("delivery", "metrics", "facts", "api", "capture")
JOBS = ("normalize", "detect")
BRUTE_FORCE = "Many refused logins to one account"
METRICS = {
    'tailrace_job_up{job="normalize"} 1.0',
    'tailrace_job_up{job="detect"} 1.0',
    "tailrace_ledger_up 1.0",
    "tailrace_ledger_imbalances 0.0",
}


@pytest.fixture(scope="module")
def podman(buildah) -> Iterator[Podman]:
    """After buildah's fixture, which holds the lock of the images."""
    missing = [name for name in ("podman", "runc", "catatonit") if not shutil.which(name)]
    assert not missing, f"apt-get install {' '.join(missing)}"
    runs = Podman(Settings.from_environment().cache / "images")
    yield runs
    runs.down()


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    """Readable by the users of containers, unlike pytest's directories."""
    made = Path(tempfile.mkdtemp(prefix="tailrace-containers-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def stack(directory: Path) -> Iterator[Stack]:
    made = Stack(directory / "home", FIRST_PORT, components=("kafka", "clickhouse"))
    made.up()
    yield made
    made.down()


@pytest.fixture(scope="module")
def images(buildah, tools: str, superset: str, flink_runtime: str, fluent_bit: str) -> dict[str, str]:
    """Our images by the chart's names, with a tag: the chart refuses images without a version."""
    built = {"tools": tools, "flink": flink_runtime, "superset": superset, "fluentBit": fluent_bit}
    for image in built.values():
        buildah("tag", image, f"{image}:{TAG}")
    return {name: f"{image}:{TAG}" for name, image in built.items()}


@pytest.fixture(scope="module")
def receiver() -> Iterator[WebReceiver]:
    with web_receiver(RECEIVER_PORT) as made:
        yield made


@pytest.fixture(scope="module")
def secrets(receiver: WebReceiver) -> dict[str, dict[str, str]]:
    """The keys of secrets that the chart names, apart from passwords."""
    channel = {"name": "siem", "kind": "webhook", "url": receiver.url, "secret_file": "secret"}
    server = {"cluster": "shop", "instance": NODE, "dsn": f"mysql://tailrace@127.0.0.1:{NOBODY_LISTENS}/"}
    return {
        "tailrace-alerts": {
            "alerts.yaml": json.dumps({"channels": [{**channel, "min_level": "low"}]}),
            "secret": "secret",
        },
        "tailrace-capture": {
            "servers.json": json.dumps([{**server, "password_file": "/etc/tailrace/capture/password"}]),
            "password": "none",
        },
    }


@pytest.fixture(scope="module")
def workloads(stack: Stack, directory: Path, images: dict[str, str]) -> Workloads:
    given = rendering.values(stack, directory, images)
    more = {"delivery": {"enabled": True}, "serviceMonitors": True, "capture": {"enabled": True}}
    return rendering.render(directory / "services.yaml", {**given, **more})


@pytest.fixture(scope="module")
def play(podman: Podman, workloads, stack, directory: Path, secrets) -> Callable[[str, str], str]:
    """Starts the pod of a workload; returns its name."""

    def started(kind: str, name: str) -> str:
        volumes = Volumes(directory / "volumes" / name, workloads, stack.home, secrets)
        return podman.play(pods.pod(workloads[kind, name], volumes, NODE), directory)

    return started


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


def test_superset_serves_and_gets_its_dashboards(podman, play, workloads):
    pod = play("Deployment", "tailrace-superset")
    await_probes(podman, pod, workloads["Deployment", pod])
    assert_confined(podman, pod, template_of(workloads["Deployment", pod])["spec"])
    assert_finished(podman, f"{play('Job', 'tailrace-dashboards')}-dashboards")
    with urllib.request.urlopen("http://127.0.0.1:8088/login/", timeout=60) as answer:
        assert b"Tailrace" in answer.read()


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_is_confined_and_its_probes_succeed(podman, play, workloads, service):
    workload = workloads["Deployment", f"tailrace-{service}"]
    pod = play("Deployment", f"tailrace-{service}")
    await_probes(podman, pod, workload)
    assert_confined(podman, pod, template_of(workload)["spec"])
    if service == "capture":  # its Fluent Bit has the port of the collector's, on the same machine
        podman("pod", "rm", "--force", "--time", "5", pod)


def test_a_log_passes_all_containers_and_the_ledger_balances(
    podman, play, stack, workloads, directory, receiver
):
    assert_finished(podman, f"{play('Job', 'tailrace-rules')}-rules")
    logs = directory / "logs"
    logs.mkdir()
    random = Random(7)
    workload = Workload(directory / "unused", 7)
    shutil.rmtree(directory / "unused")
    workload.logs = [
        LogWriter(MariaDb(random), NODE, "default", logs / "slow.log", random),
        LogWriter(MariaDbAudit(random), NODE, "default", logs / "server_audit.log", random),
    ]
    for writer in workload.logs:
        writer.path.chmod(0o644)
    collector = workloads["DaemonSet", "tailrace-collector"]
    await_probes(podman, play("DaemonSet", "tailrace-collector"), collector)
    assert_confined(podman, "tailrace-collector", template_of(collector)["spec"])
    for job in JOBS:
        for pod in start_job(podman, workloads, stack.home, directory, f"tailrace-{job}"):
            assert_confined(podman, pod["metadata"]["name"], pod["spec"])

    workload.write(ENTRIES)
    workload.finish()

    await_exact(stack, [writer.manifest for writer in workload.logs], EXACT_SECONDS)
    assert sum(writer.manifest.entries for writer in workload.logs) >= ENTRIES
    tailrace(stack, "ledger", "--instance", NODE, "--strict")
    wait_until(lambda: has_alert(stack), "an alert of the detect job", seconds=EXACT_SECONDS)
    wait_until(lambda: receiver.requests, "the delivered alert", seconds=EXACT_SECONDS)
    with urllib.request.urlopen("http://127.0.0.1:9090/metrics", timeout=60) as answer:
        assert set(answer.read().decode().splitlines()) >= METRICS


def has_alert(stack: Stack) -> bool:
    """Returns whether an alert of refused logins is stored."""
    (row,) = stack.clickhouse().rows(
        "SELECT count() AS alerts FROM tailrace.alerts FINAL WHERE rule_title = {title:String}",
        {"title": BRUTE_FORCE},
    )
    return row["alerts"] > 0
