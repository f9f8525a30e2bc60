"""Writes growing logs like servers, and the manifest."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Event, RLock, Thread

from e2e.workload import statements
from e2e.workload.manifest import LogFile, LogManifest
from e2e.workload.shapes import (
    Entry,
    MariaDb,
    MariaDbAudit,
    MySql8,
    Percona,
    PerconaAudit,
    Shape,
)
from e2e.workload.statements import Statement

Clock = Callable[[], float]


class LogWriter:
    """One log of one server. Entries count in the manifest once their last byte is written."""

    def __init__(
        self,
        shape: Shape,
        instance: str,
        cluster: str,
        path: Path,
        random: Random,
        clock: Clock = time.time,
    ) -> None:
        self.shape = shape
        self.instance = instance
        self.cluster = cluster
        self.path = path
        self.manifest = LogManifest(instance, shape.source, shape.name, str(path))
        self._random = random
        self._clock = clock
        self._torn: tuple[Entry, bytes] | None = None
        self._ends_itself = True
        self._open()

    def write(self, statement: Statement, torn: bool = False) -> None:
        """Writes one entry after the rest of the last one; of a torn entry only a random part."""
        self.finish_torn()
        entry = self.shape.entry(statement, self._clock())
        if torn:
            self.begin(entry, self._random.randrange(len(entry.content)))
        else:
            self._append(entry.content)
            self._count(entry)

    def begin(self, entry: Entry, length: int) -> None:
        """Writes the first `length` bytes of an entry; the next write begins with the rest."""
        self._append(entry.content[:length])
        self._torn = entry, entry.content[length:]

    def finish_torn(self) -> None:
        """Writes the rest of a torn entry."""
        if self._torn:
            entry, rest = self._torn
            self._torn = None
            self._append(rest)
            self._count(entry)

    def finish(self) -> None:
        """Ensures that the file ends with an entry whose end is in the file."""
        self.finish_torn()
        if not self._ends_itself:
            self.write(Statement("point_lookup", statements.point_lookup(self._random)))

    def append_raw(self, content: bytes) -> None:
        """Writes bytes that the manifest counts as bytes only."""
        self._append(content)

    def rotate(self, late: int = 0) -> Path:
        """Renames the file to .1, older ones to .2 and so on, and starts a new one; returns the renamed one.

        As with logrotate, the server continues to write to the renamed file until FLUSH LOGS: `late` entries.
        """
        rotated = Path(f"{self.path}.1")
        for number in range(len(self.manifest.files), 1, -1):
            if os.path.exists(f"{self.path}.{number - 1}"):  # old ones may be deleted
                os.rename(f"{self.path}.{number - 1}", f"{self.path}.{number}")
        os.rename(self.path, rotated)
        for _ in range(late):
            self.write(statements.ordinary(self._random))
        self.finish()
        self.close()
        self._open()
        return rotated

    def close(self) -> None:
        os.close(self._file)

    @property
    def current(self) -> LogFile:
        return self.manifest.files[-1]

    def _open(self) -> None:
        self.manifest.new_file(self._create())
        self._append(self.shape.banner)
        self.current.framing_bytes = len(self.shape.banner)
        for entry in self.shape.new_file(self._clock()):
            self._append(entry.content)
            self._count(entry)
            self.current.first_records.append(entry.content.decode())

    def _create(self) -> int:
        """Creates the live file; returns its inode."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o640)
        return os.fstat(self._file).st_ino

    def _append(self, content: bytes) -> None:
        left = memoryview(content)
        while left:
            left = left[os.write(self._file, left) :]
        self.current.bytes += len(content)

    def _count(self, entry: Entry) -> None:
        self._ends_itself = entry.ends_itself
        self.current.entries += 1
        minute = self.manifest.minute_of(entry.at)
        minute.entries += 1
        minute.query_time_us += entry.query_time_us
        minute.rows_sent += entry.rows_sent
        minute.rows_examined += entry.rows_examined
        minute.weight += entry.weight
        minute.weighted_query_time_us += entry.query_time_us * entry.weight
        classes = self.manifest.classes
        classes[entry.label] = classes.get(entry.label, 0) + 1


@dataclass(frozen=True)
class Mix:
    """Shares of the kinds of entries."""

    nasty: float = 0.15
    torn: float = 0.1


class Workload:
    """Several servers' logs, written in turn. Instances are named `<name>-mysql`, `<name>-percona`, …

    One thread may write while another rotates.
    """

    def __init__(
        self,
        directory: Path,
        seed: int,
        name: str = "demo",
        mix: Mix = Mix(),
        clock: Clock = time.time,
    ) -> None:
        self.random = Random(seed)
        self.mix = mix
        self._lock = RLock()
        self.logs = [
            LogWriter(
                shape(self.random),
                instance,
                cluster,
                directory / instance / file,
                self.random,
                clock,
            )
            for shape, instance, cluster, file in (
                (MySql8, f"{name}-mysql", "shop", "slow.log"),
                (Percona, f"{name}-percona", "shop", "slow.log"),
                (MariaDb, f"{name}-mariadb", "billing", "slow.log"),
                (MariaDbAudit, f"{name}-mariadb", "billing", "server_audit.log"),
                (PerconaAudit, f"{name}-percona", "shop", "audit.log"),
            )
        ]

    def write(self, entries: int) -> None:
        """Writes this many entries, spread over the logs; some stay torn until the log's next write."""
        with self._lock:
            for _ in range(entries):
                torn = self.random.random() < self.mix.torn
                self.random.choice(self.logs).write(self._statement(), torn)

    def tear(self) -> None:
        """Leaves every log within an entry."""
        with self._lock:
            for log in self.logs:
                log.write(self._statement(), torn=True)

    def rotate(self, late: int = 0) -> None:
        """Renames every log."""
        with self._lock:
            for log in self.logs:
                log.rotate(late)

    def finish(self) -> None:
        """Ends every log with a complete entry."""
        with self._lock:
            for log in self.logs:
                log.finish()

    def run(self, rate: float, stopped: Event) -> None:
        """Writes `rate` entries per second until stopped, then finishes."""
        due = time.monotonic()
        at_once = max(1, int(rate / 50))
        while not stopped.is_set():
            self.write(at_once)
            due += at_once / rate
            stopped.wait(max(0.0, due - time.monotonic()))
        self.finish()

    @contextmanager
    def writing(self, rate: float) -> Iterator[None]:
        """Writes `rate` entries per second in the background; finishes every entry at the end."""
        stopped = Event()
        thread = Thread(target=self.run, args=(rate, stopped))
        thread.start()
        try:
            yield
        finally:
            stopped.set()
            thread.join()

    @property
    def manifests(self) -> list[LogManifest]:
        return [log.manifest for log in self.logs]

    @property
    def entries(self) -> int:
        """Entries written so far, over all logs."""
        return sum(log.manifest.entries for log in self.logs)

    def _statement(self) -> Statement:
        nasty = self.random.random() < self.mix.nasty
        return (statements.nasty if nasty else statements.ordinary)(self.random)
