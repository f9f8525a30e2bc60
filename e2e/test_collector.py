"""Fluent Bit ships every byte: lines arrive in Kafka with path, offset and their exact bytes."""

import itertools
import os
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from pathlib import Path
from random import Random

import pytest

from e2e.limits import LIMIT_SECONDS
from e2e.stack import COLLECTORS, Stack, wait_until
from e2e.topics import Line, read_lines
from tailrace.sources.sources_file import Source
from tailrace_local.components.fluentbit import FluentBit

LIMIT = 18_000_000
"""Buffer_Max_Size of the inputs. Version 1 skips a line that does not fit with its line end, newer ones cut
it."""

BANNER = (
    b"mysqld, Version: 8.0.46. started with:\nTcp port: 3306  Unix socket: /s\nTime Id Command Argument\n"
)

ODD_LINES = [
    b"# first\n",
    b"\n",
    b"a\0b\xff\xfe\n",
    b"two\r\n",
    b"\r\n",
    b"x\r\n",
    b"\r\r\n",
    b"caf\xe9 \xf0\x9f\n",
]


@pytest.fixture
def watch(stack: Stack, tmp_path: Path, request) -> Callable[[bytes], tuple[str, Path]]:
    """Writes a watched file; returns its instance and path."""

    def write(content: bytes) -> tuple[str, Path]:
        instance = f"collector {request.node.name}"
        path = tmp_path.resolve() / "slow.log"
        path.write_bytes(content)
        stack.watch_sources([Source(instance, "slowlog", path, "shop", "Europe/Berlin")])
        return instance, path

    return write


def shipped(stack: Stack, instance: str, number: int) -> list[Line]:
    return read_lines(stack.settings, "tailrace.slowlog.lines", instance, lambda found: len(found) >= number)


def by_offset(lines: list[bytes], skipped: Callable[[bytes], bool] = lambda line: False) -> dict[int, bytes]:
    """What each line must come back as: without its line feed."""
    expected, offset = {}, 0
    for line in lines:
        if not skipped(line):
            expected[offset] = line[:-1]
        offset += len(line)
    return expected


def without_return(line: bytes) -> bytes:
    """Returns the line without a carriage return at its end, as Fluent Bit ships single lines."""
    return line[:-1] if len(line) > 1 and line.endswith(b"\r") else line


def test_every_byte_comes_back(stack, watch):
    random = Random(1)
    noise = [bytes(random.choices(b"\r\xc3abc \xff", k=random.randrange(30))) + b"\n" for _ in range(3000)]
    huge = [b"A" * 16 * 1024 * 1024 + b"\n", b"after 16\n", b"B" * 64 * 1024 * 1024 + b"\n", b"after 64\n"]
    limits = [b"C" * (LIMIT - 2) + b"\n", b"D" * (LIMIT + 1) + b"\n", b"after\n"]
    lines = ODD_LINES + noise + huge + limits
    fluent_bit = FluentBit(stack.settings, stack.home)
    is_version_1 = fluent_bit.is_version_1()
    expected = by_offset(lines, skipped=lambda line: len(line) >= LIMIT and is_version_1)
    expected = {offset: line[: LIMIT - 1] for offset, line in expected.items()}
    if not fluent_bit.joins_lines():
        expected = {offset: without_return(line) for offset, line in expected.items()}
    instance, path = watch(b"".join(lines) + b"no line end")
    found = shipped(stack, instance, len(expected))
    assert {line.offset: line.log for line in found} == expected
    assert {line.path for line in found} == {str(path)}
    assert found[0].fields.keys() == {"@timestamp", "instance", "origin"}
    assert found[0].fields["origin"] == b"slowlog|auto|Europe/Berlin|shop"


def test_a_line_is_shipped_once_its_end_is_written(stack, watch):
    instance, path = watch(b"whole\nhalf")
    assert [line.log for line in shipped(stack, instance, 1)] == [b"whole"]
    with path.open("ab") as file:
        file.write(b" and half\n")
    last = shipped(stack, instance, 2)[-1]
    assert (last.offset, last.log) == (6, b"half and half")


def test_rename_with_the_same_banner_loses_nothing(stack, watch):
    instance, path = watch(BANNER)
    shipped(stack, instance, 3)
    first = path.open("ab", buffering=0)
    first.write(b"before\n")
    os.rename(path, f"{path}.1")
    first.write(b"late 1\n")
    with path.open("ab", buffering=0) as second:
        second.write(BANNER)
        first.write(b"late 2\n")
        second.write(b"new\n")
    found = shipped(stack, instance, 10)
    banner = BANNER.splitlines()
    assert sorted(line.log for line in found) == sorted(
        [*banner, *banner, b"before", b"late 1", b"late 2", b"new"]
    )
    start = len(BANNER)
    late = {line.log: line.offset for line in found}
    assert (late[b"late 1"], late[b"late 2"], late[b"new"]) == (start + 7, start + 14, start)


TAIL_ALONE = """
[SERVICE]
    Flush 0.2
[INPUT]
    Name           tail
    Path           {log}
    DB             {offsets}
    Read_From_Head On
[OUTPUT]
    Name    kafka
    Match   nothing
    Brokers 127.0.0.1:1
    Topics  nothing
"""


def test_a_line_written_just_before_a_file_is_watched_is_read(stack, tmp_path):
    log, offsets = tmp_path / "slow.log", tmp_path / "offsets.db"
    log.write_bytes(b"early\n")
    configuration = tmp_path / "tail.conf"
    configuration.write_text(TAIL_ALONE.format(log=log, offsets=offsets))
    with (tmp_path / "output").open("wb") as output:
        collector = subprocess.Popen(
            [FluentBit(stack.settings, stack.home).program(), "-c", configuration],
            env={**os.environ, "LD_PRELOAD": str(_late_writer(tmp_path))},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until(lambda: log.read_bytes() == b"early\nlate\n", "the file to be watched")
        size = log.stat().st_size
        wait_until(lambda: _offsets(offsets) == [(size,)], "the late line to be read")
    finally:
        collector.terminate()
        collector.wait(LIMIT_SECONDS)


def _late_writer(directory: Path) -> Path:
    """Compiles late_writer.c."""
    library = directory / "late_writer.so"
    source = Path(__file__).with_name("late_writer.c")
    subprocess.run(["gcc", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def _offsets(database: Path) -> list[tuple[int]]:
    """Returns those of all files; nothing while Fluent Bit creates the database or writes to it."""
    with (
        suppress(sqlite3.OperationalError),
        closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as offsets,
    ):
        return offsets.execute("SELECT offset FROM in_tail_files").fetchall()
    return []


def test_repeated_kills_with_kafka_up_lose_only_queued_lines(stack, watch):
    instance, path = watch(b"")
    lines = [b"line %d\n" % number for number in range(60_000)]
    with path.open("ab", buffering=0) as file:
        for start in range(0, len(lines), 20_000):
            file.write(b"".join(lines[start : start + 20_000]))
            stack.kill("fluentbit")
            stack.await_healthy()
        await_nothing_buffered(stack)
        file.write(b"end\n")
    found = read_lines(
        stack.settings,
        "tailrace.slowlog.lines",
        instance,
        lambda so_far: any(line.log == b"end" for line in so_far[-1000:]),
    )
    came = {line.offset: line.log for line in found}
    expected = by_offset([*lines, b"end\n"])
    assert came.items() <= expected.items()
    # A kill loses librdkafka's queue: one range, or two if older lines were sent again.
    assert intervals(offset not in came for offset in expected) <= 2 * 3


def test_collectors_of_an_idle_log_cost_next_to_nothing(stack, watch):
    instance, _ = watch(BANNER)
    shipped(stack, instance, 3)
    spent = {component: _cpu_share_of(stack, component, seconds=10) for component in COLLECTORS}
    assert max(spent.values()) < 0.1, f"CPU seconds in a second: {spent}"


def _cpu_share_of(stack: Stack, component: str, seconds: float) -> float:
    """Returns the CPU-seconds in a second, over at least this many."""
    before, began = stack.status(component).cpu_seconds, time.monotonic()
    wait_until(lambda: time.monotonic() > began + seconds, "the time to measure")
    spent = stack.status(component).cpu_seconds - before
    return spent / (time.monotonic() - began)


def await_nothing_buffered(stack: Stack) -> None:
    """Waits until Fluent Bit has queued everything that it has read: later lines then arrive last."""
    buffer = stack.home.data("fluentbit") / "buffer"
    wait_until(lambda: not any(buffer.rglob("*.flb")), "Fluent Bit's buffer to be empty")


def intervals(missing: Iterable[bool]) -> int:
    """Returns the number of runs of True."""
    return sum(1 for is_missing, _ in itertools.groupby(missing) if is_missing)
