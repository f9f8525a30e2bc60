"""Fluent Bit ships every byte: lines come back from Kafka with path, offset and exactly their bytes."""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from e2e.stack import Stack
from e2e.topics import Line, read_lines
from tailrace.sources import Source

LIMIT = 18_000_000
"""Buffer_Max_Size of the inputs: a line that does not fit, with its line end, is skipped."""

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


def shipped(stack: Stack, instance: str, number: int, seconds: float = 180) -> list[Line]:
    return read_lines(
        stack.settings, "tailrace.slowlog.lines", instance, lambda found: len(found) >= number, seconds
    )


def by_offset(lines: list[bytes], skipped: Callable[[bytes], bool] = lambda line: False) -> dict[int, bytes]:
    """What each line must come back as: without its line feed, and without a carriage return before it."""
    expected, offset = {}, 0
    for line in lines:
        if not skipped(line):
            text = line[:-1]
            expected[offset] = text[:-1] if len(text) > 1 and text.endswith(b"\r") else text
        offset += len(line)
    return expected


def test_every_byte_comes_back(stack, watch):
    random = Random(1)
    noise = [bytes(random.choices(b"\r\xc3abc \xff", k=random.randrange(30))) + b"\n" for _ in range(3000)]
    huge = [b"A" * 16 * 1024 * 1024 + b"\n", b"after 16\n", b"B" * 64 * 1024 * 1024 + b"\n", b"after 64\n"]
    limits = [b"C" * (LIMIT - 2) + b"\n", b"D" * (LIMIT + 1) + b"\n", b"after\n"]
    lines = ODD_LINES + noise + huge + limits
    expected = by_offset(lines, skipped=lambda line: len(line) >= LIMIT)
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


def test_killed_again_and_again_with_kafka_up_nothing_is_lost(stack, watch):
    instance, path = watch(b"")
    number = 0
    with path.open("ab", buffering=0) as file:
        for _ in range(3):
            file.write(b"".join(b"line %d\n" % index for index in range(number, number + 20_000)))
            number += 20_000
            stack.kill("fluentbit")
            stack.await_healthy()
    found = read_lines(
        stack.settings,
        "tailrace.slowlog.lines",
        instance,
        lambda lines: len({line.offset for line in lines}) >= number,
        180,
    )
    assert {line.log for line in found} == {b"line %d" % index for index in range(number)}
