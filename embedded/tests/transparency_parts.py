"""A transparency log and a witness in one process, on a disk that can be killed at any write."""

import random
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tailrace.transparency import files, witnesses
from tailrace.transparency.log import TransparencyLog
from tailrace.transparency.store import Batch, Minute, Store
from tailrace.witness.witness import Witness
from tailrace_verify import notes

ORIGIN = "tailrace/0123456789abcdef"
NAME = "witness.example/w1"
LOG_KEY, WITNESS_KEY = (Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32) for number in (1, 2))
LOG_PUBLIC = notes.key_of(ORIGIN, LOG_KEY)
NOW = 1_795_000_000


class Killed(BaseException):
    """The process was killed. No code of the project catches it."""


class Disk:
    """Writes files; kills the process before or after the write with the number `at`."""

    def __init__(self, at: int | None = None, is_after: bool = False) -> None:
        self.at, self.is_after, self.count = at, is_after, 0

    def write(self, path: Path, data: bytes) -> None:
        with self.step():
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_name(path.name + ".new")
            draft.write_bytes(data)
            draft.replace(path)

    def step(self) -> "Disk":
        return self

    def __enter__(self) -> None:
        self.count += 1
        if self.count == self.at and not self.is_after:
            raise Killed

    def __exit__(self, *_: object) -> None:
        if self.count == self.at and self.is_after:
            raise Killed


class KillableStore(Store):
    def __init__(self, file: Path, disk: Disk) -> None:
        super().__init__(file)
        self._disk = disk

    def commit(self, *arguments) -> None:
        with self._disk.step():
            super().commit(*arguments)


@dataclass(frozen=True)
class Direct(witnesses.Witness):
    """Asks a witness of this process, without HTTP."""

    witness: Witness = None

    def _post(self, body: bytes) -> bytes:
        answer = self.witness.add_checkpoint(body)
        if answer.status != 200:
            raise self._refusal(answer.status, answer.text.strip())
        return answer.text.encode()


class Source:
    """Collects numbered entries; each call finds some more, up to `end`."""

    def __init__(self, store: Store, end: int, most: int) -> None:
        self._store, self._end, self._most = store, end, most

    def collect(self) -> Batch:
        start = self._store.get("position", 0)
        # The number of new entries differs after a restart, as that of new rows does.
        count = min(self._end - start, random.Random(f"{start} {self._most}").randint(1, self._most))
        entries = [entry(number) for number in range(start, start + count)]
        minutes = [Minute("t", number % 5, 1, at) for at, number in enumerate(range(start, start + count))]
        return Batch(entries, minutes, {"position": start + count}, start + count == self._end)


def entry(number: int) -> bytes:
    return b'{"number":%d}' % number


def make_witness(directory: Path, disk: Disk | None = None) -> Witness:
    write = disk.write if disk else files.write
    return Witness(NAME, WITNESS_KEY, [LOG_PUBLIC], directory / "witness", write, lambda: NOW)


def direct(witness: Witness) -> Direct:
    return Direct("-", witness.key, witness)


def make_log(directory: Path, disk: Disk) -> TransparencyLog:
    log = TransparencyLog(directory / "log", ORIGIN, LOG_KEY, disk.write)
    log.store.close()
    log.store = KillableStore(directory / "log" / "state.sqlite", disk)
    return log
