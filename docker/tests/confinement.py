"""What a process in a container may do, read from outside of it, against what its pod says."""

import json
from pathlib import Path

from docker.tests.podman import Podman
from docker.tests.pods import Resource

UNITS = {"Mi": 2**20, "Gi": 2**30}
SECCOMP_FILTER = "2"
CGROUPS = Path("/sys/fs/cgroup")


def assert_confined(podman: Podman, pod: str, spec: Resource) -> None:
    """Checks user, capabilities, root file system, seccomp and limit of memory of all containers of a pod.

    `spec` is that of the pod's template, as it was rendered.
    """
    for container in spec["containers"]:
        security = {**spec["securityContext"], **container["securityContext"]}
        name = f"{pod}-{container['name']}"
        state = json.loads(podman("inspect", name))[0]["State"]
        assert state["Running"], podman.logs(name)
        process = Path("/proc") / str(state["Pid"])
        status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines())
        assert status["Uid"].split() == [str(security["runAsUser"])] * 4, name
        assert security["capabilities"] == {"drop": ["ALL"]}
        for allowed in ("CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb"):
            assert int(status[allowed], 16) == 0, (name, allowed)
        assert security["allowPrivilegeEscalation"] is False
        assert status["NoNewPrivs"] == "1", name
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        assert status["Seccomp"] == SECCOMP_FILTER, name
        assert is_read_only(process) == security.get("readOnlyRootFilesystem", False), name
        if security.get("readOnlyRootFilesystem"):
            refused = podman.run("exec", name, "/usr/bin/touch", "/written").stderr
            assert "Read-only file system" in refused, (name, refused, podman.logs(name)[-3000:])
        assert memory_limit(process) == bytes_of(container["resources"]["limits"]["memory"]), name


def is_read_only(process: Path) -> bool:
    """Returns whether the root file system of a process is mounted for reading only."""
    for line in (process / "mountinfo").read_text().splitlines():
        place, options = line.split()[4:6]
        if place == "/":
            return "ro" in options.split(",")
    raise AssertionError(f"{process} has no root file system")


def memory_limit(process: Path) -> int:
    """Returns the limit of the memory of a process's cgroup, in bytes; of version 1 or 2."""
    for line in (process / "cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return int((CGROUPS / "memory" / path.lstrip("/") / "memory.limit_in_bytes").read_text())
        if not controllers and (limit := CGROUPS / path.lstrip("/") / "memory.max").exists():
            return int(limit.read_text())
    raise AssertionError(f"nothing limits the memory of {process}")


def bytes_of(quantity: str) -> int:
    """Returns a quantity of Kubernetes, such as 512Mi, in bytes."""
    return int(quantity[:-2]) * UNITS[quantity[-2:]]
