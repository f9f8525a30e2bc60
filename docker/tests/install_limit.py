"""The time limit of tests that may be the first ones to install what they need."""

from collections.abc import Iterable
from pathlib import Path

import pytest

INSTALL_SECONDS = 1800
"""On a new machine the first test also builds programs, which takes minutes, and longer beside other work."""


def allow_installation(items: Iterable[pytest.Item], directory: Path) -> None:
    """Sets the limit of the tests below a directory that have none."""
    for item in items:
        if directory in item.path.parents and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(INSTALL_SECONDS))
