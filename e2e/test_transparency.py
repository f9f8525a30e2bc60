"""The transparency log and its witness as processes: kill -9, an outage, a witness that was rolled back."""

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.health import await_alert, await_cleared
from e2e.stack import Stack, wait_until
from e2e.wait_for_idle import tailrace
from tailrace.transparency import keys, status
from tailrace.transparency.log import STORE
from tailrace.transparency.status import LogStatus
from tailrace.transparency.store import Store

FIRST_PORT = int(os.environ.get("TRANSPARENCY_FIRST_PORT", "24300"))
COMPONENTS = ("clickhouse", "witness", "transparency")


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    home = tmp_path / "home"
    running = Stack(home, FIRST_PORT, COMPONENTS, port_witness=str(FIRST_PORT + 6), transparency_interval="1")
    running.up()
    yield running
    running.down()


def read(stack: Stack) -> LogStatus:
    return status.read(keys.directory(stack.home))


def await_leaves(stack: Stack, size: int) -> None:
    wait_until(lambda: read(stack).published_size == size, f"{size} published leaves")


def insert(stack: Stack) -> None:
    at = int(time.time()) // 3600 * 3600 - 86400
    stack.clickhouse().insert("tailrace.error_events", [{"message": "m", "event_time": f"{at}.0"}])


def has_aged(stack: Stack) -> bool:
    """Makes the newest checkpoint two hours old; returns False while the service holds the database."""
    try:
        store = Store(keys.directory(stack.home) / STORE)
        store.set({"published_at": time.time() - 7200})
        store.close()
    except sqlite3.OperationalError:
        return False
    return True


def test_kills_an_outage_and_a_rollback_of_the_witness(stack: Stack):
    (state,) = (stack.home.root / keys.WITNESS_DIRECTORY / "state").iterdir()
    empty = state.read_bytes()
    insert(stack)
    stack.kill("witness")
    stack.kill("transparency")
    await_leaves(stack, 1)

    with stack.without("witness"):
        state.write_bytes(empty)
        insert(stack)
        wait_until(lambda: read(stack).size == 2, "a leaf without a checkpoint")
        heartbeat = stack.home.data("transparency") / "beat"
        wait_until(
            lambda: "does not answer" in json.loads(heartbeat.read_text())["unsolved"],
            "the outage to be noticed",
        )
        assert read(stack).published_size == 1
        wait_until(lambda: has_aged(stack), "the database to be free")
        await_alert(stack, "TailraceTransparencyCheckpointOld")
    await_leaves(stack, 2)
    await_cleared(stack, "TailraceTransparencyCheckpointOld")

    await_alert(stack, "TailraceTransparencyIncident")
    assert "went back from 1 to 0 leaves" in tailrace(stack, "transparency", "status", expected=1)
    tailrace(stack, "transparency", "acknowledge", "--reason", "this test", "--actor", "ines")
    await_cleared(stack, "TailraceTransparencyIncident")
    assert "2 leaves" in tailrace(stack, "transparency", "status")
