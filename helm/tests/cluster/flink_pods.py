"""Processes of Flink for the pods that kwok simulates: what a kubelet and Flink's image would do.

A pod is one Java process with the files of its volumes except secrets, a token of its service account and an
address of its own on loopback.
"""

import itertools
import socket
import subprocess
from pathlib import Path

import yaml

from helm.cluster.control_plane import GRACE_SECONDS, ControlPlane
from helm.tests.cluster import processes
from helm.tests.cluster.conftest import PORT

JOBS = ("normalize", "detect")
NETWORK = f"127.{PORT // 256}.{PORT % 256}"
"""Flink's ports are the chart's in all pods, so each pod has an address of its own: `NETWORK.1` to `.255`."""
JAR = "/opt/flink/usrlib/normalize.jar"
"""The job in Flink's image."""
MAIN_CLASSES = {
    "jobmanager": "entrypoint.KubernetesApplicationClusterEntrypoint",
    "taskmanager": "taskmanager.KubernetesTaskExecutorRunner",
}


class FlinkPods:
    """The pods of Flink in a namespace. `sync` starts and ends processes as pods appear and disappear."""

    def __init__(self, cluster: ControlPlane, namespace: str, home: Path, libraries: Path, jar: Path) -> None:
        self.cluster = cluster
        self.namespace = namespace
        self.home = home
        self._libraries = libraries
        self._jar = jar
        self._running: dict[str, subprocess.Popen] = {}
        self._numbers = itertools.count(len(JOBS) + 1)

    def sync(self) -> None:
        """Raises AssertionError if the process of a JobManager has ended, which never ends by itself."""
        pods = {pod["metadata"]["uid"]: pod for pod in self._running_pods()}  # names of TaskManagers return
        for uid in self._running.keys() - pods.keys():
            self._end(uid)
        for uid, pod in pods.items():
            if uid not in self._running and self._has_volumes(pod):
                self._running[uid] = self._start(pod)
            is_manager = pod["metadata"]["labels"]["component"] == "jobmanager"
            has_ended = uid in self._running and self._running[uid].poll() is not None
            assert not (is_manager and has_ended), f"see {self._directory(pod)}"

    def stop(self) -> None:
        for uid in list(self._running):
            self._end(uid)

    def names(self, component: str) -> set[str]:
        """The names of the running pods of JobManagers or TaskManagers."""
        running = (pod["metadata"] for pod in self._running_pods())
        return {each["name"] for each in running if each["labels"]["component"] == component}

    def file(self, job: str, name: str) -> dict:
        """A file of YAML that the JobManager of a job mounts in its volume `job`."""
        wanted = {"component": "jobmanager", "app": f"tailrace-{job}"}
        (manager,) = (
            pod for pod in self._running_pods() if wanted.items() <= pod["metadata"]["labels"].items()
        )
        return yaml.safe_load((self._directory(manager) / "job" / name).read_text())

    def _directory(self, pod: dict) -> Path:
        return self.home / f"{pod['metadata']['name']}-{pod['metadata']['uid']}"

    def _running_pods(self) -> list[dict]:
        path = f"/api/v1/namespaces/{self.namespace}/pods?labelSelector=type%3Dflink-native-kubernetes"
        return [
            pod
            for pod in self.cluster.get(path)["items"]
            if pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
        ]

    def _end(self, uid: str) -> None:
        process = self._running.pop(uid)
        process.terminate()
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _start(self, pod: dict) -> subprocess.Popen:
        component, job = (pod["metadata"]["labels"][key] for key in ("component", "app"))
        home = self._directory(pod)
        home.mkdir()
        mounts = {path: str(self._volume(pod, volume, home)) for path, volume in _mounts(pod).items()}
        mounts |= {JAR: str(self._jar)}
        configuration = Path(mounts["/opt/flink/conf"])
        address = rest_address(job) if component == "jobmanager" else f"{NETWORK}.{next(self._numbers)}"
        account = home / "kubeconfig"
        processes.write_account(self.cluster, self.namespace, pod["spec"]["serviceAccountName"], account)
        options = configuration / "flink-conf.yaml"
        options.write_text(_replaced(options.read_text(), mounts) + _of_pod(address, account))
        words = [f"org.apache.flink.kubernetes.{MAIN_CLASSES[component]}"]
        if component == "taskmanager":
            words += ["--configDir", str(configuration), *processes.worker_options(pod)]
        environment = {
            "FLINK_CONF_DIR": str(configuration),
            "_POD_IP_ADDRESS": address,
            "_POD_NODE_ID": pod["spec"]["nodeName"],
        }
        hosts = processes.hosts(home, {address: f"localhost {socket.gethostname()}"})  # as within a pod
        log = home / f"{component}.log"
        return processes.start(log, f"{self._libraries}/*", words, environment, "-Xmx192m", hosts)

    def _has_volumes(self, pod: dict) -> bool:
        """Flink creates ConfigMaps after the Deployment that mounts them."""
        sources = (volume["configMap"]["name"] for volume in _mounts(pod).values() if "configMap" in volume)
        return all(self.cluster.exists(self._configuration(name)) for name in sources)

    def _configuration(self, name: str) -> str:
        return f"/api/v1/namespaces/{self.namespace}/configmaps/{name}"

    def _volume(self, pod: dict, volume: dict, home: Path) -> Path:
        """A directory with the files of a volume."""
        directory = home / volume["name"]
        directory.mkdir()
        for name, text in self._files(pod, volume).items():
            (directory / name).write_text(text)
        return directory

    def _files(self, pod: dict, volume: dict) -> dict[str, str]:
        if "downwardAPI" in volume:
            annotations = {
                f"metadata.annotations['{key}']": text for key, text in pod["metadata"]["annotations"].items()
            }
            return {
                item["path"]: annotations[item["fieldRef"]["fieldPath"]]
                for item in volume["downwardAPI"]["items"]
            }
        source = volume["configMap"]
        data = self.cluster.get(self._configuration(source["name"]))["data"]
        names = {item["key"]: item["path"] for item in source.get("items", [])} or {key: key for key in data}
        return {path: data[key] for key, path in names.items()}


def rest_address(job: str) -> str:
    """The address of a JobManager, and of its REST service: `normalize` or the name of a FlinkDeployment."""
    return f"{NETWORK}.{JOBS.index(job.rpartition('-')[2]) + 1}"


def _mounts(pod: dict) -> dict[str, dict]:
    """The volumes of a pod but for secrets, by the path where its container has them."""
    volumes = {
        each["name"]: each for each in pod["spec"]["volumes"] if each.keys() & {"configMap", "downwardAPI"}
    }
    (container,) = pod["spec"]["containers"]
    mounted = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    return {path: volumes[name] for path, name in mounted.items() if name in volumes}


def _replaced(text: str, mounts: dict[str, str]) -> str:
    for path, directory in mounts.items():
        text = text.replace(path, directory)
    return text


def _of_pod(address: str, account: Path) -> str:
    """Options behind those of the ConfigMap, which they replace."""
    hosts = ("jobmanager.bind-host", "rest.bind-address", "taskmanager.host", "taskmanager.bind-host")
    options = {**dict.fromkeys(hosts, address), "kubernetes.config.file": account}
    return "".join(f"\n{key}: {value}" for key, value in options.items()) + "\n"
