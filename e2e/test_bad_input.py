"""Malformed files: each byte is an event, a dead letter, framing or a gap."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from e2e.comparison import Stored
from e2e.stack import Stack, wait_until
from e2e.workload.manifest import LogManifest
from e2e.workload.shapes import MySql8
from tailrace.sources.sources_file import Source

NOW = int(time.time())
YEAR_2014, YEAR_2040 = 1_400_000_000, 2_220_000_000
BANNER = MySql8.banner


def entry(sql: bytes, at: int = NOW) -> bytes:
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(at)).encode()
    return (
        b"# Time: %b\n# User@Host: app[app] @ web-1 [10.0.0.1]  Id:     7\n"
        b"# Query_time: 0.500000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 2\n"
        b"SET timestamp=%d;\n%b;\n" % (stamp, at, sql)
    )


def entries(number: int) -> bytes:
    return b"".join(entry(b"SELECT %d FROM plain" % index) for index in range(number))


def garbage() -> bytes:
    return Random(7).randbytes(200_000).replace(b"\0", b"") + b"\n"


def one_line(size: int) -> bytes:
    return entry(b"INSERT INTO plain VALUES ('" + b"x" * size + b"')")


@dataclass(frozen=True)
class Case:
    """A file with its expected result; all other bytes are events and banners."""

    name: str
    content: Callable[[], bytes]
    events: int
    dead: frozenset[str] = frozenset()
    gaps: frozenset[str] = frozenset()
    pending: int = 0
    undecided: int = 0
    """Maximum number of bytes that wait before their format is determined."""


HALF_ENTRY = entry(b"SELECT 'never ends")[:-2]

CASES = (
    Case("empty", lambda: b"", 0),
    Case("banner-only", lambda: BANNER, 0),
    Case("garbage", garbage, 0, dead=frozenset({"UNKNOWN_FORMAT"}), undecided=64 << 10),
    Case(
        "garbage-then-log",
        lambda: garbage() + entries(3),
        3,
        dead=frozenset({"UNKNOWN_FORMAT", "NO_ENTRY_START"}),
    ),
    Case("line-of-16-mb", lambda: BANNER + one_line(16_000_000) + entries(2), 3),
    Case(
        "line-of-64-mb",
        lambda: BANNER + entries(1) + one_line(64_000_000) + entries(2),
        3,
        dead=frozenset({"INCOMPLETE"}),
        gaps=frozenset({"oversize"}),
    ),
    Case("windows-line-ends", lambda: (BANNER + entries(5)).replace(b"\n", b"\r\n"), 5),
    Case("no-newline-at-the-end", lambda: entries(3)[:-1], 2, pending=len(entries(1)) - 1),
    Case(
        "truncated-last-entry",
        lambda: entries(2) + HALF_ENTRY + b"\n",
        2,
        pending=len(HALF_ENTRY) + 1,
    ),
    Case(
        "starts-in-mid-entry",
        lambda: entries(3)[150:],
        2,
        dead=frozenset({"NO_ENTRY_START"}),
    ),
    Case("restart-within", lambda: BANNER + entries(2) + BANNER + entries(2), 4),
    Case(
        "nul-and-invalid-utf-8",
        lambda: entry(b"SELECT '\xff\xfe\0\xc3' FROM plain") + entries(1),
        2,
    ),
    Case(
        "of-2014",
        lambda: entry(b"SELECT 1", YEAR_2014) + entries(1),
        1,
        dead=frozenset({"TIME_OUT_OF_RANGE"}),
    ),
    Case(
        "of-2040",
        lambda: entry(b"SELECT 1", YEAR_2040) + entries(1),
        1,
        dead=frozenset({"TIME_OUT_OF_RANGE"}),
    ),
)


@pytest.fixture(scope="module")
def written(stack: Stack, tmp_path_factory) -> dict[str, LogManifest]:
    """Writes and watches all files together; returns manifests with their bytes, without entries."""
    directory = tmp_path_factory.mktemp("bad")
    logs = {case.name: _write(case, directory / f"{case.name}.log") for case in CASES}
    stack.watch_sources(
        [Source(f"bad-{name}", "slowlog", Path(log.path), "bad") for name, log in logs.items()]
    )
    return logs


def _write(case: Case, path: Path) -> LogManifest:
    path.write_bytes(case.content())
    log = LogManifest(f"bad-{case.name}", "slowlog", "mysql-8.0", str(path.resolve()))
    log.new_file(path.stat().st_ino).bytes = path.stat().st_size
    return log


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_byte_is_accounted_for(stack: Stack, written, case: Case):
    log = written[case.name]
    stored = Stored(stack.clickhouse(), log)
    expected = log.bytes - case.pending
    wait_until(
        lambda: expected - case.undecided <= sum(stored.bytes_by_kind().values()) <= expected,
        f"{expected} bytes of {log.bytes} to be accounted for",
    )
    wait_until(lambda: stored.event_count() == case.events, f"{case.events} events")
    wait_until(lambda: bool(stored.dead_letter_codes()) == bool(case.dead), "the dead letters")
    assert set(stored.dead_letter_codes()) <= case.dead
    assert stored.gap_kinds().keys() == case.gaps
