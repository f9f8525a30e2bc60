"""The chart's services and both jobs in containers, from a line of a log to a delivered alert.

As in test_containers.py, which has the jobs that end, and Superset. Capture asks a server that does not
answer. The jobs are standalone applications, because no registry has the operator of this Flink.
"""

import json
import os
import shutil
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
from docker.tests.pods import Resource, template_of
from docker.tests.test_containers import (
    FIRST_PORT,
    NODE,
    Volumes,
    assert_finished,
    await_probes,
    start_job,
)
from docker.tests.test_containers import directory as directory
from docker.tests.test_containers import images as images
from docker.tests.test_containers import podman as podman
from docker.tests.test_containers import stack as stack
from e2e.receivers import WebReceiver, web_receiver
from e2e.stack import PORTS, Stack, wait_until
from e2e.wait_for_idle import await_exact, tailrace
from e2e.workload.shapes import MariaDb, MariaDbAudit
from e2e.workload.writer import LogWriter, Workload

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

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
def workloads(stack: Stack, directory: Path, images: dict[str, str]) -> dict[tuple[str, str], Resource]:
    given = rendering.values(stack, directory, images)
    more = {"delivery": {"enabled": True}, "serviceMonitors": True, "capture": {"enabled": True}}
    return rendering.render(directory / "services.yaml", {**given, **more})


class MoreVolumes(Volumes):
    """Volumes also of secrets of which a pod mounts every key."""

    def __init__(self, root: Path, workloads: dict, stack: Stack, secrets: dict[str, dict[str, str]]) -> None:
        super().__init__(root, workloads, stack.home)
        self._contents = secrets

    def _secrets(self, secret: Resource, path: Path, group: int) -> None:
        if secret["secretName"] not in self._contents:
            super()._secrets(secret, path, group)
            return
        for name, text in self._contents[secret["secretName"]].items():
            file = path / name
            file.write_text(text)
            os.chown(file, 0, group)
            file.chmod(secret.get("defaultMode", 0o644))


@pytest.fixture(scope="module")
def play(podman: Podman, workloads, stack, directory: Path, secrets) -> Callable[[str, str], str]:
    """Starts the pod of a workload; returns its name."""

    def started(kind: str, name: str) -> str:
        volumes = MoreVolumes(directory / "volumes" / name, workloads, stack, secrets)
        return podman.play(pods.pod(workloads[kind, name], volumes, NODE), directory)

    return started


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
        for pod in start_job(podman, workloads, stack, directory, f"tailrace-{job}"):
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
