"""A job as an application cluster of Flink: two JobManagers, of which one leads, and two TaskManagers.

The processes have the configuration that the chart renders: options of Flink and of the job, sizes of memory,
and storage in S3. ZooKeeper takes the place of Kubernetes in high availability, and the addresses are those
of a test stack.
"""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from docker.tests import rendering
from docker.tests.conftest import ToOutput
from e2e import object_store
from e2e.flink_process import MANAGER, WORKER, FlinkProcess, Installation
from e2e.object_store import ObjectStore
from e2e.stack import Stack, wait_until
from sql.tests.replica_servers import ZooKeeper
from tailrace.credentials.names import password_name

BUCKET = "tailrace"
MANAGERS = WORKERS = 2
SLOTS = 2
"""Of each TaskManager: one of them can run the job alone."""
PORTS = 3 * MANAGERS + 2 * WORKERS
SESSION_MILLIS = 40_000
"""After this time without an answer, ZooKeeper takes a JobManager for dead: the longest that it grants."""
REST_SECONDS = 30
ERROR_BYTES = 1000
CHECKPOINT_SECONDS = 3600


class FlinkCluster:
    """The processes of one job, `normalize` or `detect`. None runs at first.

    They use PORTS ports from `port`.
    """

    def __init__(
        self, stack: Stack, store: ObjectStore, zookeeper: ZooKeeper, directory: Path, port: int
    ) -> None:
        self.home = directory
        self._installation = Installation(stack, directory)
        self.managers = [self._manager(number, port + 3 * number) for number in range(MANAGERS)]
        first = port + 3 * MANAGERS
        self.workers = [self._worker(number, first + 2 * number) for number in range(WORKERS)]
        self._stack = stack
        self.store = store
        self.storage = f"s3://{BUCKET}/flink"
        """The directory of checkpoints, savepoints and metadata of high availability."""
        self.zookeeper = zookeeper
        self._arguments: list[str] = []
        self._words: list[str] = []
        """The arguments of a JobManager."""
        self._starts = 0
        self._options: dict[str, Any] = {}
        self._memory: dict[str, str] = {}

    def _manager(self, number: int, port: int) -> FlinkProcess:
        options = {
            "high-availability.jobmanager.port": port,
            "blob.server.port": port + 1,
            "rest.port": port + 2,
        }
        return FlinkProcess(self._installation, MANAGER, f"jobmanager-{number}", options)

    def _worker(self, number: int, port: int) -> FlinkProcess:
        name = f"taskmanager-{number}"
        options = {
            "taskmanager.resource-id": name,
            "taskmanager.rpc.port": port,
            "taskmanager.data.port": port + 1,
            "io.tmp.dirs": self.home / name,
        }
        return FlinkProcess(self._installation, WORKER, name, options)

    def configure(self, name: str, config: dict[str, object], **values: object) -> None:
        """Renders the chart for a job, with options of the job and other values of `jobs.NAME`."""
        stack = self._stack
        credentials = {
            "s3.endpoint": self.store.url,
            "s3.path.style.access": True,
            "s3.access-key": object_store.ACCESS_KEY,
            "s3.secret-key": object_store.SECRET_KEY,
        }
        given = rendering.values(stack, self.home, {})
        del given["images"]
        given["jobs"] = {
            "storage": self.storage,
            "flinkConfiguration": credentials,
            name: {"config": config, "slots": SLOTS, **values},
        }
        rendered = rendering.render(self.home / "values.yaml", given)
        spec = rendered["FlinkDeployment", f"tailrace-{name}"]["spec"]
        job = yaml.safe_load(spec["podTemplate"]["metadata"]["annotations"]["tailrace.io/job.yaml"])
        job["clickhouse.password-file"] = str(stack.home.secret_file(password_name("writer")))
        (self.home / "job.yaml").write_text(yaml.safe_dump(job))
        words = spec["job"]["args"]
        self._arguments = [
            *("--job-classname", spec["job"]["entryClass"]),
            *(str(self.home / "job.yaml") if word == "/etc/tailrace/job.yaml" else word for word in words),
        ]
        self._options = self._flink_options(spec)
        self._memory = {
            MANAGER: spec["jobManager"]["resource"]["memory"],
            WORKER: spec["taskManager"]["resource"]["memory"],
        }

    def _flink_options(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Returns the options of the chart, with ZooKeeper instead of Kubernetes, on loopback."""
        rendered = {
            key: value
            for key, value in spec["flinkConfiguration"].items()
            if not key.startswith(("kubernetes.", "metrics."))
        }
        return rendered | {
            "high-availability.type": "zookeeper",
            "high-availability.zookeeper.quorum": f"127.0.0.1:{self.zookeeper.port}",
            "high-availability.zookeeper.client.session-timeout": SESSION_MILLIS,
            "parallelism.default": spec["job"]["parallelism"],
            **dict.fromkeys(("jobmanager.rpc.address", "jobmanager.bind-host"), "127.0.0.1"),
            **dict.fromkeys(("rest.address", "rest.bind-address"), "127.0.0.1"),
            **dict.fromkeys(("taskmanager.host", "taskmanager.bind-host"), "127.0.0.1"),
            "taskmanager.load-balance.mode": "slots",
            # As the operator sets it, so that it can ask for the path of a savepoint.
            "execution.shutdown-on-application-finish": False,
        }

    def start(self, savepoint: str = "") -> None:
        """Starts all processes; returns when all tasks of the job run.

        `savepoint` is a path. Flink's operator passes it in the same way.
        """
        self._starts += 1
        # The operator deletes the metadata of earlier runs; here each run has its own.
        run = {"high-availability.cluster-id": f"run-{self._starts}"}
        self._installation.configure({**self._options, **run}, self._memory)
        path = [f"-Dexecution.state-recovery.path={savepoint}"] if savepoint else []
        self._words = [*path, *self._arguments]
        self.start_ended()
        self.await_running()

    def start_ended(self) -> None:
        """Starts the processes that have ended, as Kubernetes does."""
        for manager in self.managers:
            if not manager.is_running:
                manager.start(*self._words)
        for worker in self.workers:
            if not worker.is_running:
                worker.start()

    def stop(self) -> None:
        """Kills all processes."""
        for process in (*self.managers, *self.workers):
            process.kill()

    def leader(self) -> FlinkProcess:
        """Returns the JobManager that leads; waits for one. Both may end at their start on a busy machine."""

        def exists() -> bool:
            if not any(manager.is_running for manager in self.managers):
                self.start_ended()
            return any(manager.leads() for manager in self.managers)

        wait_until(exists, f"a leader: see {self.home}")
        return next(each for each in self.managers if each.leads())

    def ask(self, path: str, body: dict | None = None) -> dict:
        """Sends GET, or POST with a body, to the REST interface of the leader. Raises OSError."""
        port = self.leader().options["rest.port"]
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}{path}",
            None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=REST_SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            error.add_note(error.read(ERROR_BYTES).decode(errors="replace"))
            raise

    def job(self) -> dict:
        """Returns the overview of the job; empty while there is none."""
        with suppress(urllib.error.HTTPError):
            return next(iter(self.ask("/jobs/overview")["jobs"]), {})
        return {}

    def await_running(self) -> None:
        """Returns when all tasks of the job run."""

        def runs() -> bool:
            job = self.job()
            tasks = job.get("tasks", {})
            return job.get("state") == "RUNNING" and tasks["running"] == tasks["total"]

        wait_until(runs, f"all tasks to run: see {self.home}")

    def subtasks(self, name: str) -> tuple[int, int]:
        """Returns the number of subtasks, and its maximum, of the task whose name begins with `name`."""
        vertices = self.ask(f"/jobs/{self.job()['jid']}")["vertices"]
        (found,) = (each for each in vertices if each["name"].startswith(name))
        return found["parallelism"], found["maxParallelism"]

    def busy_first(self) -> list[FlinkProcess]:
        """Returns the TaskManagers, those with tasks first: after a failure one may have all tasks."""
        free = {each["id"]: each["freeSlots"] for each in self.ask("/taskmanagers")["taskmanagers"]}
        return sorted(self.workers, key=lambda worker: free.get(worker.name, SLOTS))

    def checkpoints(self) -> dict:
        """Returns what the leader knows about checkpoints of the job."""
        job = self.job()
        return self.ask(f"/jobs/{job['jid']}/checkpoints") if job else {}

    def completed(self) -> int:
        """Returns the id of the latest completed checkpoint; 0 for none."""
        latest = self.checkpoints().get("latest") or {}
        return (latest.get("completed") or {}).get("id", 0)

    def await_completed(self, after: int = 0) -> int:
        """Waits for a completed checkpoint with a higher id, and returns its id."""
        found = [0]

        def exists() -> bool:
            found[0] = self.completed()
            return found[0] > after

        wait_until(exists, f"a checkpoint after {after}: see {self.home}")
        return found[0]

    def checkpoint(self, kind: str) -> dict:
        """Makes a checkpoint, FULL or as CONFIGURED; returns what Flink knows about it."""
        path = f"/jobs/{self.job()['jid']}/checkpoints"
        asked = self.ask(path, {"checkpointType": kind})
        answer: dict = {}

        def answered() -> bool:
            answer.update(self.ask(f"{path}/{asked['request-id']}"))
            return answer["status"]["id"] == "COMPLETED"

        wait_until(answered, f"a checkpoint: see {self.home}", seconds=CHECKPOINT_SECONDS)
        assert "checkpointId" in answer["operation"], answer
        return self.ask(f"{path}/details/{answer['operation']['checkpointId']}")

    def await_restored(self, least: int) -> dict:
        """Waits until the job runs from a checkpoint with this id or a later one; returns that checkpoint."""
        found: dict = {}

        def restored() -> bool:
            latest = self.checkpoints().get("latest") or {}
            found.update(latest.get("restored") or {})
            return found.get("id", 0) >= least

        wait_until(restored, f"the checkpoint {least} to be restored: see {self.home}")
        self.await_running()
        return found

    def stop_with_savepoint(self) -> str:
        """Stops the job, and then all processes; returns the savepoint's path."""
        job, directory = self.job()["jid"], self._options["execution.checkpointing.savepoint-dir"]
        asked = self.ask(f"/jobs/{job}/stop", {"drain": False, "targetDirectory": directory})
        path = f"/jobs/{job}/savepoints/{asked['request-id']}"
        answer: dict = {}

        def answered() -> bool:
            answer.update(self.ask(path))
            return answer["status"]["id"] == "COMPLETED"

        wait_until(answered, f"a savepoint: see {self.home}")
        assert "location" in answer["operation"], answer
        self.stop()
        return answer["operation"]["location"]


@contextmanager
def prepared(stack: Stack, directory: Path, port: int) -> Iterator[FlinkCluster]:
    """Yields a cluster whose ZooKeeper and object store run. At the end all its processes end.

    They use 2 + PORTS ports from `port`.
    """
    zookeeper = ZooKeeper(directory / "zookeeper", port)
    zookeeper.install(stack.settings.cache, ToOutput())
    (directory / "s3").mkdir()
    store = ObjectStore(directory / "s3", port + 1)
    cluster = FlinkCluster(stack, store, zookeeper, directory / "cluster", port + 2)
    try:
        zookeeper.start()
        with store.running():
            store.make_bucket(BUCKET)
            yield cluster
    finally:
        cluster.stop()
        zookeeper.stop()


def await_time(seconds: float) -> None:
    """Returns when so many seconds have passed."""
    end = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() >= end, f"{seconds} s to pass")
