"""Runs commands of `tailrace` in the process of the tests.

A new process imports the command line again, which costs 0.3 to 0.6 CPU-seconds a call.
`embedded/tests/test_cli.py`, `test_alert_way.py` and `test_secure.py` start `bin/tailrace` itself.
"""

import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from subprocess import CompletedProcess
from typing import NoReturn

import pytest

from tailrace.config.resources import PYTHON_PATH
from tailrace_local.cli import main

REPLACING = ("execv", "execve", "execvp", "execvpe")
INHERITED = ("HOME", "PATH", "USER", "LOGNAME", "XDG_CACHE_HOME")


def run(settings: Mapping[str, str], *words: object) -> CompletedProcess[str]:
    """Runs one command with the settings of a stack; returns its exit code and what it printed.

    Raises AssertionError for a command that replaces its process: those of Java, `logs` and `doctor`.
    """
    command = [str(word) for word in words]
    out, errors = io.StringIO(), io.StringIO()
    with _environment(settings), _in_this_process(), redirect_stdout(out), redirect_stderr(errors):
        try:
            code = main(command)
        except SystemExit as end:  # argparse ends the process after a help
            code = int(end.code or 0)
    return CompletedProcess(command, int(code), out.getvalue(), errors.getvalue())


@contextmanager
def _in_this_process() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        for name in REPLACING:
            patched.setattr(os, name, _refuse)
        yield


def _refuse(*command: object) -> NoReturn:
    """The tests would end here without a failure."""
    raise AssertionError(f"the command needs a process of its own: {command}")


@contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Replaces the environment of this process by that of a user of `bin/tailrace`."""
    before = dict(os.environ)
    inherited = {name: before[name] for name in INHERITED if name in before}
    os.environ.clear()
    os.environ.update({**inherited, "PYTHONPATH": str(PYTHON_PATH), **settings})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
