"""Starts the chart's workloads as pods on this machine, with volumes and probes as the kubelet has them."""

import json
import os
import socket
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

from docker.tests import pods
from docker.tests.podman import Podman
from docker.tests.pods import Probe, Resource
from tailrace.config.home import Home

NODE = "node-1"
PROBE_SECONDS = 240
FLINK_USER = 9999

Workloads = dict[tuple[str, str], Resource]
"""Rendered resources by kind and name."""


class Volumes:
    """Makes directories for volumes as the kubelet does, with the group of the pod."""

    def __init__(
        self, root: Path, workloads: Workloads, home: Home, secrets: dict[str, dict[str, str]] | None = None
    ) -> None:
        """`home` has the passwords; `secrets` are the contents of other secrets by name."""
        self._root, self._workloads, self._home = root, workloads, home
        self._contents = secrets or {}

    def __call__(self, volume: Resource, group: int) -> Path:
        if "hostPath" in volume:
            path = Path(volume["hostPath"]["path"])
            path.mkdir(parents=True, exist_ok=True)
            return path
        path = self._root / volume.get("of", "") / volume["name"]
        if claim := volume.get("persistentVolumeClaim", {}).get("claimName"):
            path = self._root.parent / "claims" / claim  # of all pods with this claim
        path.mkdir(parents=True, exist_ok=bool(claim))
        if "persistentVolumeClaim" in volume or "emptyDir" in volume:
            os.chown(path, 0, group)
            path.chmod(0o2777)
        for secret in _secrets_of(volume):
            self._secrets(secret, path, group)
        for name, text in self._texts(volume).items():
            (path / name).write_text(text)
        return path

    def _texts(self, volume: Resource) -> dict[str, str]:
        """Returns the files of a volume that is no secret, by name."""
        if "configMap" in volume:
            return self._workloads["ConfigMap", volume["configMap"]["name"]]["data"]
        items = volume.get("downwardAPI", {}).get("items", [])
        return {item["path"]: volume["fields"][item["fieldRef"]["fieldPath"]] for item in items}

    def _secrets(self, secret: Resource, path: Path, group: int) -> None:
        found = self._contents.get(secret["secretName"])
        if found is None:
            found = {item["path"]: self._home.secret(item["key"]) for item in secret["items"]}
        for name, text in found.items():
            file = path / name
            file.write_text(text)
            os.chown(file, 0, group)
            file.chmod(secret.get("defaultMode", 0o644))


def _secrets_of(volume: Resource) -> list[Resource]:
    """Returns the secrets of a volume, with the keys of a volume that is one secret."""
    if "secret" in volume:
        return [volume["secret"]]
    projected = volume.get("projected", {})
    secrets = [source["secret"] for source in projected.get("sources", [])]
    mode = projected.get("defaultMode", 0o644)
    return [{**each, "secretName": each["name"], "defaultMode": mode} for each in secrets]


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


def start_job(
    podman: Podman, workloads: Workloads, home: Home, directory: Path, name: str
) -> tuple[Resource, Resource]:
    """Starts JobManager and TaskManager of a job, waits until all its tasks run, and returns both pods."""
    checkpoints = directory / "checkpoints" / name
    checkpoints.mkdir(parents=True)
    os.chown(checkpoints, FLINK_USER, FLINK_USER)
    deployment = workloads["FlinkDeployment", name]
    made = Volumes(directory / "volumes" / name, workloads, home)
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
