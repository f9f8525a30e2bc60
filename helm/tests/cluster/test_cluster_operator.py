"""Flink's operator runs the chart's FlinkDeployments: upgrades, failed upgrades, scaling and removal.

The operator is a process, version 1.7.0, and so are the JobManagers and TaskManagers for whose pods it asks,
Flink 1.18.1: kwok only simulates the pods. `older_flink` changes the chart's manifests for these versions.
The jobs count, and a file shows each count: a job that has lost its state counts from one again.
"""

import json
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from helm import program
from helm.cluster.release import Release
from helm.tests.cluster import flink_operator, older_flink, processes
from helm.tests.cluster.conftest import NOTHING
from helm.tests.cluster.flink_operator import FlinkOperator
from helm.tests.cluster.flink_pods import JOBS, FlinkPods, rest_address

pytestmark = pytest.mark.kubernetes

OPERATED = Path(__file__).with_name("operated.yaml")
LIMIT_SECONDS = 900.0
"""For a job that stops and starts again, on a busy machine."""
SOON = {"kubernetes.operator.deployment.readiness.timeout": "20 s"}
"""How long the operator waits for a job to start."""
KEYS = 8
"""Of Counts."""


@dataclass(frozen=True)
class Operated:
    """A release whose jobs an operator and processes of Flink run."""

    release: Release
    operator: FlinkOperator
    pods: FlinkPods
    storage: Path

    def install(self, *values: str) -> None:
        self.release.install("small", NOTHING, OPERATED, f"jobs.storage=file://{self.storage}", *values)

    def upgrade(self, *values: str) -> None:
        self.release.upgrade("small", NOTHING, OPERATED, f"jobs.storage=file://{self.storage}", *values)

    def remove(self) -> None:
        with ThreadPoolExecutor(1) as executor:
            removal = executor.submit(self.release.uninstall)
            self.await_(removal.done, "the removal")
            removal.result()

    def deployment(self, job: str) -> dict:
        path = f"/apis/flink.apache.org/v1beta1/namespaces/{self.release.namespace}/flinkdeployments"
        return self.release.cluster.get(f"{path}/tailrace-{job}")

    def status(self, job: str) -> dict:
        return self.deployment(job).get("status", {})

    def ask(self, job: str, path: str) -> dict:
        """The REST answer of a JobManager; empty while it does not answer."""
        try:
            address = f"http://{rest_address(job)}:8081/jobs/{self.status(job)['jobStatus']['jobId']}{path}"
            with urllib.request.urlopen(address, timeout=30) as answer:
                return json.load(answer)
        except (urllib.error.URLError, OSError, KeyError):
            return {}

    def savepoint(self, job: str) -> str:
        """Where the job's last savepoint is; empty without one."""
        last = self.status(job)["jobStatus"]["savepointInfo"].get("lastSavepoint") or {}
        return last.get("location", "")

    def parallelism(self, job: str) -> list[int]:
        """The number of subtasks of each vertex; empty while the JobManager does not answer."""
        return [vertex["parallelism"] for vertex in self.ask(job, "").get("vertices", [])]

    def counts(self, job: str) -> dict[int, list[int]]:
        """The counts of each key, in the order of the file."""
        file = self.storage / "tailrace" / job / "counts"
        found: dict[int, list[int]] = {}
        for line in file.read_text().splitlines() if file.exists() else []:
            key, count = line.split()
            found.setdefault(int(key), []).append(int(count))
        return found

    def await_(self, condition: Callable[[], bool], what: str) -> None:
        def holds() -> bool:
            self.pods.sync()
            self.operator.check()
            return condition()

        self.release.cluster.await_(holds, f"{what}, see {self.operator.home}", LIMIT_SECONDS)

    def await_state(self, job: str, state: str) -> None:
        """Waits for a state of the newest specification."""

        def reached() -> bool:
            deployment = self.deployment(job)
            status = deployment.get("status", {})
            known = json.loads(status.get("reconciliationStatus", {}).get("lastReconciledSpec", "{}"))
            generation = known.get("resource_metadata", {}).get("metadata", {}).get("generation")
            is_newest = generation == deployment["metadata"]["generation"]
            return is_newest and status["lifecycleState"] == state

        self.await_(reached, f"{job} as {state}")

    def await_counting(self, job: str) -> None:
        """Waits until a job has counted more of every key."""
        before = self.counts(job)

        def has_counted() -> bool:
            now = self.counts(job)
            return len(now) == KEYS and all(len(now[key]) > len(before.get(key, [])) for key in now)

        self.await_(has_counted, f"more counts of {job}")

    def await_counts(self, job: str) -> None:
        """Waits until a job runs and counts. Each number was counted once, with the state before it."""
        self.await_state(job, "STABLE")
        self.await_counting(job)
        self.assert_complete(job)

    def assert_complete(self, job: str) -> None:
        for key, counts in self.counts(job).items():
            assert counts == list(range(1, len(counts) + 1)), (job, key)


@pytest.fixture(scope="module")
def operated(cluster, namespace, tmp_path_factory) -> Iterator[Operated]:
    """Both jobs run."""
    home = tmp_path_factory.mktemp("operator")
    libraries = processes.jars(processes.SOURCES / "older")
    jar = processes.compiled(processes.SOURCES / "older/Counts.java", f"{libraries}/*", home)
    renderer = (sys.executable, older_flink.__file__)
    release = Release(cluster, program.helm(), namespace("operator"), renderer=renderer)
    operator = FlinkOperator(cluster, release.namespace, home)
    pods = FlinkPods(cluster, release.namespace, home, libraries, jar)
    made = Operated(release, operator, pods, home / "storage")
    try:
        operator.start()
        made.install()
        for job in JOBS:
            made.await_counts(job)
        yield made
    finally:
        pods.stop()
        operator.stop()


def test_an_upgrade_stops_the_job_with_a_savepoint_and_starts_it_from_there(operated):
    before = operated.pods.names("jobmanager")
    operated.upgrade("jobs.normalize.config.count\\.millis=5")
    operated.await_(lambda: operated.savepoint("normalize") != "", "a savepoint of normalize")
    operated.await_counts("normalize")

    restored = operated.ask("normalize", "/checkpoints")["latest"]["restored"]
    assert restored["is_savepoint"]
    assert restored["external_path"] == operated.savepoint("normalize")
    assert operated.pods.file("normalize", "job.yaml")["count.millis"] == 5
    after = operated.pods.names("jobmanager")
    assert len(after) == len(before) == len(JOBS)
    assert len(after & before) == 1, "detect had no change"
    assert operated.savepoint("detect") == ""


def test_an_upgrade_that_does_not_start_is_rolled_back_with_its_configuration(operated):
    """No node has room for the TaskManager."""
    operated.operator.configure(SOON)
    running = operated.pods.file("normalize", "job.yaml")
    operated.upgrade("jobs.normalize.taskManager.memory=500g", "jobs.normalize.config.count\\.millis=6")
    operated.await_state("normalize", "ROLLED_BACK")
    operated.operator.configure({})
    operated.await_counting("normalize")
    operated.assert_complete("normalize")
    assert operated.pods.file("normalize", "job.yaml") == running


def test_a_configuration_that_the_job_refuses_is_an_error_until_it_is_corrected(operated):
    """The upgrade takes a savepoint, so that nothing is left to roll back to. The operator takes none of a
    job that it has not seen running, and rolls back if the time for a start ends before the failure."""
    operated.await_(lambda: operated.status("normalize")["jobStatus"]["state"] == "RUNNING", "a running job")
    operated.upgrade("jobs.normalize.config.count\\.millis=soon")
    operated.await_(lambda: operated.status("normalize")["jobStatus"]["state"] == "FAILED", "a failed job")
    assert "NumberFormatException" in operated.status("normalize")["error"]
    operated.operator.configure(SOON)
    impossible = "Rollback is not possible due to missing HA metadata"
    before = operated.operator.messages(impossible)
    operated.await_(lambda: operated.operator.messages(impossible) > before, impossible)
    operated.operator.configure({})

    operated.upgrade()
    operated.await_counts("normalize")


def test_a_busy_job_is_scaled_and_keeps_its_state(operated):
    options = {"stabilization.interval": "3s", "metrics.window": "10s", "target.utilization.boundary": "0.1"}
    operated.upgrade(
        *("jobs.autoscaler=true", "jobs.normalize.config.count\\.millis=16"),
        *(f"jobs.flinkConfiguration.{escaped(f'job.autoscaler.{key}')}={options[key]}" for key in options),
    )
    operated.await_(lambda: sorted(operated.parallelism("normalize")) == [1, 2], "two subtasks that count")
    operated.await_counts("normalize")
    (decided,) = operated.release.get(
        "configmaps", "--field-selector", "metadata.name=autoscaler-tailrace-normalize"
    )
    assert ":2" in decided["data"]["parallelismOverrides"]


def test_a_new_installation_starts_from_the_savepoints_of_the_removed_one(operated):
    operated.upgrade("jobs.state=suspended")
    for job in JOBS:
        operated.await_state(job, "SUSPENDED")
    savepoints = {job: operated.savepoint(job) for job in JOBS}
    operated.remove()

    operated.install(*(f"jobs.{job}.initialSavepointPath={savepoints[job]}" for job in JOBS))
    for job in JOBS:
        operated.await_counts(job)
        assert operated.ask(job, "/checkpoints")["latest"]["restored"]["external_path"] == savepoints[job]


def test_nothing_is_left_of_the_jobs_of_a_removed_release(operated):
    release = operated.release
    operated.remove()
    kept = {f"{kind}/tailrace-flink" for kind in ("ServiceAccount", "Role", "RoleBinding")}
    of_operator = {f"{kind}/{flink_operator.NAME}" for kind in ("ServiceAccount", "Role", "RoleBinding")}
    # kwok removes a pod before our process has ended. A JobManager can then write its leader once more.
    leaders = {f"ConfigMap/tailrace-{job}-cluster-config-map" for job in JOBS}
    only = kept | of_operator
    operated.await_(lambda: release.objects() - leaders == only, f"only {only} in {release.namespace}")
    for account in ("tailrace-flink", flink_operator.NAME):
        answers = processes.requests(release.cluster, release.namespace, account)
        assert {request: codes for request, codes in answers.items() if codes & {401, 403}} == {}
        assert answers


def escaped(key: str) -> str:
    """A key of --set that contains dots."""
    return key.replace(".", "\\.")
