"""What several modules use."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from running_stack import RunningStack


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., RunningStack]]:
    """Starts supervisors, which end with the test."""
    stacks: list[RunningStack] = []

    def start_stack(*components: str, poll: int = 0) -> RunningStack:
        stacks.append(RunningStack(tmp_path / "home", components, poll))
        return stacks[-1]

    yield start_stack
    for stack in stacks:
        if stack.process.poll() is None:
            stack.process.kill()
        stack.process.communicate()
