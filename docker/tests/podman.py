"""Runs containers and pods with Debian's podman and runc, with the images that buildah has built."""

import os
import subprocess
from pathlib import Path

import yaml

from docker.tests.pods import Resource

CONFIGURATION = Path(__file__).parent / "containers.conf"
WAIT_SECONDS = 600
"""For a pod whose init containers prepare Superset, on a busy machine."""


class Podman:
    """Podman with the storage of `images_in(directory)`. Its pods are ended by `down`."""

    def __init__(self, directory: Path) -> None:
        self._command = (
            *("podman", "--root", directory / "store", "--runroot", directory / "run"),
            *("--storage-driver", "overlay"),
        )
        self._environment = {**os.environ, "CONTAINERS_CONF": str(CONFIGURATION)}
        self._played: list[str] = []

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Runs a command of podman and returns its result, also if it fails."""
        return subprocess.run(
            [*self._command, *words],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=WAIT_SECONDS,
        )

    def __call__(self, *words: str | Path) -> str:
        """Runs a command of podman and returns its output. AssertionError if it fails."""
        done = self.run(*words)
        assert done.returncode == 0, f"podman {' '.join(map(str, words))}: {done.stderr}"
        return done.stdout

    def play(self, pod: Resource, directory: Path) -> str:
        """Starts a pod after its init containers have ended; returns its name. Its file is in `directory`."""
        name = pod["metadata"]["name"]
        file = directory / f"{name}.yaml"
        file.write_text(yaml.safe_dump(pod))
        self._played.append(name)
        self("kube", "play", "--replace", file)
        return name

    def finished(self, container: str) -> int:
        """Waits until a container has ended and returns its exit code."""
        return int(self("wait", container))

    def logs(self, container: str) -> str:
        """Returns both outputs of a container."""
        done = self.run("logs", container)
        return done.stdout + done.stderr

    def remove(self, pod: str) -> None:
        """Removes a pod if it was started."""
        if pod in self._played:
            self("pod", "rm", "--force", "--time", "5", pod)
            self._played.remove(pod)

    def down(self) -> None:
        """Removes all pods that were started, the last one first."""
        while self._played:
            self.run("pod", "rm", "--force", "--time", "5", self._played.pop())
