"""Which checkpoint a job resumes from, found in directories as Flink leaves them."""

import os
from pathlib import Path

import pytest

from tailrace import checkpoints
from tailrace.checkpoints import CheckpointError


def take(directory: Path, job: str, number: int, completed: float = 1000) -> Path:
    path = directory / job / f"chk-{number}"
    path.mkdir(parents=True)
    (path / "_metadata").write_bytes(b"state")
    os.utime(path / "_metadata", (completed, completed))
    return path


def test_there_is_none_at_first(tmp_path):
    assert checkpoints.newest(tmp_path) is None
    assert checkpoints.newest(tmp_path / "absent") is None


def test_the_newest_of_all_runs_is_found_by_number_and_not_by_name(tmp_path):
    take(tmp_path, "aaaa", 9)
    take(tmp_path, "ffff", 10)
    path = take(tmp_path, "bbbb", 100)

    assert checkpoints.newest(tmp_path).path == path


def test_of_equal_numbers_the_later_one_counts(tmp_path):
    """Two fresh starts both count from 1."""
    take(tmp_path, "aaaa", 5, completed=2000)
    take(tmp_path, "bbbb", 5, completed=1000)

    assert checkpoints.newest(tmp_path).job == "aaaa"


def test_one_without_metadata_was_never_completed(tmp_path):
    take(tmp_path, "aaaa", 7)
    (tmp_path / "aaaa" / "chk-8").mkdir()

    assert checkpoints.newest(tmp_path).id == 7


def test_dead_runs_are_removed_when_a_later_one_has_completed_a_checkpoint(tmp_path):
    take(tmp_path, "old", 7)
    take(tmp_path, "new", 8)
    (tmp_path / "never" / "chk-9").mkdir(parents=True)
    checkpoints.remove_dead_runs(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_a_run_that_completed_nothing_removes_nothing(tmp_path):
    (tmp_path / "new" / "chk-1").mkdir(parents=True)
    checkpoints.remove_dead_runs(tmp_path)

    assert (tmp_path / "new").exists()


def test_forgets_what_came_after_a_rewind(tmp_path):
    take(tmp_path, "aaaa", 3)
    chosen = take(tmp_path, "aaaa", 4)
    take(tmp_path, "aaaa", 5)
    (checkpoint,) = [found for found in checkpoints.completed(tmp_path) if found.path == chosen]
    checkpoints.remove_later(tmp_path, checkpoint)

    assert [found.id for found in checkpoints.completed(tmp_path)] == [3, 4]


def test_what_is_no_checkpoint_is_named(tmp_path):
    (tmp_path / "job" / "chk-x").mkdir(parents=True)
    (tmp_path / "job" / "chk-x" / "_metadata").touch()

    with pytest.raises(CheckpointError, match="chk-x does not look like a checkpoint"):
        checkpoints.completed(tmp_path)
