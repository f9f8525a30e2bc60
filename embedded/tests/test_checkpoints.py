"""The checkpoint that a job resumes from, in directories with Flink's layout."""

import os
from pathlib import Path

import pytest

from tailrace_local import checkpoints
from tailrace_local.checkpoints import HEADER, MAGIC, CheckpointError

OLD_RUN, NEW_RUN, DEAD_RUN = "a" * 32, "b" * 32, "c" * 32
LAYOUT_VERSION = 4


def take(path: Path, number: int, completed: float = 1000) -> Path:
    path.mkdir(parents=True)
    metadata = path / "_metadata"
    metadata.write_bytes(HEADER.pack(MAGIC, LAYOUT_VERSION, number) + b"state")
    os.utime(metadata, (completed, completed))
    return path


def test_there_is_none_at_first(tmp_path):
    assert checkpoints.newest(tmp_path) is None
    assert checkpoints.newest(tmp_path / "absent") is None


def test_the_newest_of_all_runs_is_found_by_number_and_not_by_name(tmp_path):
    take(tmp_path / OLD_RUN / "chk-9", 9)
    take(tmp_path / DEAD_RUN / "chk-10", 10)
    newest = take(tmp_path / NEW_RUN / "chk-100", 100)

    assert checkpoints.newest(tmp_path).path == newest


def test_a_savepoint_counts_like_a_checkpoint(tmp_path):
    take(tmp_path / OLD_RUN / "chk-9", 9)
    savepoint = take(tmp_path / "savepoint-aaaaaa-0123456789ab", 10)

    assert checkpoints.newest(tmp_path).path == savepoint


def test_of_equal_numbers_the_later_one_counts(tmp_path):
    """Two fresh starts both count from 1."""
    later = take(tmp_path / OLD_RUN / "chk-5", 5, completed=2000)
    take(tmp_path / NEW_RUN / "chk-5", 5, completed=1000)

    assert checkpoints.newest(tmp_path).path == later


def test_a_checkpoint_without_metadata_is_incomplete(tmp_path):
    take(tmp_path / OLD_RUN / "chk-7", 7)
    (tmp_path / OLD_RUN / "chk-8").mkdir()

    assert checkpoints.newest(tmp_path).id == 7


def test_dead_runs_are_removed_when_a_later_one_has_completed_a_checkpoint(tmp_path):
    take(tmp_path / OLD_RUN / "chk-7", 7)
    take(tmp_path / "savepoint-aaaaaa-0123456789ab", 7)
    take(tmp_path / NEW_RUN / "chk-8", 8)
    (tmp_path / DEAD_RUN / "chk-9").mkdir(parents=True)
    checkpoints.remove_dead_runs(tmp_path)

    assert {path.name for path in tmp_path.iterdir()} == {NEW_RUN, "savepoint-aaaaaa-0123456789ab"}


def test_a_run_that_completed_nothing_removes_nothing(tmp_path):
    (tmp_path / NEW_RUN / "chk-1").mkdir(parents=True)
    checkpoints.remove_dead_runs(tmp_path)

    assert (tmp_path / NEW_RUN).exists()


def test_a_rewind_removes_later_checkpoints(tmp_path):
    for number in (3, 4, 5):
        take(tmp_path / OLD_RUN / f"chk-{number}", number)
    checkpoints.remove_later(tmp_path, checkpoints.completed(tmp_path)[1])

    assert [found.id for found in checkpoints.completed(tmp_path)] == [3, 4]


@pytest.mark.parametrize("content", [b"", b"no checkpoint", b"x" * 100])
def test_an_invalid_checkpoint_is_reported(tmp_path, content):
    take(tmp_path / OLD_RUN / "chk-1", 1).joinpath("_metadata").write_bytes(content)

    with pytest.raises(CheckpointError, match="chk-1/_metadata is not the metadata of a Flink checkpoint"):
        checkpoints.completed(tmp_path)
