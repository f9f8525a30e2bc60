"""Runs the supervisor in the background: `python -m tailrace.stack.daemon`, started by `tailrace up`."""

import asyncio
import os
import subprocess
import sys
import time

from tailrace.home import Home
from tailrace.settings import REPOSITORY, Settings
from tailrace.stack import control
from tailrace.stack.assembly import assemble
from tailrace.stack.supervisor import AlreadyRunningError, Supervisor, is_locked

START_SECONDS = 20
POLL_SECONDS = 0.05


class DaemonError(RuntimeError):
    """The supervisor did not come up; the message holds what it wrote last."""


def spawn(settings: Settings, home: Home) -> None:
    """Starts the supervisor in a session of its own; returns when it can be talked to. Raises DaemonError.

    Waits for one that is about to end.
    """
    deadline = time.monotonic() + START_SECONDS
    while is_locked(home) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    errors = home.log("supervisor-errors")
    with errors.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            env={**os.environ, **settings.environment(), "PYTHONPATH": str(REPOSITORY / "embedded")},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd=home.root,
        )
    while not _answers(home):
        if process.poll() is not None or time.monotonic() > deadline:
            last = (errors.read_text().strip().splitlines() or ["it wrote nothing"])[-1]
            raise DaemonError(f"the supervisor did not start: {last} (log: {errors})")
        time.sleep(POLL_SECONDS)


def run(settings: Settings, home: Home) -> None:
    """Runs the supervisor here until it is told to stop. Raises AlreadyRunningError."""
    asyncio.run(_run(settings, home))


async def _run(settings: Settings, home: Home) -> None:
    await Supervisor(lambda: assemble(settings, home), settings, home).run()


def _answers(home: Home) -> bool:
    try:
        control.status(home)
    except control.NotRunningError:
        return False
    return True


if __name__ == "__main__":
    chosen = Settings.from_environment()
    try:
        run(chosen, Home(chosen.home))
    except AlreadyRunningError as error:
        sys.exit(str(error))
