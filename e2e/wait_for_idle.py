"""Waits until the ledger of a workload is complete, backfills missing ranges, and compares."""

import os
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence

from e2e import commands
from e2e.comparison import differences, gap_kinds, gaps, incomplete
from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack, wait_until
from e2e.workload.manifest import LogManifest
from tailrace.config.resources import REPOSITORY

PROCESSES = (("up",), ("demo",), ("doctor",), ("rules", "backtest"))
"""Commands that start processes which outlive them, or replace their own process."""


def settle(stack: Stack, logs: Iterable[LogManifest], seconds: float = LIMIT_SECONDS) -> dict[str, int]:
    """Returns the missing bytes by kind of gap, once everything is accounted for."""
    logs = list(logs)
    clickhouse = stack.clickhouse()
    _await_empty(lambda: incomplete(clickhouse, logs), seconds, "every byte to be accounted for")
    return gap_kinds(clickhouse, logs)


def is_accounted_for(stack: Stack, logs: Iterable[LogManifest]) -> bool:
    return not incomplete(stack.clickhouse(), logs)


def backfill(stack: Stack, logs: Iterable[LogManifest]) -> None:
    """Ships every recorded gap of these logs again, with the command of users."""
    for instance in _instances(logs):
        tailrace(stack, "backfill", "--instance", instance)


def assert_ledger_shows_missing_bytes(stack: Stack, logs: Iterable[LogManifest]) -> None:
    """Checks that the ledger of each server balances, as it does with recorded gaps; --strict requires
    more."""
    for instance in _instances(logs):
        tailrace(stack, "ledger", "--instance", instance)
        tailrace(stack, "ledger", "--instance", instance, "--strict", expected=1)


def _instances(logs: Iterable[LogManifest]) -> list[str]:
    return sorted({log.instance for log in logs})


def tailrace(stack: Stack, *words: str, expected: int = 0, seconds: float = 2 * LIMIT_SECONDS) -> str:
    """Runs a command for the stack; returns its standard output. `seconds` limits only a separate process."""
    settings = stack.settings.environment()
    is_process = any(words[: len(each)] == each for each in PROCESSES)
    done = _process(settings, words, seconds) if is_process else commands.run(settings, *words)
    assert done.returncode == expected, (
        f"tailrace {' '.join(words)}: {done.returncode}: {done.stdout}{done.stderr}"
    )
    return done.stdout


def _process(
    settings: Mapping[str, str], words: Sequence[str], seconds: float
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [REPOSITORY / "bin" / "tailrace", *words],
        env={**os.environ, **settings},
        capture_output=True,
        check=False,
        text=True,
        timeout=seconds,
    )


def assert_exact(stack: Stack, logs: Iterable[LogManifest], seconds: float = LIMIT_SECONDS) -> None:
    """Settles, backfills if bytes are missing, and asserts that everything equals the manifest."""
    logs = list(logs)
    if settle(stack, logs, seconds):
        backfill(stack, logs)
    await_exact(stack, logs, seconds)


def await_exact(stack: Stack, logs: Iterable[LogManifest], seconds: float = LIMIT_SECONDS) -> None:
    """Asserts that everything equals the manifest within `seconds`."""
    logs = list(logs)
    clickhouse = stack.clickhouse()
    # Cheap checks first: the comparison runs fifteen queries.
    _await_empty(lambda: incomplete(clickhouse, logs) or gaps(clickhouse, logs), seconds, "all bytes")
    _await_empty(
        lambda: differences(clickhouse, logs),
        seconds,
        "the stored data to equal the manifest",
    )


def _await_empty(asked: Callable[[], list[str]], seconds: float, what: str) -> None:
    """Waits until no check fails; an error contains the last failures."""
    left: list[str] = ["nothing compared yet"]

    def is_empty() -> bool:
        left[:] = asked()
        return not left

    try:
        wait_until(is_empty, what, seconds=seconds)
    except AssertionError as error:
        raise AssertionError(f"{error}:\n  " + "\n  ".join(left[:40])) from None
