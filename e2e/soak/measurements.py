"""What an endurance test measures of a running stack, as samples in a file of JSON lines."""

import json
import os
import re
import time
import urllib.request
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from e2e.soak import processes
from e2e.soak.trends import Point
from e2e.stack import Stack
from tailrace_local.supervisor import control

HOUR = 3600
MB = 1_000_000
WARM_UP_HOURS = 0.25
"""A JVM takes memory for code and heap in its first minutes."""
JOBS = ("flink", "detect")
SERVER_SECONDS = 20
_PENDING = re.compile(rb"\w+_pendingRecords[{ ]")
GROWS_WITH_DATA = ("disk of census", "disk of clickhouse", "disk of kafka")
"""The spool for 72 hours, rows until their retention, and messages until that of their topic."""
LOGS = "written logs"
IGNORED_FILES = {"kafka": ".log"}
"""A segment of a topic is an open file until the retention of the topic."""
MB_PER_GB_OF_LOGS = {"checkpoint of flink": 0.5, "disk of flink": 1.5}
"""The job keeps a hash of each 64 KiB of a file, about 29 bytes, until it forgets the file. A checkpoint
contains all of them; three are kept."""


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

    def beyond_logs(self, name: str, lives: list[list[Point]]) -> list[list[Point]]:
        """Returns the points of a resource without what it keeps for the logs written until then."""
        share = MB_PER_GB_OF_LOGS.get(name)
        if not share:
            return lives
        written = [(sample.at / HOUR, sample.value / 1000) for sample in self.all if sample.name == LOGS]
        if not written:
            return []
        return [
            [(hour, value - share * _latest(written, hour)) for hour, value in points] for points in lives
        ]


class Observer:
    """Takes samples of one session."""

    def __init__(self, stack: Stack, session: int, logs: Callable[[], int]) -> None:
        """`logs` returns the bytes that were written to logs in this session."""
        self._stack = stack
        self._session = session
        self._logs = logs
        self._started = time.time()
        self._first_seen: dict[int, float] = {}
        self._heaps: dict[int, processes.Range | None] = {}
        self._collections: dict[int, tuple[float, float]] = {}

    def samples(self) -> list[Sample]:
        """Returns what can be measured now: a component without a process, or a server that does not
        answer, has no sample."""
        found = [*self._of_components(), *self._of_directories()]
        for measure in (*(partial(self._of_job, name) for name in JOBS), self._of_clickhouse):
            with suppress(OSError):  # killed, and not up again
                found += measure()
        return [*found, self._sample(LOGS, "MB", self._logs() / MB)]

    def _of_components(self) -> Iterator[Sample]:
        for component in control.status(self._stack.home).components:
            if component.pid and component.is_healthy:
                with suppress(OSError):  # killed meanwhile
                    yield from self._of_component(component.name, component.pid)

    def _of_component(self, name: str, pid: int) -> list[Sample]:
        age = (time.time() - self._first_seen.setdefault(pid, time.time())) / HOUR
        pids = self._stack.processes(name)
        files = sum(processes.open_files(each, IGNORED_FILES.get(name, "")) for each in pids)
        values = [
            ("memory of", "MB", sum(map(self._memory, pids)) / MB),
            ("open files of", "files", files),
            ("threads of", "threads", sum(map(processes.threads, pids))),
        ]
        if self._heaps.get(pid) and (share := self._collection_share(pid)) is not None:
            values.append(("collections of", "%", share))
        return [self._sample(f"{kind} {name}", unit, value, pid, age) for kind, unit, value in values]

    def _memory(self, pid: int) -> int:
        if pid not in self._heaps:
            self._heaps[pid] = processes.java_heap(pid)
        return processes.anonymous_bytes(pid, self._heaps[pid])

    def _collection_share(self, pid: int) -> float | None:
        """Returns the share of collections in the JVM's processor time since the last sample, in percent."""
        collections, total = processes.collection_seconds(pid)
        known = self._collections.get(pid)
        self._collections[pid] = collections, total
        if known is None or total <= known[1]:
            return None
        return 100 * (collections - known[0]) / (total - known[1])

    def _of_directories(self) -> Iterator[Sample]:
        for directory in sorted(self._stack.home.data("x").parent.iterdir()):
            yield self._sample(f"disk of {directory.name}", "MB", _bytes_below(directory) / MB)

    def _of_job(self, name: str) -> list[Sample]:
        status = control.status(self._stack.home).component(name)
        if not status or not status.is_healthy:
            return []
        size = _checkpoint_bytes(status.address)
        sizes = [] if size is None else [self._sample(f"checkpoint of {name}", "MB", size / MB)]
        return [*sizes, self._sample(f"waiting for {name}", "records", self._waiting(name))]

    def _waiting(self, job: str) -> float:
        """Returns the records in Kafka that a job has not read."""
        port = int(self._stack.home.metrics_port(job).read_text())
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=SERVER_SECONDS) as answer:
            return sum(float(line.rpartition(b" ")[2]) for line in answer if _PENDING.match(line))

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


def _latest(written: list[Point], hour: float) -> float:
    """Returns the value of the last point at or before an hour, or the first value."""
    position = bisect_right(written, hour, key=lambda point: point[0])
    return written[max(position - 1, 0)][1]


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
