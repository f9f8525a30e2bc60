"""Tests of the census against real files."""

import hashlib
import json
import os
import resource
import signal
import threading
import time
from pathlib import Path

import census
import pytest

CONTRACTS = Path(__file__).resolve().parents[2] / "schemas" / "contracts"
CANONICAL_PATHS = json.loads((CONTRACTS / "canonical_path.json").read_text())


def slow_log(path) -> census.Source:
    return census.Source("shop", "db1", "slowlog", str(path))


@pytest.mark.parametrize(("path", "canonical"), [tuple(case.values()) for case in CANONICAL_PATHS])
def test_canonical_path(path, canonical):
    assert census.canonical_path(path) == canonical


def test_rotated_siblings_are_found_but_not_compressed_or_foreign_ones(tmp_path):
    for name in (
        "slow.log",
        "slow.log.1",
        "slow.log-20260101",
        "slow.log.2.gz",
        "slower.log",
        "slow.log.bak",
    ):
        (tmp_path / name).write_text(name)
    found = [path.rpartition("/")[2] for path in census.watched_files(slow_log(tmp_path / "slow.log"))]
    assert found == ["slow.log", "slow.log-20260101", "slow.log.1"]


def test_siblings_are_found_while_the_live_file_is_missing(tmp_path):
    (tmp_path / "slow.log.1").touch()
    assert len(list(census.watched_files(slow_log(tmp_path / "slow.log")))) == 1


def test_glob_patterns(tmp_path):
    for name in ("a.log", "b.log", "b.log.1", "c.txt"):
        (tmp_path / name).touch()
    assert len(list(census.watched_files(slow_log(tmp_path / "*.log")))) == 3


def test_record_of_a_file(tmp_path):
    content = b"\x00\xff\r\n" * 2500 + b"half a line"
    path = tmp_path / "slow.log"
    path.write_bytes(content)
    before = time.time()
    record = census.record_of(slow_log(path), str(path))
    assert record.size == 10_011
    assert record.head_length == 4096
    assert record.head_hash == hashlib.md5(content[:4096]).hexdigest()
    assert record.inode == path.stat().st_ino
    assert before - 0.001 <= record.at <= time.time() + 0.001  # `at` is rounded to milliseconds


@pytest.mark.parametrize(
    ("content", "hashed"),
    [(b"", 0), (b"half", 0), (b"whole\nhalf", 6), (b"a\n\n", 3), (b"a\n" + b"x" * 9000 + b"\n", 2)],
)
def test_only_whole_lines_of_the_head_are_hashed(tmp_path, content, hashed):
    path = tmp_path / "slow.log"
    path.write_bytes(content)
    record = census.record_of(slow_log(path), str(path))
    assert record.head_length == hashed
    assert record.head_hash == hashlib.md5(content[:hashed]).hexdigest()


@pytest.mark.parametrize(
    "make", [os.mkdir, os.mkfifo, lambda path: None], ids=["directory", "pipe", "missing"]
)
def test_paths_that_are_no_regular_files_are_omitted(tmp_path, make):
    path = tmp_path / "slow.log"
    make(path)
    assert census.record_of(slow_log(path), str(path)) is None


def test_unreadable_file_is_reported_and_the_others_counted(tmp_path, capsys):
    (tmp_path / "a.log").symlink_to("a.log")  # a loop: cannot be opened, not even by root
    (tmp_path / "b.log").write_text("x")
    records = census.take_census(slow_log(tmp_path / "*.log"))
    assert [record.size for record in records] == [1]
    assert "cannot read" in capsys.readouterr().err


def test_a_census_in_the_middle_of_a_rename_is_taken_again(tmp_path, monkeypatch):
    path = tmp_path / "slow.log"
    path.write_text("one\n")
    record_of = census.record_of
    looked = []

    def rename_meanwhile(source, name):
        if not looked:
            path.rename(f"{path}.1")
            path.write_text("another\n")
        looked.append(name)
        return record_of(source, name)

    (tmp_path / "slow.log.1").touch()
    monkeypatch.setattr(census, "record_of", rename_meanwhile)
    before = {path.stat().st_ino}
    found = census.take_census(slow_log(path))
    assert {record.inode for record in found} == before | {path.stat().st_ino}


@pytest.fixture
def running(tmp_path):
    """A census of slow.log with hourly rounds; returns a function that reads the written records."""
    stopped = threading.Event()
    spool = census.Spool(tmp_path / "spool")
    source = slow_log(tmp_path / "slow.log")
    thread = threading.Thread(target=census.run, args=([source], spool, 3600, stopped))

    def written() -> list[tuple[str, int]]:
        lines = [line for file in spool.directory.glob("*slowlog*") for line in file.open()]
        return [(record["path"].rpartition("/")[2], record["inode"]) for record in map(json.loads, lines)]

    thread.start()
    yield written
    stopped.set()
    thread.join()


def wait_for(condition):
    deadline = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_every_rename_of_a_live_file_is_recorded_immediately(tmp_path, running):
    path = tmp_path / "slow.log"
    inodes = []
    for number in range(1, 4):
        path.write_text("x\n")
        inodes.append(path.stat().st_ino)
        wait_for(lambda: ("slow.log", inodes[-1]) in running())
        path.rename(f"{path}.{number}")
        wait_for(lambda number=number: (f"slow.log.{number}", inodes[-1]) in running())
    assert len(set(inodes)) == 3


def test_while_nothing_is_renamed_there_are_only_rounds(tmp_path, running):
    (tmp_path / "slow.log").write_text("x\n")
    wait_for(running)
    count = len(running())
    with (tmp_path / "slow.log").open("a") as file:
        file.write("more\n")
    time.sleep(3 * census.RENAME_POLL_SECONDS)  # nothing must happen, for which no condition can be awaited
    assert len(running()) == count


@pytest.mark.parametrize("case", json.loads((CONTRACTS / "spool.json").read_text()))
def test_spool(tmp_path, case):
    path = tmp_path / "slow.log"
    path.touch()
    spool = census.Spool(tmp_path / "spool")
    spooled = spool.directory / f"census-slowlog-{case['hour']}.jsonl"
    if case["before"] is not None:
        spooled.write_text(case["before"])
    other = spool.directory / "census-slowlog-20200101T00.jsonl"
    other.touch()
    os.utime(other, (0, case["now"] - case["age"]))

    spool.append("slowlog", census.take_census(slow_log(path)), case["now"])

    before = (case["before"] or "") + case["separator"]
    assert spooled.read_text().startswith(before)
    line, _, rest = spooled.read_text().removeprefix(before).partition("\n")
    assert (json.loads(line)["instance"], rest) == ("db1", "")
    assert other.exists() == case["remains"]


def test_a_line_of_which_a_part_was_written_is_an_error(tmp_path):
    path = tmp_path / "slow.log"
    path.touch()
    spool = census.Spool(tmp_path / "spool")
    records = census.take_census(slow_log(path))
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limit[1]))
    try:
        with pytest.raises(OSError, match="only 10 of "):
            spool.append("slowlog", records, time.time())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, ignored)


def test_sources_from_environment():
    found = census.sources_from_environment(
        {"TAILRACE_INSTANCE": "db1", "TAILRACE_SLOWLOG_PATH": "/a, /b", "TAILRACE_AUDIT_PATH": "/c"}
    )
    assert [(source.source, source.path) for source in found] == [
        ("slowlog", "/a"),
        ("slowlog", "/b"),
        ("audit", "/c"),
    ]
    assert {source.cluster for source in found} == {"db1"}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "7",
        '{"path": "/a"}',
        '[{"path": "/a"}]',
        '[{"paht": "/a"}]',
        '[{"cluster": "a", "instance": "a", "source": "binlog", "path": "/a"}]',
    ],
)
def test_invalid_list_of_sources(tmp_path, capsys, content):
    file = tmp_path / "sources.json"
    file.write_text(content)
    assert census.main(["--once", "--sources", str(file), "--spool", str(tmp_path / "spool")]) == 2
    assert "expected a JSON list of sources" in capsys.readouterr().err


def test_once_fails_when_the_spool_cannot_be_written(tmp_path, capsys):
    sources = tmp_path / "sources.json"
    sources.write_text("[]")
    spool = tmp_path / "spool"
    (spool / time.strftime("census-slowlog-%Y%m%dT%H.jsonl", time.gmtime())).mkdir(parents=True)
    assert census.main(["--once", "--sources", str(sources), "--spool", str(spool)]) == 1
    assert "cannot write" in capsys.readouterr().err
