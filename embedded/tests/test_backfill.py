"""The ranges that a backfill ships, their files, and the blocks."""

import gzip
import hashlib
import io
from pathlib import Path
from types import SimpleNamespace

import msgpack
import pytest
from confluent_kafka import TopicPartition

from tailrace.backfill import ranges, shipping
from tailrace.backfill.ranges import BackfillError, ByteRange, FileCandidate, FileLostError
from tailrace.backfill.shipping import Shipment
from tailrace.ledger.records import LogFile

FILE = LogFile("db-1", "slowlog", "/var/log/slow.log", 1)
OTHER_FILE = LogFile("db-1", "slowlog", "/var/log/slow.log", 2)


def gap(start: int, end: int, file: LogFile = FILE) -> ByteRange:
    return ByteRange(file, start, end, missing=end - start)


def dead_letter(start: int, end: int, file: LogFile = FILE) -> ByteRange:
    return ByteRange(file, start, end)


def candidate(path: Path, head_length: int = 100) -> FileCandidate:
    head = path.read_bytes()[:head_length]
    digest = hashlib.md5(head, usedforsecurity=False).hexdigest()
    return FileCandidate("shop", str(path), path.stat().st_ino, len(head), digest)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "slow.log"
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(100)))
    return path


def test_the_halves_of_cut_entries_are_shipped_with_the_gap():
    found = ranges.with_edges([gap(100, 200)], [dead_letter(80, 100), dead_letter(200, 230)])

    assert found == [ByteRange(FILE, 80, 230, missing=100)]


def test_gaps_with_only_a_dead_letter_between_them_are_joined():
    found = ranges.with_edges([gap(100, 200), gap(250, 300)], [dead_letter(200, 250)])

    assert found == [ByteRange(FILE, 100, 300, missing=150)]


def test_dead_letters_elsewhere_are_not_shipped():
    elsewhere = [dead_letter(10, 20), dead_letter(300, 310), dead_letter(200, 210, OTHER_FILE)]

    assert ranges.with_edges([gap(100, 200)], elsewhere) == [gap(100, 200)]


CENSUS = {"instance": "db-1", "cluster": "shop", "path": "/a", "inode": 7, "head_length": 0, "head_hash": ""}


def test_a_census_may_contain_bytes_for_text():
    message = msgpack.packb({name.encode(): value for name, value in CENSUS.items()})

    assert ranges.census_record(message) == CENSUS


@pytest.mark.parametrize(
    "message",
    [b"", b"\xc1", msgpack.packb([1]), msgpack.packb({"log": '{"instance": "db-1", "ino'})],
    ids=["empty", "no-msgpack", "no-map", "torn"],
)
def test_a_message_that_is_no_census_is_skipped(message):
    assert ranges.census_record(message) is None


def test_only_complete_lines_of_a_growing_file_are_shipped(tmp_path):
    path = tmp_path / "slow.log"
    path.write_bytes(b"one\ntwo\nthr")

    assert shipping.whole_lines(ByteRange(FILE, 4, 11, 7, may_grow=True), path) == ByteRange(
        FILE, 4, 8, 7, may_grow=True
    )
    assert shipping.whole_lines(gap(4, 11), path) == gap(4, 11)


def test_a_line_that_is_being_written_is_not_lost(tmp_path):
    path = tmp_path / "slow.log"
    path.write_bytes(b"one\ntw")

    found = shipping.whole_lines(ByteRange(FILE, 4, 6, 2, may_grow=True), path)

    assert found.start == found.end


def test_the_line_feed_after_an_unshipped_carriage_return_is_no_line(tmp_path):
    path = tmp_path / "slow.log"
    path.write_bytes(b"one\r\ntwo\r\n")

    found = shipping.whole_lines(ByteRange(FILE, 4, 10, 6, may_grow=True), path)

    assert (found.start, found.end) == (5, 10)
    assert shipping.whole_lines(ByteRange(FILE, 4, 5, 1, may_grow=True), path).end == 5


def test_a_block_contains_complete_lines_up_to_its_limit():
    content = b"".join(b"%03d\n" % number for number in range(20))
    found = list(shipping.blocks(io.BytesIO(content), 8, 60, maximum=10))

    assert all(block.endswith(b"\n") and len(block) <= 10 for _, block in found)
    assert b"".join(block for _, block in found) == content[8:60]
    assert [offset for offset, _ in found] == list(range(8, 60, 8))


def test_a_line_longer_than_a_block_is_a_separate_block():
    content = b"a\n" + b"x" * 50 + b"\nb\n"

    assert [len(block) for _, block in shipping.blocks(io.BytesIO(content), 0, len(content), maximum=10)] == [
        2,
        51,
        2,
    ]


def test_a_last_line_without_line_feed_is_shipped_unchanged():
    assert list(shipping.blocks(io.BytesIO(b"a\nbc"), 0, 4)) == [(0, b"a\nbc")]


def test_a_file_that_is_too_short_is_refused():
    with pytest.raises(BackfillError, match="the file ends at 4, before offset 10"):
        list(shipping.blocks(io.BytesIO(b"a\nbc"), 0, 10))


def test_finds_a_file_at_the_path_of_the_census(log):
    assert ranges.locate(candidate(log)) == log


def test_finds_a_file_that_was_rotated_since(log):
    seen = candidate(log)
    rotated = log.rename(log.with_name("slow.log.1"))
    log.write_bytes(b"another file\n")

    assert ranges.locate(seen) == rotated


def test_a_file_that_has_grown_is_still_the_same(log):
    seen = candidate(log, head_length=4096)
    with log.open("ab") as file:
        file.write(b"more\n")

    assert ranges.locate(seen) == log


def test_a_missing_file_is_an_error_that_asks_for_a_copy(log):
    seen = candidate(log)
    log.rename(log.parent.parent / "elsewhere.log")

    with pytest.raises(BackfillError, match="is no longer on this machine; give a copy with --file"):
        ranges.locate(seen)


def test_a_reused_inode_is_not_taken_for_the_file(log):
    seen = candidate(log)
    with log.open("r+b") as file:
        file.write(b"LINE")

    with pytest.raises(BackfillError, match="is another file: its first 100 bytes differ"):
        ranges.locate(seen)


def test_a_compressed_copy_is_accepted(log, tmp_path):
    packed = tmp_path / "slow.log.3.gz"
    packed.write_bytes(gzip.compress(log.read_bytes()))
    ranges.check(packed, candidate(log))

    with ranges.opened(packed) as content:
        assert list(shipping.blocks(content, 7, 14)) == [(7, b"line 1\n")]


def test_a_message_identifies_its_bytes(log):
    message = Shipment(gap(7, 14), log, "shop", "mysql-slow", "Europe/Berlin").message(7, b"line 1\n")

    assert message.pop("@timestamp") > 0
    assert message == {
        "cluster": "shop",
        "instance": "db-1",
        "source": "slowlog",
        "format": "mysql-slow",
        "tz": "Europe/Berlin",
        "path": str(log),
        "offset": 7,
        "log": b"line 1\n",
        "backfill": True,
        "generation": 1,
    }


class GrowingTopic:
    """Stands in for a consumer of the census topic that receives messages after its ends were read."""

    def __init__(self, messages: list[tuple[int, int, dict]], ends: dict[int, int]) -> None:
        self.messages = iter(messages)
        self.ends = ends

    def list_topics(self, topic: str, timeout: float) -> SimpleNamespace:
        return SimpleNamespace(topics={topic: SimpleNamespace(partitions=self.ends)})

    def get_watermark_offsets(self, partition: TopicPartition, timeout: float) -> tuple[int, int]:
        return 0, self.ends[partition.partition]

    def assign(self, partitions: list[TopicPartition]) -> None: ...

    def poll(self, timeout: float) -> SimpleNamespace:
        partition, offset, record = next(self.messages)
        return SimpleNamespace(
            error=lambda: None,
            partition=lambda: partition,
            offset=lambda: offset,
            value=lambda: msgpack.packb(record),
        )

    def close(self) -> None: ...


def test_a_census_that_arrives_meanwhile_is_ignored(monkeypatch):
    later = {**CENSUS, "path": "/var/log/later.log"}
    topic = GrowingTopic([(0, 0, CENSUS), (0, 1, later), (1, 0, CENSUS)], ends={0: 1, 1: 1})
    monkeypatch.setattr(ranges, "Consumer", lambda settings: topic)
    kafka = SimpleNamespace(settings=lambda base: base)

    assert list(ranges._census_records(kafka)) == [CENSUS, CENSUS]


def packed(log: Path, name: str) -> Path:
    """Compresses a log beside it, as logrotate does: the copy has another inode."""
    path = log.with_name(name)
    path.write_bytes(gzip.compress(log.read_bytes()))
    return path


@pytest.fixture
def long_log(tmp_path: Path) -> Path:
    path = tmp_path / "slow.log.1"
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(1000)))
    return path


def test_a_file_that_was_compressed_since_is_found_by_its_head(long_log):
    recorded = candidate(long_log, head_length=4096)
    copy = packed(long_log, "slow.log.2.gz")
    long_log.unlink()

    assert ranges.locate(recorded) == copy


def test_a_compressed_copy_is_used_if_another_file_has_the_inode(long_log):
    recorded = candidate(long_log, head_length=4096)
    copy = packed(long_log, "slow.log.2.gz")
    long_log.write_bytes(b"another file\n" * 1000)

    assert ranges.locate(recorded) == copy


@pytest.mark.parametrize(("head_length", "copies"), [(100, 1), (4096, 2)], ids=["short-head", "ambiguous"])
def test_a_compressed_file_that_could_be_another_one_is_not_used(long_log, head_length, copies):
    recorded = candidate(long_log, head_length)
    for number in range(copies):
        packed(long_log, f"slow.log.{number + 2}.gz")
    long_log.unlink()

    with pytest.raises(FileLostError, match="no longer on this machine"):
        ranges.locate(recorded)


def test_a_truncated_compressed_file_is_skipped(long_log):
    recorded = candidate(long_log, head_length=4096)
    copy = packed(long_log, "slow.log.2.gz")
    copy.write_bytes(copy.read_bytes()[:50])
    long_log.unlink()

    with pytest.raises(FileLostError):
        ranges.locate(recorded)
