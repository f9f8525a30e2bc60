"""The chart's workloads run in containers, by podman and runc, as the chart confines them.

Kafka and ClickHouse are processes of the test stack: their images are in no registry of packages. Our images
have bases of Debian (built_images.py), Fluent Bit is that of TAILRACE_FLUENT_BIT or our build of 1.8.15.
Containers use this machine's network.
"""

import json
import os
import shutil
import socket
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

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
from docker.tests.podman import Podman
from docker.tests.pods import Probe, Resource
from docker.tests.test_steps import running, settings_with_free_ports
from e2e.stack import Stack
from tailrace.clickhouse.client import ClickHouse
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.credentials.names import password_name
from tailrace.migrations import migration_files
from tailrace_local.components.clickhouse import ClickHouse as ClickHousePart

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

FIRST_PORT = int(os.environ.get("E2E_FIRST_PORT", "24600")) + 300
NODE = "node-1"
TAG = "tested"
PROBE_SECONDS = 240
TOOLS_USER = 10001
FLINK_USER = 9999
STATUS = "import pathlib; print(pathlib.Path('/proc/self/status').read_text())"
WRITE = "open('/opt/tailrace/written', 'w')"


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
def workloads(stack: Stack, directory: Path, images: dict[str, str]) -> dict[tuple[str, str], Resource]:
    return rendering.render(directory / "values.yaml", rendering.values(stack, directory, images))


@pytest.fixture(scope="module")
def play(podman: Podman, workloads: dict, stack: Stack, directory: Path) -> Callable[..., str]:
    """Starts the pod of a workload; returns its name."""

    def started(kind: str, name: str, home: Home = stack.home) -> str:
        volumes = Volumes(directory / "volumes" / name, workloads, home)
        return podman.play(pods.pod(workloads[kind, name], volumes, NODE), directory)

    return started


class Volumes:
    """Makes directories for volumes as the kubelet does, with the group of the pod."""

    def __init__(self, root: Path, workloads: dict, home: Home) -> None:
        self._root, self._workloads, self._home = root, workloads, home

    def __call__(self, volume: Resource, group: int) -> Path:
        if "hostPath" in volume:
            path = Path(volume["hostPath"]["path"])
            path.mkdir(parents=True, exist_ok=True)
            return path
        path = self._root / volume.get("of", "") / volume["name"]
        path.mkdir(parents=True)
        if "secret" in volume:
            self._secrets(volume["secret"], path, group)
        elif "configMap" in volume:
            content = self._workloads["ConfigMap", volume["configMap"]["name"]]["data"]
            for name, text in content.items():
                (path / name).write_text(text)
        else:
            os.chown(path, 0, group)
            path.chmod(0o2777)
        return path

    def _secrets(self, secret: Resource, path: Path, group: int) -> None:
        for item in secret["items"]:
            file = path / item["path"]
            file.write_text(self._home.secret(item["key"]))
            os.chown(file, 0, group)
            file.chmod(secret["defaultMode"])


def succeeds(podman: Podman, pod: str, probe: Probe) -> bool:
    """Whether a probe succeeds, with its timeout. The kubelet asks the address of the pod."""
    seconds = probe.action.get("timeoutSeconds", 1)
    if "exec" in probe.action:
        return (
            podman.run("exec", f"{pod}-{probe.container}", *probe.action["exec"]["command"]).returncode == 0
        )
    with suppress(OSError):
        if "tcpSocket" in probe.action:
            socket.create_connection(("127.0.0.1", probe.port()), seconds).close()
            return True
        address = f"http://127.0.0.1:{probe.port()}{probe.action['httpGet']['path']}"
        with urllib.request.urlopen(address, timeout=seconds) as answer:
            return answer.status < 400
    return False


def await_probes(podman: Podman, pod: str, workload: Resource) -> None:
    """Waits until every probe of a workload succeeds."""
    found = pods.probes(workload)
    assert found
    deadline = time.monotonic() + PROBE_SECONDS
    while left := [probe for probe in found if not succeeds(podman, pod, probe)]:
        logs = {each.container: podman.logs(f"{pod}-{each.container}")[-3000:] for each in left}
        assert time.monotonic() < deadline, (left, logs)
        time.sleep(1)


def assert_finished(podman: Podman, container: str) -> None:
    code = podman.finished(container)
    assert code == 0, podman.logs(container)


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


def test_a_container_has_the_user_and_the_limits_of_the_chart(podman, play, workloads):
    pod = play("Deployment", "tailrace-facts")
    container = f"{pod}-facts"
    status = dict(
        line.split(":\t", 1)
        for line in podman("exec", container, "python", "-c", STATUS).splitlines()
        if ":\t" in line
    )
    assert status["Uid"].split() == [str(TOOLS_USER)] * 4
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    refused = podman.run("exec", container, "python", "-c", WRITE)
    assert "Read-only file system" in refused.stderr
    (facts,) = pods.template_of(workloads["Deployment", pod])["spec"]["containers"]
    assert facts["resources"]["limits"]["memory"] == "512Mi"
    limit = json.loads(podman("inspect", container))[0]["HostConfig"]["Memory"]
    assert limit == 512 * 2**20
    await_probes(podman, pod, workloads["Deployment", pod])


def test_the_job_of_the_rules_ends(podman, play):
    assert_finished(podman, f"{play('Job', 'tailrace-rules')}-rules")


def test_the_api_answers(podman, play, workloads):
    pod = play("Deployment", "tailrace-api")
    await_probes(podman, pod, workloads["Deployment", pod])


def test_superset_serves_and_gets_its_dashboards(podman, play, workloads):
    pod = play("Deployment", "tailrace-superset")
    await_probes(podman, pod, workloads["Deployment", pod])
    assert_finished(podman, f"{play('Job', 'tailrace-dashboards')}-dashboards")
    with urllib.request.urlopen("http://127.0.0.1:8088/login/", timeout=60) as answer:
        assert b"Tailrace" in answer.read()


def start_job(
    podman: Podman, workloads: dict, stack: Stack, directory: Path, name: str
) -> tuple[Resource, Resource]:
    """Starts JobManager and TaskManager of a job, waits until all its tasks run, and returns both pods."""
    checkpoints = directory / "checkpoints" / name
    checkpoints.mkdir(parents=True)
    os.chown(checkpoints, FLINK_USER, FLINK_USER)
    deployment = workloads["FlinkDeployment", name]
    made = Volumes(directory / "volumes" / name, workloads, stack.home)
    started = pods.flink_pods(deployment, checkpoints, made, NODE)
    names = [podman.play(pod, directory) for pod in started]
    deadline = time.monotonic() + PROBE_SECONDS
    while not is_running(pods.SERVICES[f"{name}-rest"]):
        logs = [podman.logs(f"{pod}-flink-main-container")[-4000:] for pod in names]
        assert time.monotonic() < deadline, logs
        time.sleep(1)
    return started


def is_running(address: str) -> bool:
    """Whether all tasks of the job of the JobManager at this address run."""
    with suppress(OSError):
        with urllib.request.urlopen(f"http://{address}:8081/jobs/overview", timeout=5) as answer:
            jobs = json.load(answer)["jobs"]
        return bool(jobs) and all(job["tasks"]["running"] == job["tasks"]["total"] for job in jobs)
    return False
