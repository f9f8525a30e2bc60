"""A database server with systemd as its first process, in a container of podman.

systemd needs CAP_SYS_ADMIN for the mount namespaces of its services. The container has this machine's
network.
"""

import json
from pathlib import Path

from docker.tests.podman import Podman
from e2e.stack import wait_until

STATE = Path("var/lib/tailrace")
BOOT_SECONDS = 120


class DatabaseHost:
    """A running container. `volumes`: directories and files of this machine by their paths in it."""

    def __init__(self, podman: Podman, image: str, name: str, volumes: dict[str, Path]) -> None:
        self._podman = podman
        self.name = name
        mounts = [word for target, source in volumes.items() for word in ("--volume", f"{source}:{target}")]
        rights = ("--network", "host", "--systemd", "always", "--cap-add", "SYS_ADMIN")
        podman("run", "--detach", "--name", name, *rights, *mounts, image, "/sbin/init")
        self._await_boot()

    def _await_boot(self) -> None:
        wait_until(
            lambda: (
                self._podman.run("exec", self.name, "systemctl", "is-system-running").stdout == "running\n"
            ),
            "systemd to have started everything",
            seconds=BOOT_SECONDS,
        )

    def __call__(self, *words: str, expected: int = 0) -> str:
        """Runs a command as root and returns both of its outputs. AssertionError for another exit code."""
        done = self._podman.run("exec", self.name, *words)
        said = done.stdout + done.stderr
        assert done.returncode == expected, f"{' '.join(words)}: {done.returncode}: {said}"
        return said

    def restart(self) -> None:
        """Stops all services in order, and boots again."""
        self._podman("restart", "--time", "60", self.name)
        self._await_boot()

    def remove(self) -> None:
        self._podman.run("rm", "--force", "--time", "10", self.name)

    def root(self) -> Path:
        """Returns the root directory of the container, as this machine sees it."""
        (found,) = json.loads(self._podman("inspect", self.name))
        return Path("/proc", str(found["State"]["Pid"]), "root")

    def shown(self, unit: str, name: str) -> str:
        """Returns a property of a unit."""
        return self("systemctl", "show", f"--property={name}", "--value", unit).strip()

    def is_running(self, unit: str) -> bool:
        return self.shown(unit, "SubState") == "running"

    def journal(self, unit: str) -> str:
        return self("journalctl", "--no-pager", "--output=cat", f"--unit={unit}")

    def kill(self, unit: str) -> None:
        """Ends the main process of a unit with SIGKILL; returns when systemd has started it again."""
        before = int(self.shown(unit, "NRestarts"))
        self("systemctl", "kill", "--kill-whom=main", "--signal=KILL", unit)
        self.await_restart(unit, before)

    def await_restart(self, unit: str, before: int) -> None:
        """Waits until systemd has restarted a unit by itself more than `before` times."""
        wait_until(
            lambda: int(self.shown(unit, "NRestarts")) > before and self.is_running(unit),
            f"{unit} to be restarted",
            seconds=BOOT_SECONDS,
        )

    def change_settings(self, file: str, **values: str) -> None:
        """Replaces the values of variables in a file of /etc/tailrace, as with an editor."""
        for name, value in values.items():
            self("sed", "--in-place", f"s|^{name}=.*|{name}={value}|", f"/etc/tailrace/{file}")
