"""Tests the directories of tests in memory."""

import subprocess
import sys
from pathlib import Path

import memory_directory
import pytest


@pytest.fixture
def memory(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(memory_directory, "MEMORY", tmp_path / "memory")
    monkeypatch.setattr(memory_directory, "NEEDED_BYTES", 1)
    memory_directory.MEMORY.mkdir()
    return memory_directory.MEMORY


def test_the_logs_are_kept_and_nothing_else(memory, tmp_path):
    with memory_directory.in_memory(tmp_path / "kept") as directory:
        assert directory.parent == memory
        (directory / "home" / "logs").mkdir(parents=True)
        (directory / "home" / "logs" / "kafka.log").write_text("said")
        (directory / "home" / "data").mkdir()
    assert [*memory.iterdir()] == []
    assert [each.name for each in (tmp_path / "kept" / "home").iterdir()] == ["logs"]
    assert (tmp_path / "kept" / "home" / "logs" / "kafka.log").read_text() == "said"


def test_a_machine_with_little_memory_uses_the_disk(memory, tmp_path, monkeypatch):
    monkeypatch.setattr(memory_directory, "NEEDED_BYTES", 1 << 60)
    with memory_directory.in_memory(tmp_path) as directory:
        assert directory == tmp_path


def test_directories_of_killed_runs_are_removed_unless_a_stack_runs_there(memory, tmp_path):
    ended = subprocess.Popen(["true"])
    ended.wait()
    left, used = (memory / f"{memory_directory.PREFIX}{ended.pid}-{name}" for name in ("left", "used"))
    for each in (left, used):
        (each / "home").mkdir(parents=True)
    running = subprocess.Popen([sys.executable, "-c", "input()"], cwd=used / "home", stdin=subprocess.PIPE)
    try:
        with memory_directory.in_memory(tmp_path):
            assert not left.exists()
            assert used.exists()
    finally:
        running.communicate()
