"""Flink's own client of Kubernetes has the rights of the chart's account, and needs each of them.

A JobManager in application mode and its TaskManager run as processes of this machine, for pods that kwok
simulates. With a token of the account, the JobManager asks the API server for a TaskManager's pod, and
stores leaders and checkpoints in ConfigMaps. The job is not one of Tailrace's.
"""

import json
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from docker.tests.conftest import flink_libraries as flink_libraries  # a fixture
from helm import program
from helm.cluster.control_plane import ControlPlane
from helm.cluster.release import Release
from helm.tests.cluster import processes
from helm.tests.cluster.conftest import PORT
from helm.tests.cluster.test_cluster_rights import OF_FLINK

pytestmark = pytest.mark.kubernetes

NAME = "tailrace-normalize"
RPC, BLOBS, REST, WORKER = (PORT + number for number in range(10, 14))
NOT_SENT = {"update deployments/finalizers.apps"}
"""Asked by the API server itself, when a pod with an owner is made."""


class Job:
    """The processes of one job. `start` is called with the class to run and its arguments."""

    def __init__(self, cluster: ControlPlane, release: Release, classes: str, home: Path) -> None:
        self.cluster = cluster
        self.release = release
        self.home = home
        self._classes = classes
        self._running: list[subprocess.Popen] = []

    def configure(self) -> None:
        account = self.home / "kubeconfig"
        processes.write_account(self.cluster, self.release.namespace, "tailrace-flink", account)
        options = {
            "kubernetes.cluster-id": NAME,
            "kubernetes.namespace": self.release.namespace,
            "kubernetes.config.file": str(account),
            "kubernetes.service-account": "tailrace-flink",
            "kubernetes.container.image.ref": "tailrace/flink",
            "high-availability.type": "kubernetes",
            "high-availability.storageDir": f"file://{self.home}/ha",
            "execution.checkpointing.dir": f"file://{self.home}/checkpoints",
            "execution.checkpointing.interval": "1s",
            "execution.target": "kubernetes-application",
            "$internal.application.main": "Numbers",
            "pipeline.jars": [f"local://{self.home}/numbers.jar"],
            "parallelism.default": 1,
            "jobmanager.bind-host": "127.0.0.1",
            "jobmanager.rpc.port": RPC,
            "blob.server.port": BLOBS,
            "rest.bind-address": "127.0.0.1",
            "rest.port": REST,
            "rest.bind-port": str(REST),
            "taskmanager.bind-host": "127.0.0.1",
            "taskmanager.host": "127.0.0.1",
            "taskmanager.rpc.port": str(WORKER),  # Flink's image has a fixed one too
            "taskmanager.numberOfTaskSlots": 1,
            "taskmanager.memory.process.size": "1g",
            "taskmanager.memory.managed.size": "0m",
            "jobmanager.memory.process.size": "1g",
        }
        (self.home / "config.yaml").write_text(yaml.safe_dump(options))

    def start(self, name: str, main_class: str, *words: str) -> subprocess.Popen:
        process = processes.start(
            self.home / f"{name}.log",
            self._classes,
            [f"org.apache.flink.kubernetes.{main_class}", *words],
            {"_POD_IP_ADDRESS": "127.0.0.1", "_POD_NODE_ID": "node-1", "FLINK_CONF_DIR": str(self.home)},
            "-Xmx192m",
        )
        self._running.append(process)
        return process

    def manager(self) -> subprocess.Popen:
        return self.start("jobmanager", "entrypoint.KubernetesApplicationClusterEntrypoint")

    def worker(self, pod: dict) -> subprocess.Popen:
        """What the pod of a TaskManager would run."""
        words = ["--configDir", str(self.home), *processes.worker_options(pod)]
        return self.start("taskmanager", "taskmanager.KubernetesTaskExecutorRunner", *words)

    def stop(self) -> None:
        for process in self._running:
            process.kill()
            process.wait()

    def ask(self, path: str, method: str = "GET") -> dict:
        """Flink's REST answer; empty while nobody answers."""
        request = urllib.request.Request(f"http://127.0.0.1:{REST}{path}", method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.loads(answer.read() or "{}")
        except (urllib.error.URLError, OSError):
            return {}

    def await_(self, condition: Callable[[], bool], manager: subprocess.Popen, what: str) -> None:
        """Raises AssertionError if the JobManager ends before."""

        def holds() -> bool:
            assert manager.poll() is None, f"the JobManager has ended: see {self.home}"
            return condition()

        self.cluster.await_(holds, f"{what}, see {self.home}")

    def await_checkpoint(self, field: str, manager: subprocess.Popen) -> dict:
        """Waits for the job's latest checkpoint of a kind: `completed`, or `restored` after a restart."""
        found: dict = {}

        def exists() -> bool:
            jobs = self.ask("/jobs").get("jobs", [])
            latest = self.ask(f"/jobs/{jobs[0]['id']}/checkpoints").get("latest", {}) if jobs else {}
            found.update(latest.get(field) or {}, job=jobs[0]["id"] if jobs else "")
            return "id" in found

        self.await_(exists, manager, f"a {field} checkpoint")
        return found

    def pods(self) -> list[dict]:
        return self.release.get("pods", "--selector", f"app={NAME},component=taskmanager")


@pytest.fixture
def job(cluster, namespace, flink_libraries, tmp_path) -> Iterator[Job]:
    release = Release(cluster, program.helm(), namespace("flink"))
    release.install("small")
    cluster.apply([deployment()], release.namespace)  # as the operator makes it
    processes.compiled(processes.SOURCES / "Numbers.java", f"{flink_libraries}/*", tmp_path)
    kubernetes = processes.jars(processes.SOURCES)
    made = Job(cluster, release, f"{kubernetes}/*:{flink_libraries}/*", tmp_path)
    made.configure()
    yield made
    made.stop()


def deployment() -> dict:
    labels = {"app": NAME, "component": "jobmanager", "type": "flink-native-kubernetes"}
    container = {"name": "flink-main-container", "image": "tailrace/flink"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": NAME, "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"serviceAccountName": "tailrace-flink", "containers": [container]},
            },
        },
    }


def phases(job: Job) -> list[str]:
    """Of the pods of TaskManagers. Flink knows a TaskManager once its pod is scheduled."""
    return [pod["status"]["phase"] for pod in job.pods()]


def test_a_job_runs_fails_over_and_ends_with_the_rights_of_the_account(job):
    manager = job.manager()
    job.await_(lambda: phases(job) == ["Running"], manager, "the pod of a TaskManager")
    (pod,) = job.pods()
    assert pod["metadata"]["ownerReferences"][0]["name"] == NAME
    assert pod["spec"]["serviceAccountName"] == "tailrace-flink"
    job.worker(pod)
    before = job.await_checkpoint("completed", manager)

    manager.send_signal(signal.SIGKILL)
    manager.wait()
    manager = job.manager()
    after = job.await_checkpoint("restored", manager)
    assert after["id"] >= before["id"]
    assert after["job"] == before["job"]

    job.ask(f"/jobs/{after['job']}", "PATCH")
    job.cluster.await_(lambda: manager.poll() is not None, "the end of the JobManager")
    names = {each["metadata"]["name"] for each in job.release.get("configmaps")}
    assert {name for name in names if name.startswith(f"{NAME}-")} == set()
    assert NAME not in {each["metadata"]["name"] for each in job.release.get("deployments")}

    answers = processes.requests(job.cluster, job.release.namespace, "tailrace-flink")
    assert {request: codes for request, codes in answers.items() if codes & {401, 403}} == {}
    assert answers.keys() == OF_FLINK - NOT_SENT
