"""Runs the supervisor in the background: `python -m tailrace_local.stack.daemon`.

`tailrace up` starts it.
"""

import asyncio
import os
import subprocess
import sys
import time

from tailrace.config.home import Home
from tailrace.config.resources import PYTHON_PATH
from tailrace.config.settings import Settings
from tailrace.errors import NotRunningError, ReportedError
from tailrace_local.stack.assembly import assemble
from tailrace_local.supervisor import control
from tailrace_local.supervisor.supervisor import AlreadyRunningError, Supervisor, is_locked

START_SECONDS = 20
POLL_SECONDS = 0.05


class DaemonError(ReportedError):
    """The supervisor did not start; the message contains its last output."""


def spawn(settings: Settings, home: Home) -> None:
    """Starts the supervisor in a new session; returns when it accepts requests. Raises DaemonError.

    Waits for a supervisor that is about to end.
    """
    deadline = time.monotonic() + START_SECONDS
    while is_locked(home) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    errors = home.log("supervisor-errors")
    with errors.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            env={**os.environ, **settings.environment(), "PYTHONPATH": str(PYTHON_PATH)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd=home.root,
        )
    while not _answers(home):
        if process.poll() is not None or time.monotonic() > deadline:
            last = (errors.read_text().strip().splitlines() or ["no output"])[-1]
            raise DaemonError(f"the supervisor did not start: {last} (log: {errors})")
        time.sleep(POLL_SECONDS)


def run(settings: Settings, home: Home) -> None:
    """Runs the supervisor in this process until it is stopped. Raises AlreadyRunningError."""
    asyncio.run(_run(settings, home))


async def _run(settings: Settings, home: Home) -> None:
    await Supervisor(lambda: assemble(settings, home), settings, home).run()


def _answers(home: Home) -> bool:
    try:
        control.status(home)
    except NotRunningError:
        return False
    return True


if __name__ == "__main__":
    chosen = Settings.from_environment()
    try:
        run(chosen, Home(chosen.home))
    except AlreadyRunningError as error:
        sys.exit(str(error))
