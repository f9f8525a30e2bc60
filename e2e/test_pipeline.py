"""Exactly once from file to rollup: the stored data equal the written data, whichever component is killed."""

import os
from pathlib import Path

import pytest

from e2e.stack import wait_until
from e2e.test_traces import Application, assert_stored_once, sending
from e2e.wait_for_idle import assert_exact
from e2e.workload.writer import Workload


def test_steady(stack, watched):
    workload = watched(seed=1)
    with workload.writing(rate=400):
        wait_until(lambda: workload.entries >= 4000, "4,000 entries to be written")
    assert_exact(stack, workload.manifests)


@pytest.mark.parametrize("component", ["fluentbit", "kafka"])
def test_kill(stack, watched, component):
    """The next test kills the job and ClickHouse."""
    workload, paused = watched(seed=2), watched(seed=4)
    pause_in_an_entry(paused)
    with workload.writing(rate=300):
        wait_until(lambda: workload.entries >= 600, "entries before the kill")
        stack.kill(component)
        stack.await_healthy()
        before = workload.entries
        wait_until(lambda: workload.entries >= before + 600, "entries after the kill")
    go_on(paused)
    assert_exact(stack, [*workload.manifests, *paused.manifests])


def test_kill_while_busy_with_a_backlog_and_spans(stack, watched):
    """Logs with a backlog, logs that grow, logs whose writers pause in an entry, and spans: a restore
    concerns all."""
    workload, growing, paused = watched(seed=3), watched(seed=2), watched(seed=5)
    spans, sent = Application("busy"), []
    with sending(stack, spans, sent), growing.writing(rate=40):
        await_messages(sent)
        workload.write(20_000)
        for component in ("flink", "clickhouse", "flink"):
            pause_in_an_entry(paused)
            await_entries(growing)
            stack.kill(component)
            stack.await_healthy()
            await_messages(sent)
        await_entries(growing)
    workload.write(1000)
    workload.finish()
    go_on(paused)
    assert_exact(stack, [*workload.manifests, *growing.manifests, *paused.manifests])
    assert_stored_once(stack, "busy", sum(sent))


def await_messages(sent: list[int]) -> None:
    """Waits for further messages with spans."""
    enough = len(sent) + 20
    wait_until(lambda: len(sent) >= enough, "messages between two kills")


def await_entries(workload: Workload) -> None:
    """Waits for further entries of a workload that is being written."""
    enough = workload.entries + 80
    wait_until(lambda: workload.entries >= enough, "entries between two kills")


def pause_in_an_entry(workload: Workload) -> None:
    """Leaves every log within an entry, after complete ones."""
    workload.write(200)
    workload.finish()
    workload.tear()


def go_on(workload: Workload) -> None:
    """Writes the rest of what is torn, and more."""
    workload.write(100)
    workload.finish()


def test_a_job_writes_no_copy_of_flinks_jars(stack):
    """A killed job would leave one of 21 MB."""
    descriptors = Path(f"/proc/{stack.status('flink').pid}/fd").iterdir()
    jars = {path for path in map(os.readlink, descriptors) if "flink-rpc-akka" in path}
    assert len(jars) == 1
    assert all(path.startswith(str(stack.settings.cache)) for path in jars), jars
