"""A supervisor with tiny components in a process of its own, for tests that start and kill it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from e2e.limits import LIMIT_SECONDS, warn_if_long
from tailrace.config.home import Home
from tailrace.errors import NotRunningError
from tailrace_local.supervisor import control, procfs

FAKE_STACK = Path(__file__).with_name("fake_stack.py")


class RunningStack:
    """A separate supervisor process, which tests may kill."""

    def __init__(self, home: Path, components: tuple[str, ...], poll: int) -> None:
        self.home = Home(home)
        embedded = str(FAKE_STACK.parents[1])
        self.process = subprocess.Popen(
            [sys.executable, FAKE_STACK, home, *components],
            env={**os.environ, "PYTHONPATH": embedded, "SOURCES_POLL": str(poll)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def status(self, component: str) -> control.ComponentStatus:
        found = control.status(self.home).component(component)
        assert found is not None
        return found

    def await_status(
        self, component: str, condition: Callable[[control.ComponentStatus], bool]
    ) -> control.ComponentStatus:
        seen: list[control.ComponentStatus] = []

        def is_there() -> bool:
            seen[:] = [self.status(component)] if self._reachable() else []
            return bool(seen) and condition(seen[0])

        wait_until(is_there, f"{component} to get there")
        return seen[0]

    def await_healthy(self, component: str) -> control.ComponentStatus:
        return self.await_status(component, lambda status: status.is_healthy)

    def ended(self) -> int:
        return self.process.wait(LIMIT_SECONDS)

    def _reachable(self) -> bool:
        try:
            control.status(self.home)
        except NotRunningError:
            return False
        return True


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Returns when the condition is true. Raises AssertionError after LIMIT_SECONDS."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < LIMIT_SECONDS, f"waited {LIMIT_SECONDS} s for {what}"
        time.sleep(0.02)
    warn_if_long(time.monotonic() - began, what)


def is_running(pid: int) -> bool:
    process = procfs.read(pid)
    return process is not None and not process.is_zombie
