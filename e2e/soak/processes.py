"""What a process takes: anonymous memory outside a Java heap, open files, threads, time of collections.

Pages of mapped files (a library, an index of Kafka) do not count: they are cache, and the system takes them
back. A Java heap does not count either: the JVM touches it up to -Xmx, however little of it lives. What lives
shows in the time of collections: a heap that is too small, or that leaks, is collected all the time.
"""

import os
import re
import subprocess
from contextlib import suppress
from pathlib import Path

KIB = 1024
JCMD_SECONDS = 20
COLLECTORS = ("VM Thread", "GC Thread")
"""Threads that collect: the serial collector runs in the first, the parallel ones in the second."""
_HEAP_PART = re.compile(r"\[0x([0-9a-f]+), 0x[0-9a-f]+, 0x([0-9a-f]+)\)")
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) ")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")

Range = tuple[int, int]
"""First address and the one after the last."""


def java_heap(pid: int) -> Range | None:
    """Returns the addresses that the heap of a JVM may take; None if the process is none.

    Raises OSError if the JVM does not answer.
    """
    program = Path(os.readlink(f"/proc/{pid}/exe"))
    if program.name != "java":
        return None
    command = [program.parent / "jcmd", str(pid), "GC.heap_info"]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=JCMD_SECONDS, check=True
        ).stdout
    except subprocess.SubprocessError as error:
        raise OSError(f"jcmd {pid}: {error}") from error
    parts = [(int(first, 16), int(end, 16)) for first, end in _HEAP_PART.findall(answer)]
    if not parts:
        raise OSError(f"jcmd {pid}: no heap in {answer!r}")
    return min(first for first, _ in parts), max(end for _, end in parts)


def anonymous_bytes(pid: int, heap: Range | None) -> int:
    """Returns the anonymous resident memory of a process outside a range. Raises OSError if it is gone."""
    total = 0
    outside = True
    with open(f"/proc/{pid}/{'smaps' if heap else 'smaps_rollup'}") as mappings:
        for line in mappings:
            if found := _MAPPING.match(line):
                first, end = int(found[1], 16), int(found[2], 16)
                outside = heap is None or first < heap[0] or end > heap[1]
            elif outside and line.startswith("Anonymous:"):
                total += int(line.split()[1]) * KIB
    return total


def open_files(pid: int, ignored: str = "") -> int:
    """Returns the number of open files, sockets and pipes; 0 if the process is gone.

    Files whose names end with `ignored` do not count, unless it is empty.
    """
    directory = f"/proc/{pid}/fd"
    total = 0
    with suppress(OSError):
        for number in os.listdir(directory):
            with suppress(OSError):  # closed meanwhile
                total += not (ignored and os.readlink(f"{directory}/{number}").endswith(ignored))
    return total


def threads(pid: int) -> int:
    """Returns the number of threads; 0 if the process is gone."""
    with suppress(OSError):
        return len(os.listdir(f"/proc/{pid}/task"))
    return 0


def collection_seconds(pid: int) -> tuple[float, float]:
    """Returns the processor time of a JVM's collections, and that of the whole process.

    Raises OSError if it is gone.
    """
    collections = 0.0
    for task in os.listdir(f"/proc/{pid}/task"):
        with suppress(OSError):  # ended meanwhile
            if Path(f"/proc/{pid}/task/{task}/comm").read_text().startswith(COLLECTORS):
                collections += _cpu_seconds(f"/proc/{pid}/task/{task}/stat")
    return collections, _cpu_seconds(f"/proc/{pid}/stat")


def _cpu_seconds(stat: str) -> float:
    """Returns user and system time; the name of a process is in parentheses and may contain anything."""
    fields = Path(stat).read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND
