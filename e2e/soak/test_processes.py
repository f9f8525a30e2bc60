"""What counts as memory of a process: a leak is found; page cache and an unused heap are none."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.soak import processes
from e2e.soak.__main__ import MOST_COLLECTIONS

MB = 1_000_000
GROWTH = 60 * MB
HEAP_BYTES = 128 << 20
HEAP = (f"-Xms{HEAP_BYTES}", f"-Xmx{HEAP_BYTES}")
SECONDS = 0.5


@contextmanager
def running(*command: object) -> Iterator[int]:
    """Yields the process id of a program after its first line of output."""
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert process.stdout.readline()
            yield process.pid
        finally:
            process.kill()


@contextmanager
def python(growth: str) -> Iterator[int]:
    code = f"import mmap, time\n{growth}\nprint('grown', flush=True)\ntime.sleep(1e6)"
    with running(sys.executable, "-c", code) as pid:
        yield pid


@pytest.fixture(scope="module")
def classes(tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("classes")
    subprocess.run(["javac", "-d", directory, Path(__file__).with_name("Growing.java")], check=True)
    return directory


@contextmanager
def java(classes: Path, growth: str) -> Iterator[int]:
    with running("java", "-XX:+UseSerialGC", *HEAP, "-cp", classes, "Growing", growth) as pid:
        yield pid


def memory(pid: int) -> int:
    return processes.anonymous_bytes(pid, processes.java_heap(pid))


def collections(pid: int) -> float:
    """Returns the share of collections in the processor time of a while, in percent."""
    before = processes.collection_seconds(pid)
    end = before[1] + SECONDS
    while processes.collection_seconds(pid)[1] < end:
        time.sleep(0.1)
    after = processes.collection_seconds(pid)
    return 100 * (after[0] - before[0]) / (after[1] - before[1])


def test_memory_that_a_program_keeps_counts():
    with python("") as pid:
        small = memory(pid)
    with python(f"kept = b'x' * {GROWTH}") as pid:
        assert memory(pid) - small > 0.9 * GROWTH


def test_pages_of_a_mapped_file_do_not_count(tmp_path):
    file = tmp_path / "mapped"
    file.write_bytes(bytes(GROWTH))
    with python("") as pid:
        small = memory(pid)
    growth = (
        f"file = open({str(file)!r}, 'rb')\n"
        "mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n"
        "sum(mapped[at] for at in range(0, len(mapped), mmap.PAGESIZE))"
    )
    with python(growth) as pid:
        assert memory(pid) - small < 0.1 * GROWTH


def test_files_and_threads_are_counted():
    with python("") as pid:
        files, threads = processes.open_files(pid), processes.threads(pid)
    growth = "import os, threading; kept = [os.pipe() for _ in range(20)]; " + (
        "[threading.Thread(target=threading.Event().wait, daemon=True).start() for _ in range(7)]"
    )
    with python(growth) as pid:
        assert processes.open_files(pid) - files == 40
        assert processes.threads(pid) - threads == 7


def test_ignored_files_are_not_counted(tmp_path):
    with python("") as pid:
        files = processes.open_files(pid)
    growth = (
        f"kept = [open({str(tmp_path)!r} + f'/{{n}}{{end}}', 'w') for n in range(5) for end in ('.log', '')]"
    )
    with python(growth) as pid:
        assert processes.open_files(pid) - files == 10
        assert processes.open_files(pid, ".log") - files == 5


def test_a_python_process_has_no_java_heap():
    with python("") as pid:
        assert processes.java_heap(pid) is None


def test_objects_that_die_are_no_leak(classes):
    with java(classes, "garbage") as pid:
        heap = processes.java_heap(pid)
        assert heap
        assert heap[1] - heap[0] == HEAP_BYTES
        assert processes.anonymous_bytes(pid, None) - processes.anonymous_bytes(pid, heap) > 0.2 * HEAP_BYTES
        assert collections(pid) < MOST_COLLECTIONS


def test_a_heap_that_is_full_is_collected_all_the_time(classes):
    with java(classes, "heap") as pid:
        assert collections(pid) > MOST_COLLECTIONS


def test_memory_outside_the_heap_counts(classes):
    with java(classes, "garbage") as pid:
        small = memory(pid)
    with java(classes, "direct") as pid:
        assert memory(pid) - small > 0.5 * HEAP_BYTES
