"""Checks the machine before anything is started: programs, packages, ports, disk, memory.

Each finding is one sentence with the problem and a fix.
"""

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.errors import ReportedError
from tailrace.programs.inotify import open_files, too_few_inotify_instances
from tailrace_local.supervisor import procfs
from tailrace_local.supervisor.component import Component, InstallError, Progress

MIN_DISK_BYTES = 6_000_000_000
MIN_MEMORY_BYTES = 4_000_000_000
MIN_JAVA = 17
LISTENING = "0A"  # TCP_LISTEN in /proc/net/tcp

PACKAGE_OF_TOOL = {
    "java": "openjdk-17-jdk-headless",
    "mvn": "maven",
    "node": "nodejs",
    "npm": "npm",
    "gcc": "gcc",
    "make": "make",
}


class PreflightError(ReportedError):
    """The machine lacks something; the message has one sentence per line."""


def check(components: Sequence[Component], settings: Settings, home: Home) -> None:
    """Raises PreflightError with all findings. Changes nothing."""
    findings = [
        *missing_tools(components),
        *taken_ports(components),
        *too_little_disk(settings, home),
        *too_little_memory(available_memory()),
        *too_few_inotify_instances(sum(component.inotify_instances() for component in components)),
        *packages_to_ask_for(components),
    ]
    if findings:
        raise PreflightError("\n".join(findings))


def install_packages(components: Sequence[Component], progress: Progress) -> None:
    """Installs the Debian packages that components still need. For root only. Raises InstallError."""
    packages = missing_packages(components)
    if not packages:
        return
    progress.report(f"installing Debian packages: {' '.join(packages)}")
    noninteractive_environment = {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        progress.run(_apt_command(packages), environment=noninteractive_environment)
    except InstallError:  # the package lists may be missing or old
        progress.run(["apt-get", "update"], environment=noninteractive_environment)
        progress.run(_apt_command(packages), environment=noninteractive_environment)


def missing_packages(components: Iterable[Component]) -> list[str]:
    """Returns the missing Debian packages that components need for installation or at run time."""
    return sorted(
        {
            package
            for component in components
            for package, proof in component.os_packages.items()
            if not Path(proof).exists()
        }
    )


def packages_to_ask_for(components: Sequence[Component]) -> list[str]:
    packages = missing_packages(components)
    if not packages or os.geteuid() == 0:
        return []
    command = " ".join(_apt_command(packages))
    return [f"Debian packages are missing, and only root can install them; run: sudo {command}"]


def missing_tools(components: Iterable[Component]) -> list[str]:
    tools = {
        "java",
        *(tool for component in components if not component.installed() for tool in component.tools),
    }
    findings = absent_tools(tools)
    return findings if shutil.which("java") is None else [*findings, *old_java(_java_version())]


def absent_tools(tools: Iterable[str]) -> list[str]:
    """Returns a finding for each program that is not on PATH."""
    return [
        f"`{tool}` is not on PATH; install it, on Debian with: {_how_to_get(tool)}"
        for tool in sorted(tools)
        if shutil.which(tool) is None
    ]


def old_java(version: str) -> list[str]:
    """Returns a finding if the first line of `java -version` contains an older Java than is needed."""
    number = re.search(r'version "(\d+)', version)
    if number and int(number[1]) >= MIN_JAVA:
        return []
    return [f"Java {MIN_JAVA} or newer is needed; found: {version}"]


def taken_ports(components: Iterable[Component]) -> list[str]:
    return [
        f"port {port} for {component.name} ({what}) is taken by {_who_listens(port)}; "
        "stop that, or choose another port (tailrace settings lists them)"
        for component in components
        for what, port in component.ports().items()
        if not _is_free(port)
    ]


def too_little_disk(settings: Settings, home: Home) -> list[str]:
    for directory in (home.root, settings.cache):
        free = shutil.disk_usage(_existing(directory)).free
        if free < MIN_DISK_BYTES:
            return [
                f"{directory} has {free / 1e9:.1f} GB free, at least {MIN_DISK_BYTES / 1e9:.0f} are needed"
            ]
    return []


def too_little_memory(available: int) -> list[str]:
    if available >= MIN_MEMORY_BYTES:
        return []
    return [
        f"{available / 1e9:.1f} GB of memory are available, "
        f"at least {MIN_MEMORY_BYTES / 1e9:.0f} are needed; stop other programs or use a larger machine"
    ]


def available_memory() -> int:
    """Returns the bytes that are available without swapping, within the limit of the control group."""
    meminfo = Path("/proc/meminfo").read_text()
    kibibytes = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo, re.MULTILINE)
    available = int(kibibytes[1]) * 1024 if kibibytes else 0
    return min(available, _control_group_limit())


def _control_group_limit() -> float:
    limit = Path("/sys/fs/cgroup/memory.max")
    text = limit.read_text().strip() if limit.exists() else "max"
    return float("inf") if text == "max" else int(text)


def _existing(path: Path) -> Path:
    return next(parent for parent in (path, *path.parents) if parent.exists())


def _how_to_get(tool: str) -> str:
    return " ".join(_apt_command([PACKAGE_OF_TOOL.get(tool, tool)]))


def _apt_command(packages: Sequence[str]) -> list[str]:
    return ["apt-get", "install", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300", *packages]


def _java_version() -> str:
    output = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    return output.partition("\n")[0]


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _who_listens(port: int) -> str:
    """Returns the program that listens on a port, if it is visible."""
    sockets = {f"socket:[{inode}]" for inode in _listening_sockets(port)}
    for process in Path("/proc").glob("[0-9]*"):
        if sockets & _open_files(process):
            return f"process {process.name} ({procfs.command_line(int(process.name))[:80]})"
    return "a process of another user"


def _listening_sockets(port: int) -> set[str]:
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        lines = Path(table).read_text().splitlines()[1:] if Path(table).exists() else []
        for fields in (line.split() for line in lines):
            if fields[3] == LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.add(fields[9])
    return inodes


def _open_files(process: Path) -> set[str]:
    return set(open_files(process))
