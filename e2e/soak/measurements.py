"""What an endurance test measures of a running stack, as samples in a file of JSON lines."""

import json
import os
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from e2e.soak.trends import Point
from e2e.stack import Stack
from tailrace_local.supervisor import control

HOUR = 3600
MB = 1_000_000
WARM_UP_HOURS = 0.25
"""A JVM takes memory for code and heap in its first minutes."""
JOBS = ("flink", "detect")
SERVER_SECONDS = 5
GROWS_WITH_DATA = ("disk of clickhouse", "disk of kafka")
"""Rows until their retention, and messages until that of their topic."""


@dataclass(frozen=True)
class Sample:
    """One value. `process` is 0 if the value belongs to no process."""

    session: int
    at: float
    """Seconds since 1970."""
    name: str
    unit: str
    process: int
    age: float
    """Hours since the process, or the session, started."""
    value: float


class Samples:
    """The samples of all sessions, in a file that each session continues."""

    def __init__(self, file: Path) -> None:
        self._file = file
        lines = file.read_text().splitlines() if file.exists() else []
        self.all = [Sample(**json.loads(line)) for line in lines]

    @property
    def sessions(self) -> int:
        return max((sample.session for sample in self.all), default=0)

    @property
    def hours(self) -> float:
        """Returns the hours between first and last sample, summed over the sessions."""
        times: dict[int, list[float]] = {}
        for sample in self.all:
            times.setdefault(sample.session, []).append(sample.at)
        return sum(max(found) - min(found) for found in times.values()) / HOUR

    def add(self, samples: list[Sample]) -> None:
        self.all += samples
        with self._file.open("a") as out:
            out.writelines(json.dumps(asdict(sample)) + "\n" for sample in samples)

    def series(self) -> dict[tuple[str, str], list[list[Point]]]:
        """Returns the points by name and unit, a list for each process of each session."""
        found: dict[tuple[str, str], dict[tuple[int, int], list[Point]]] = {}
        for sample in self.all:
            if sample.age >= WARM_UP_HOURS:
                lives = found.setdefault((sample.name, sample.unit), {})
                lives.setdefault((sample.session, sample.process), []).append(
                    (sample.at / HOUR, sample.value)
                )
        return {name: list(lives.values()) for name, lives in sorted(found.items())}


class Observer:
    """Takes samples of one session."""

    def __init__(self, stack: Stack, session: int) -> None:
        self._stack = stack
        self._session = session
        self._started = time.time()
        self._first_seen: dict[int, float] = {}

    def samples(self) -> list[Sample]:
        """Returns what can be measured now: a component without a process, or a server that does not
        answer, has no sample."""
        found = [*self._of_processes(), *self._of_directories()]
        for measure in (self._of_jobs, self._of_clickhouse):
            with suppress(OSError):  # killed, and not up again
                found += measure()
        return found

    def _of_processes(self) -> Iterator[Sample]:
        for component in control.status(self._stack.home).components:
            if component.pid and component.is_healthy:
                began = self._first_seen.setdefault(component.pid, time.time())
                age = (time.time() - began) / HOUR
                yield self._sample(
                    f"memory of {component.name}", "MB", component.rss_bytes / MB, component.pid, age
                )
                files = sum(map(_open_files, self._stack.processes(component.name)))
                yield self._sample(f"open files of {component.name}", "files", files, component.pid, age)

    def _of_directories(self) -> Iterator[Sample]:
        for directory in sorted(self._stack.home.data("x").parent.iterdir()):
            yield self._sample(f"disk of {directory.name}", "MB", _bytes_below(directory) / MB)

    def _of_jobs(self) -> list[Sample]:
        sizes = []
        for name in JOBS:
            status = control.status(self._stack.home).component(name)
            if status and status.is_healthy:
                size = _checkpoint_bytes(status.address)
                if size is not None:
                    sizes.append(self._sample(f"checkpoint of {name}", "MB", size / MB))
        return sizes

    def _of_clickhouse(self) -> list[Sample]:
        (row,) = self._stack.clickhouse().rows(
            "SELECT toUInt32(count()) AS parts, uniqExact(partition, table) AS partitions"
            " FROM system.parts WHERE active AND database = 'tailrace'"
        )
        return [self._sample("parts for each partition", "parts", row["parts"] / max(1, row["partitions"]))]

    def _sample(self, name: str, unit: str, value: float, process: int = 0, age: float | None = None):
        now = time.time()
        of_session = (now - self._started) / HOUR
        return Sample(self._session, now, name, unit, process, of_session if age is None else age, value)


def _open_files(process: int) -> int:
    with suppress(OSError):
        return len(os.listdir(f"/proc/{process}/fd"))
    return 0


def _bytes_below(directory: Path) -> int:
    total = 0
    for parent, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):  # deleted meanwhile
                total += (Path(parent) / name).lstat().st_blocks * 512
    return total


def _checkpoint_bytes(address: str) -> int | None:
    """Returns the size of the last checkpoint; None before the first one."""
    jobs = _json(f"{address}/jobs")["jobs"]
    running = [job["id"] for job in jobs if job["status"] == "RUNNING"]
    if not running:
        return None
    completed = _json(f"{address}/jobs/{running[0]}/checkpoints")["latest"]["completed"]
    return completed and completed["checkpointed_size"] if completed else None


def _json(address: str) -> dict:
    with urllib.request.urlopen(address, timeout=SERVER_SECONDS) as answer:
        return json.load(answer)
