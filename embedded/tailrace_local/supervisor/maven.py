"""Runs Maven for the installation of a component."""

import threading
from collections.abc import Callable
from pathlib import Path

from tailrace_local.supervisor import cache
from tailrace_local.supervisor.component import Progress

_one_at_a_time = threading.Lock()
"""Components are installed in parallel, but Maven's local repository does not support two writers."""


def run(progress: Progress, pom: Path, *goals: str) -> None:
    """Runs goals on a pom. Raises InstallError."""
    with _one_at_a_time:
        progress.run(["mvn", "--quiet", "--batch-mode", "--file", pom, *goals])


def copy_dependencies(
    progress: Progress, pom: Path, entry: Path, change: Callable[[Path], None] = lambda _: None
) -> None:
    """Copies the jars of a pom with their dependencies into a cache entry. Raises InstallError.

    `change` gets the directory with the jars before it becomes the entry.
    """
    with cache.build(entry) as draft:
        run(
            progress,
            pom,
            "dependency:copy-dependencies",
            "-DincludeScope=runtime",
            f"-DoutputDirectory={draft}",
        )
        change(draft)
