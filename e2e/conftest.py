"""Fixtures: one real stack for the whole session, and workloads that it watches."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
from stack import Stack
from workload.writer import Workload

FIRST_PORT = int(os.environ.get("E2E_FIRST_PORT", "21130"))


@pytest.fixture(scope="session")
def stack(tmp_path_factory) -> Iterator[Stack]:
    """A running stack without dashboards; stopped after the last test, its logs stay for pytest's three runs."""
    running = Stack(tmp_path_factory.mktemp("stack") / "home", FIRST_PORT)
    running.up()
    yield running
    running.down()


@pytest.fixture
def watched(stack: Stack, tmp_path: Path, request) -> Callable[..., Workload]:
    """Makes workloads whose logs the stack watches; instances are named after the test."""

    def make(seed: int, **options) -> Workload:
        name = request.node.name.removeprefix("test_").replace("[", "-").rstrip("]")
        workload = Workload(tmp_path / f"logs-{seed}", seed, f"{name}-{seed}", **options)
        stack.watch(workload.logs)
        return workload

    return make


@contextmanager
def writing(workload: Workload, rate: float) -> Iterator[None]:
    """Writes `rate` entries per second in the background; finishes every entry at the end."""
    stopped = Event()
    thread = Thread(target=workload.run, args=(rate, stopped))
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
