"""Exactly once from file to rollup: what is stored equals what was written, whatever is killed."""

import os
from pathlib import Path

import pytest

from e2e.stack import wait_until
from e2e.wait_for_idle import assert_exact


def test_steady(stack, watched):
    workload = watched(seed=1)
    with workload.writing(rate=400):
        wait_until(lambda: workload.entries >= 4000, 60, "4,000 entries to be written")
    assert_exact(stack, workload.manifests)


@pytest.mark.parametrize("component", ["fluentbit", "kafka", "flink", "clickhouse"])
def test_kill(stack, watched, component):
    workload = watched(seed=2)
    with workload.writing(rate=300):
        wait_until(lambda: workload.entries >= 600, 60, "entries before the kill")
        stack.kill(component)
        stack.await_healthy()
        before = workload.entries
        wait_until(lambda: workload.entries >= before + 600, 60, "entries after the kill")
    assert_exact(stack, workload.manifests)


def test_kill_while_busy_with_a_backlog(stack, watched):
    workload = watched(seed=3)
    workload.write(20_000)
    for component in ("flink", "clickhouse", "flink"):
        stack.kill(component)
        stack.await_healthy()
    workload.write(1000)
    workload.finish()
    assert_exact(stack, workload.manifests, seconds=120)


def test_writer_pauses_in_an_entry_and_the_job_is_restored_meanwhile(stack, watched):
    workload = watched(seed=4)
    for _ in range(3):
        workload.write(200)
        workload.finish()
        workload.tear()
        stack.kill("flink")
        stack.await_healthy()
    workload.write(100)
    workload.finish()
    assert_exact(stack, workload.manifests)


def test_a_job_writes_no_copy_of_flinks_jars(stack):
    """A killed job would leave one of 21 MB."""
    descriptors = Path(f"/proc/{stack.status('flink').pid}/fd").iterdir()
    jars = {path for path in map(os.readlink, descriptors) if "flink-rpc-akka" in path}
    assert len(jars) == 1
    assert all(path.startswith(str(stack.settings.cache)) for path in jars), jars
