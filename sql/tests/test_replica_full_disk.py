"""One of three replicas has a full disk: inserts go on, and it catches up when it has space again."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from replica_load import assert_every_replica_has, block, insert, is_stored_again, rows_of, running_load
from replica_servers import Replicas, wait_until

from tailrace.clickhouse.client import ClickHouseError

pytestmark = [pytest.mark.replicas, pytest.mark.timeout(900)]

DISK_MEBIBYTES = 150
NOT_ENOUGH_SPACE = 243
TEXT_BYTES = 10_000
"""Of the random text of an event: a block takes 2 MB."""
COPIES_FAIL = "SELECT count() FROM system.replication_queue WHERE last_exception != ''"


class Disk:
    """A small disk, of which a file can take all free space."""

    def __init__(self, directory: Path) -> None:
        self._filler = directory / "filler"

    def fill(self) -> None:
        """Takes all space."""
        with self._filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))

    def free(self) -> None:
        self._filler.unlink(missing_ok=True)


@pytest.fixture(scope="module")
def small(three_replicas: Replicas, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    """The disk of the third replica."""
    directory = tmp_path_factory.mktemp("small")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MEBIBYTES}m,mode=0700", "tailrace", directory]
    done = subprocess.run(mount, check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no small disk can be mounted: {done.stderr.strip()}")
    three_replicas.empty_tables()
    third = three_replicas.servers[2]
    data = third.home.data("clickhouse")
    before = data.with_name("before")
    third.stop()
    data.rename(before)
    subprocess.run(["cp", "--archive", f"{before}/.", directory], check=True)
    data.symlink_to(directory)
    third.start()
    yield Disk(directory)
    third.stop()
    data.unlink()
    subprocess.run(["cp", "--archive", f"{directory}/.", data], check=True)
    subprocess.run(["umount", "--lazy", directory], check=True)
    third.start()


@pytest.fixture
def replicas(three_replicas: Replicas, small: Disk) -> Replicas:
    three_replicas.empty_tables()
    return three_replicas


def test_inserts_go_on_and_a_full_replica_catches_up(replicas, small):
    *others, third = replicas.servers
    with running_load(lambda: others) as load:
        load.await_stored(3, "before the disk is full")
        small.fill()
        load.await_stored(6, "while the disk is full")
        wait_until(lambda: third.number(COPIES_FAIL) > 0, "the full replica cannot copy parts")
        load.await_stored(3, "while it cannot copy")
        small.free()
        load.await_stored(3, "when it has space")
        load.finish()
    assert_every_replica_has(replicas, load.rows)


def test_a_block_that_a_full_replica_refuses_is_stored_once_by_another(replicas, small):
    first, _, third = replicas.servers
    small.fill()
    rows = [{**row, "explain": os.urandom(TEXT_BYTES).hex()} for row in block()]
    with pytest.raises(ClickHouseError) as error:
        insert(third.writer, rows)
    assert error.value.code == NOT_ENOUGH_SPACE
    assert third.number("SELECT count() FROM tailrace.query_events") == 0
    wait_until(lambda: is_stored_again(first.writer, rows), "another replica stores the block")
    with running_load(lambda: replicas.servers) as load:
        load.await_refusals(6)
        load.await_stored(6, "through the others")
        small.free()
        load.await_stored(3, "when it has space")
        load.finish()
    assert_every_replica_has(replicas, [*load.rows, *rows_of(rows)])
