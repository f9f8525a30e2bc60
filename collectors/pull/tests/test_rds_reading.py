"""Reads logs from an RDS that rotates, grows, cuts and fails while it is read."""

import itertools
import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from e2e.pulling import query_protocol
from e2e.pulling.fake_rds import BINARY, FakeRds
from tailrace_pull.portions import FIRST_STEP_BYTES
from tailrace_pull.rds import RdsLogs
from tailrace_pull.reading import Round, visit
from tailrace_pull.remote import RemoteError
from tailrace_pull.state import LogState

LIVE = "slowquery/mysql-slowquery.log"
SEEDS = 6
LONG_SEEDS = 500
BINARY_BEHIND_HEAD = 257
"""A seed in which a rotated file has got binary data behind its known first lines."""
RING_FILES = 24
"""The service uses the name of a rotated file again after so many rotations, which deletes the file."""
BANNER = b"mysqld, Version: 8.0.36. started with:\nTime Id Command Argument\n"


class Puller:
    """Visits a log, and keeps what a transaction would have stored."""

    def __init__(self, logs: RdsLogs) -> None:
        self.logs, self.state = logs, LogState()
        self.runs: dict[int, dict[int, bytes]] = {}
        """Lines by file number and offset."""
        self.numbers: set[int] = set()
        self._numbers = itertools.count(1)

    def visit(self, max_bytes: int = 1 << 20) -> Round:
        done = visit(
            self.logs, LogState.from_json(self.state.to_json()), lambda: next(self._numbers), 0, max_bytes
        )
        for run in done.runs:
            stored = self.runs.setdefault(run.file.number, {})
            assert run.offset not in stored, "the same lines twice"
            stored[run.offset] = run.lines
        self.state = done.state
        self.numbers.update(file.number for file in done.state.files)
        return done

    def visit_until_read(self) -> None:
        for _ in range(1000):
            if self.visit().is_complete:
                return
        raise AssertionError("not read to the end")

    def left_out(self, number: int, written: bytes) -> list[bytes]:
        """Returns the lines of a file that are missing; any other difference is an error."""
        at, missing = 0, b""
        for offset, lines in sorted(self.runs.get(number, {}).items()):
            assert offset >= at, "overlap"
            assert lines == written[offset : offset + len(lines)]
            missing += written[at:offset]
            at = offset + len(lines)
        return (missing + whole_lines(written)[at:]).splitlines(keepends=True)


def client_of(fake: FakeRds) -> Any:
    return query_protocol.client("rds", fake.handle)


class Writer:
    """A server that writes lines and rotates as RDS does; it knows what it wrote."""

    def __init__(self, fake: FakeRds, seed: int) -> None:
        self.fake, self.random = fake, random.Random(seed)
        self.written: list[bytes] = [b""]
        """The content of each file, in order."""
        self.hours = itertools.count()
        self.is_ring = self.random.random() < 0.5
        # With fewer lines in a portion, the server would write faster than the puller finds a readable one.
        self.has_binary = fake.portion_lines >= 20 and self.random.random() < 0.5
        self.lines = itertools.count()
        self.unread: Callable[[], int] = lambda: 0
        """Returns the number of files of which no line was read."""
        self.put(BANNER)

    def act(self) -> None:
        choice = self.random.random()
        if choice < 0.1:
            self.write(self.random.randrange(12))
        elif choice < 0.11 and self.unread() < RING_FILES - 4:  # the service deletes no unread file
            self.rotate()

    def write(self, lines: int) -> None:
        text = "".join(self.line() for _ in range(lines)).encode()
        if self.random.random() < 0.2:
            text += "é".encode()[:1]  # a line, and a character, that is still being written
        self.put(text)

    def line(self) -> str:
        length = self.random.choice((0, 3, 10, 40, 300, 1000, 3200))
        if self.has_binary and self.random.random() < 0.03:
            return f"{next(self.lines)} \1" + "x" * length + "\n"
        return f"{next(self.lines)} " + "é" * length + "\n"

    def put(self, text: bytes) -> None:
        if self.written[-1].endswith("é".encode()[:1]):
            text = "é".encode()[1:] + text
        self.written[-1] += text
        self.fake.write(LIVE, text)

    def rotate(self) -> None:
        if self.written[-1] == BANNER:
            self.write(1)  # files of equal content are one file for the puller
        self.put(b"\n")
        self.fake.rename(LIVE, rotated_name(next(self.hours), self.is_ring))
        self.written.append(b"")
        self.put(BANNER)

    def finish(self) -> None:
        self.put(b"\n")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SEEDS, LONG_SEEDS))
def test_lines_of_all_files_arrive_once_and_in_order_long(seed: int) -> None:
    check_lines(seed)


@pytest.mark.parametrize("seed", (*range(SEEDS), BINARY_BEHIND_HEAD))
def test_lines_of_all_files_arrive_once_and_in_order(seed: int) -> None:
    check_lines(seed)


def check_lines(seed: int) -> None:
    """Pulls 40 times while the server writes and rotates, then to the end; compares each file with what was
    written."""
    chosen = random.Random(seed)
    portion_bytes = chosen.choice((5000, 7000))
    fake = FakeRds(seed, portion_bytes, chosen.choice((1, 3, 20, 100)), chosen.choice((0, 0.1)))
    writer = Writer(fake, seed)
    fake.between_calls = writer.act
    puller = Puller(RdsLogs(client_of(fake), "shop-db-1", LIVE))
    writer.unread = lambda: len(writer.written) - len(puller.runs)
    for _ in range(40):
        with suppress(RemoteError):
            puller.visit(chosen.choice((1000, 1 << 20)))
    fake.settle()
    writer.finish()
    writer.put(b"the end\n" * 40)  # behind the last binary data
    puller.visit_until_read()
    files = [content for content in writer.written if whole_lines(content)]
    for number, written in zip(sorted(puller.numbers), files, strict=True):
        left_out = puller.left_out(number, written)
        if not writer.has_binary:
            assert all(len(line) > portion_bytes for line in left_out)
        else:
            is_binary = [BINARY in line for line in left_out]
            assert any(is_binary) or all(len(line) > portion_bytes for line in left_out)
            binary = sum(len(line) for line in left_out if BINARY in line)
            others = sum(len(line) for line in left_out if len(line) <= portion_bytes and BINARY not in line)
            assert others <= binary + sum(is_binary) * (2 * FIRST_STEP_BYTES + portion_bytes)


@pytest.mark.parametrize("is_ring", [False, True])
def test_a_live_file_whose_predecessors_were_deleted_unread_is_a_new_one(is_ring: bool) -> None:
    """The puller was stopped for more rotations than the service keeps; the new live file is larger."""
    fake = FakeRds(1, portion_bytes=5000, portion_lines=20)
    puller = Puller(RdsLogs(client_of(fake), "shop-db-1", LIVE))
    fake.write(LIVE, BANNER + b"the first file\n")
    puller.visit_until_read()
    for hour in range(RING_FILES + 6):
        fake.rename(LIVE, rotated_name(hour, is_ring))
        fake.write(LIVE, BANNER + f"of hour {hour}\n".encode() * 9)
    if not is_ring:
        for hour in range(6):
            fake.remove(rotated_name(hour, is_ring))
    puller.visit_until_read()
    first, *others = (b"".join(runs.values()) for _, runs in sorted(puller.runs.items()))
    assert first == BANNER + b"the first file\n"
    assert others == [BANNER + f"of hour {hour}\n".encode() * 9 for hour in range(5, RING_FILES + 6)]


def test_a_line_with_binary_data_is_a_gap_and_the_others_are_read() -> None:
    fake = FakeRds(1, portion_bytes=5000, portion_lines=100)
    puller = Puller(RdsLogs(client_of(fake), "shop-db-1", LIVE))
    others = [f"line {number} é ".encode() + b"x" * 70 + b"\n" for number in range(40)]
    binary = [b"\1 short\n", b"begin \1" + b"y" * 900 + b"\1 end\n"]
    fake.write(LIVE, BANNER + b"".join([*others[:20], binary[0], *others[20:30], binary[1], *others[30:]]))
    puller.visit_until_read()
    (runs,) = puller.runs.values()
    stored = (
        b"".join(lines for _, lines in sorted(runs.items())).removeprefix(BANNER).splitlines(keepends=True)
    )
    lost = [line for line in others if line not in stored]
    assert not set(binary) & set(stored)
    assert len(lost) <= 14, "at most as many bytes as the line has, and the line in which the step ends"
    assert stored == [line for line in others if line not in lost]
    assert puller.state.files[0].offset == len(fake.files[LIVE].content)


def test_binary_data_at_the_end_of_a_file_waits_for_the_next_line() -> None:
    fake = FakeRds(1, portion_bytes=5000, portion_lines=100)
    puller = Puller(RdsLogs(client_of(fake), "shop-db-1", LIVE))
    fake.write(LIVE, BANNER + b"a line\n\1 not complete")
    with pytest.raises(RemoteError, match=r"nothing can be read behind byte 71: .*binary data"):
        puller.visit_until_read()
    fake.write(LIVE, b" now\n" + b"the next line\n" * 30)
    puller.visit_until_read()
    (runs,) = puller.runs.values()
    assert b"".join(lines for _, lines in sorted(runs.items())).endswith(b"the next line\n" * 20)


def test_binary_data_at_the_end_of_a_rotated_file_does_not_stop_the_log() -> None:
    fake = FakeRds(1, portion_bytes=5000, portion_lines=100)
    puller = Puller(RdsLogs(client_of(fake), "shop-db-1", LIVE))
    fake.write(LIVE, BANNER + b"a line\n\1 binary\n")
    fake.rename(LIVE, rotated_name(0, is_ring=False))
    fake.write(LIVE, BANNER + b"of the next file\n")
    (note,) = puller.visit().notes
    assert note.startswith(f"{rotated_name(0, is_ring=False)}: its last 9 bytes cannot be read: ")
    puller.visit_until_read()
    first, second = (b"".join(runs.values()) for _, runs in sorted(puller.runs.items()))
    assert (first, second) == (BANNER + b"a line\n", BANNER + b"of the next file\n")


def test_a_rotated_file_of_another_size_is_another_one() -> None:
    """Only the banner is known of a file whose first entry is longer than a portion."""
    fake = FakeRds(3, portion_bytes=5000, portion_lines=1)
    puller = Puller(RdsLogs(client_of(fake), "shop-db-1", LIVE))
    contents = [
        BANNER + b"x" * 6000 + b"\n" + f"of hour {hour}\n".encode() * (hour + 1)
        for hour in range(RING_FILES + 2)
    ]
    for hour, content in enumerate(contents):
        fake.write(LIVE, content)
        puller.visit_until_read()
        fake.rename(LIVE, rotated_name(hour, is_ring=True))
    puller.visit_until_read()
    for number, content in zip(sorted(puller.runs), contents, strict=True):
        puller.left_out(number, content)


def test_a_live_file_is_a_new_one_if_all_files_were_deleted() -> None:
    fake = FakeRds(1, portion_bytes=5000, portion_lines=20)
    puller = Puller(RdsLogs(client_of(fake), "shop-db-1", LIVE))
    fake.write(f"{LIVE}.0", BANNER + b"an old file\n")
    fake.write(LIVE, BANNER + b"the first file\n")
    puller.visit_until_read()
    fake.remove(f"{LIVE}.0")
    fake.remove(LIVE)
    fake.write(LIVE, BANNER + b"another file\n" * 9)
    puller.visit_until_read()
    assert BANNER + b"another file\n" * 9 in [b"".join(runs.values()) for runs in puller.runs.values()]


def rotated_name(hour: int, is_ring: bool) -> str:
    return f"{LIVE}.{hour % RING_FILES}" if is_ring else f"{LIVE}.2026-11-26.{hour:02}"


def whole_lines(content: bytes) -> bytes:
    return content[: content.rfind(b"\n") + 1]
