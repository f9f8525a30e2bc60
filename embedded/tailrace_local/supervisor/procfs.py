"""Reads processes from /proc: groups, children, memory and processor time (proc(5))."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Process:
    """One line of /proc/<pid>/stat."""

    pid: int
    state: str
    parent: int
    group: int
    cpu_seconds: float
    """User and system time, including reaped children."""
    rss_bytes: int

    @property
    def is_zombie(self) -> bool:
        return self.state == "Z"


@dataclass(frozen=True)
class Usage:
    """The resource usage of a process group."""

    rss_bytes: int
    cpu_seconds: float


def processes() -> Iterator[Process]:
    """Yields every visible process."""
    for name in os.listdir("/proc"):
        if name.isdigit() and (process := read(int(name))):
            yield process


def read(pid: int) -> Process | None:
    """Returns one process, or None if there is none with that pid."""
    try:
        # Each status of the stack reads all processes: Path.read_text takes twice the processor time.
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            line = file.read()
    except OSError:
        return None
    # The second field is the program's name in parentheses and may contain anything, including `)` and
    # blanks.
    fields = line[line.rindex(b")") + 2 :].split()
    ticks = sum(int(field) for field in fields[11:15])
    return Process(
        pid=pid,
        state=fields[0].decode(),
        parent=int(fields[1]),
        group=int(fields[2]),
        cpu_seconds=ticks / _TICKS_PER_SECOND,
        rss_bytes=int(fields[21]) * _PAGE_BYTES,
    )


def children(parent: int) -> list[Process]:
    """The direct children of a process."""
    return [process for process in processes() if process.parent == parent]


def group_usage(groups: set[int]) -> dict[int, Usage]:
    """Memory and time per process group."""
    totals = {group: Usage(0, 0.0) for group in groups}
    for process in processes():
        if (total := totals.get(process.group)) is not None:
            totals[process.group] = Usage(
                total.rss_bytes + process.rss_bytes, total.cpu_seconds + process.cpu_seconds
            )
    return totals


def command_line(pid: int) -> str:
    """Returns the program and its arguments, or its pid if it cannot be read."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return f"process {pid}"
