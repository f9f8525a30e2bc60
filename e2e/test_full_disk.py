"""A component's disk fills up while logs grow, and is freed: the component reports it, and nothing is
lost."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import pytest

from e2e.conftest import FIRST_PORT
from e2e.health import await_alert, await_cleared
from e2e.stack import PARTS, PORTS, Stack, wait_until
from e2e.wait_for_idle import assert_exact, tailrace
from e2e.workload.writer import Workload

pytestmark = [pytest.mark.long, pytest.mark.timeout(1500)]

DISK_MEBIBYTES = 768
RATE = 100
ENTRIES_ON_FULL_DISK = 3000


@pytest.fixture(scope="module")
def cramped(tmp_path_factory) -> Iterator[Stack]:
    """A stack whose components have a small disk each."""
    home = tmp_path_factory.mktemp("cramped") / "home"
    stack = Stack(home, FIRST_PORT + len(PORTS))
    disks = [stack.home.data(component) for component in PARTS]
    try:
        for disk in disks:
            mount(disk)
        stack.up()
        yield stack
    finally:
        stack.down()
        for disk in disks:
            subprocess.run(["umount", disk], check=False, capture_output=True)


def mount(directory: Path, mebibytes: int = DISK_MEBIBYTES) -> None:
    """Mounts a small disk at the directory. Skips the test if that is not possible."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m,mode=0700", "tailrace", directory]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    except OSError as error:
        pytest.skip(f"no small disk can be mounted: {error}")
    if done.returncode:
        pytest.skip(f"no small disk can be mounted: {done.stderr.strip()}")


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """Keeps the disk full: also fills space that a component frees."""
    filler = disk / "filler"
    freed = Event()

    def fill() -> None:
        with filler.open("wb", buffering=0) as out:
            while not freed.wait(0.05):
                with suppress(OSError):
                    while not freed.is_set():
                        out.write(bytes(1 << 20))
                with suppress(OSError):
                    while not freed.is_set():
                        out.write(bytes(512))

    thread = Thread(target=fill)
    thread.start()
    try:
        yield
    finally:
        freed.set()
        thread.join()
        filler.unlink()


@pytest.mark.parametrize("component", PARTS)
def test_nothing_is_lost(cramped: Stack, tmp_path: Path, component: str):
    workload = Workload(tmp_path / "logs", 1, f"full-{component}")
    cramped.watch(workload.logs)
    with workload.writing(RATE):
        wait_until(lambda: workload.entries >= 300, "entries before the disk is full")
        with full(cramped.home.data(component)):
            before = workload.entries
            problem = f"the disk of {cramped.home.data(component)} is full"
            wait_until(
                lambda: problem in cramped.status(component).reason, f"{component} to say what is wrong"
            )
            wait_until(lambda: problem in _status(cramped), "the command to say it")
            await_alert(cramped, "TailraceDisk", component=component)
            if component == "flink":
                await_alert(cramped, "TailraceCheckpoints", job=component)
            if component == "clickhouse":
                await_alert(cramped, "TailraceCommitRetries")
            written = before + ENTRIES_ON_FULL_DISK
            wait_until(lambda: workload.entries >= written, "entries while the disk is full")
        wait_until(lambda: workload.entries >= written + 600, "entries after that")
    cramped.await_healthy()
    assert_exact(cramped, workload.manifests)
    await_cleared(cramped, "TailraceDisk", component=component)
    await_cleared(cramped, "TailraceCheckpoints", job="flink")
    await_cleared(cramped, "TailraceCommitRetries")
    tailrace(cramped, "ledger")


def _status(stack: Stack) -> str:
    return tailrace(stack, "status", expected=1)
