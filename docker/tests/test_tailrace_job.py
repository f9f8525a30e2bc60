"""docker/flink/tailrace-job resumes from and removes what tailrace_local.checkpoints does."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from docker.tests.conftest import DOCKER
from tailrace_local import checkpoints

JOB = DOCKER / "flink" / "tailrace-job"
RUNS = ("0" * 31 + "a", "0" * 31 + "b")


def metadata(directory: Path, number: int, written: float, magic: int = checkpoints.MAGIC) -> None:
    """A completed checkpoint of Flink, with the files that the entrypoint reads."""
    directory.mkdir(parents=True)
    file = directory / checkpoints.METADATA
    file.write_bytes(checkpoints.HEADER.pack(magic, 4, number) + b"state")
    os.utime(file, (written, written))


def start(directory: Path, tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Runs the script with an entry point that prints its arguments, a line each."""
    entry_point = tmp_path / "entry-point"
    entry_point.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    entry_point.chmod(0o755)
    environment = {**os.environ, "FLINK_ENTRYPOINT": str(entry_point)}
    command = [JOB, "io.tailrace.Job", "/etc/job.yaml", directory, *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def in_order(directory: Path) -> None:
    metadata(directory / RUNS[0] / "chk-9", 9, 1000)
    metadata(directory / RUNS[0] / "chk-10", 10, 1001)
    metadata(directory / RUNS[1] / "chk-11", 11, 1002)


def same_id_written_later(directory: Path) -> None:
    metadata(directory / RUNS[0] / "chk-300", 300, 2000.25)
    metadata(directory / RUNS[1] / "chk-300", 300, 2000.5)


def savepoint_is_newest(directory: Path) -> None:
    metadata(directory / RUNS[0] / "chk-255", 255, 1000)
    metadata(directory / "savepoint-0a-1", 256, 1)


def large_ids(directory: Path) -> None:
    metadata(directory / RUNS[0] / "chk-1", 2**40 + 1, 1)
    metadata(directory / RUNS[1] / "chk-2", 2**40, 2)


def with_an_incomplete_one(directory: Path) -> None:
    metadata(directory / RUNS[0] / "chk-7", 7, 1000)
    (directory / RUNS[1] / "chk-8").mkdir(parents=True)
    (directory / "shared").mkdir()


@pytest.mark.parametrize(
    "lay", [in_order, same_id_written_later, savepoint_is_newest, large_ids, with_an_incomplete_one]
)
def test_it_resumes_and_removes_as_the_embedded_stack(lay, tmp_path):
    directory, twin = tmp_path / "checkpoints", tmp_path / "twin"
    lay(directory)
    shutil.copytree(directory, twin)
    newest = checkpoints.newest(twin)
    checkpoints.remove_dead_runs(twin)

    started = start(directory, tmp_path)

    assert started.returncode == 0, started.stderr
    restored = f"file://{directory / newest.path.relative_to(twin)}"
    assert started.stdout.splitlines()[-2:] == ["--restore.path", restored]
    assert sorted(path.relative_to(directory) for path in directory.rglob("*")) == sorted(
        path.relative_to(twin) for path in twin.rglob("*")
    )


def test_it_starts_without_state_where_there_is_none(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    started = start(tmp_path / "checkpoints", tmp_path)
    assert started.stdout.splitlines() == [
        "standalone-job",
        *("--job-classname", "io.tailrace.Job"),
        *("--checkpoint.dir", f"file://{tmp_path}/checkpoints"),
        *("--config", "/etc/job.yaml"),
    ]


def test_it_refuses_what_is_no_checkpoint_and_removes_nothing(tmp_path):
    directory = tmp_path / "checkpoints"
    metadata(directory / RUNS[0] / "chk-1", 1, 1000)
    metadata(directory / RUNS[1] / "chk-2", 2, 1000, magic=0)
    started = start(directory, tmp_path)
    assert started.returncode == 1
    assert "is not the metadata of a Flink checkpoint" in started.stderr
    assert started.stdout == ""
    assert (directory / RUNS[0] / "chk-1" / checkpoints.METADATA).exists()


def test_the_first_of_the_jobs_arguments_is_no_abbreviation_of_flinks(tmp_path):
    """Flink's parser, commons-cli, completes abbreviations up to the first argument that it does not know."""
    flinks = ("configDir", "job-classname", "job-id", "fromSavepoint", "allowNonRestoredState", "claimMode")
    (tmp_path / "checkpoints").mkdir()
    first = start(tmp_path / "checkpoints", tmp_path).stdout.splitlines()[3].removeprefix("--")
    assert not any(option.startswith(first) for option in flinks)
    assert any(option.startswith("config") for option in flinks)  # which is why it is not the first
