"""A backup of a stack under load: after the loss of everything, the restored data equals what was written."""

import os
import shutil
from collections.abc import Iterator

import pytest

from e2e.stack import Stack, wait_until
from e2e.wait_for_idle import assert_exact, tailrace
from e2e.workload.writer import Workload

FIRST_PORT = int(os.environ.get("BACKUP_FIRST_PORT", "24720"))
RATE = 100


@pytest.fixture
def stack(tmp_path) -> Iterator[Stack]:
    running = Stack(tmp_path / "home", FIRST_PORT)
    running.up()
    yield running
    running.down()


@pytest.mark.long
def test_nothing_is_lost_or_twice_after_a_restore(stack: Stack, tmp_path):
    saved = tmp_path / "backup"
    workload = Workload(tmp_path / "logs", 1, "saved")
    stack.watch(workload.logs)
    with workload.writing(RATE):
        wait_until(lambda: workload.entries >= 500, "entries before the backup")
        tailrace(stack, "backup", str(saved))
        before = workload.entries
        wait_until(lambda: workload.entries >= before + 500, "entries after the backup")
    assert_exact(stack, workload.manifests)

    stack.down()
    for name in ("data", "secrets", "sources.yaml"):
        path = stack.home.root / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    workload.write(500)
    workload.finish()
    tailrace(stack, "restore", str(saved))
    stack.up()
    assert_exact(stack, workload.manifests)
    tailrace(stack, "ledger")
