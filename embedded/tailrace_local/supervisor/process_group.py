"""A component's process group: started by launch.py, its output copied to a log, ended completely."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tailrace_local.supervisor.logfile import RotatingLog

_LAUNCH = Path(__file__).with_name("launch.py")
_CHUNK_BYTES = 65536
_LAST_BYTES = 1000


class Child:
    """The main process of a component and the group that it leads. Belongs to the event loop of the main
    thread.

    A pidfd reports its end, independent of the end of its output: a child process may hold the output open
    after the main process has died, and then asyncio's subprocesses never end (gh-119710).
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], directory: Path, log: RotatingLog
    ) -> None:
        self._log = log
        self._last_output = b""
        self._ended = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._output, output_end = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_LAUNCH), str(os.getpid()), *command],
                stdin=subprocess.DEVNULL,
                stdout=output_end,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=directory,
                process_group=0,
            )
        finally:
            os.close(output_end)
        self._pidfd = os.pidfd_open(self._process.pid)
        self._loop.add_reader(self._pidfd, self._on_end)
        os.set_blocking(self._output, False)
        self._loop.add_reader(self._output, self._copy_output)

    @property
    def pid(self) -> int:
        return self._process.pid

    async def wait(self) -> int:
        """Waits for the end of the main process. Returns its exit code, -N when signal N ended it."""
        await self._ended.wait()
        return self._process.returncode

    def last_line(self) -> str:
        """The last line of output so far, without its line end; empty if there was none."""
        if chunk := self._read_output():  # the complete content of the pipe
            self._keep(chunk)
        lines = self._last_output.decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    async def end(self, stop_signal: signal.Signals, grace_seconds: float) -> None:
        """Sends the stop signal to the main process, waits its grace, then kills the rest of the group."""
        if not self._ended.is_set():
            self._process.send_signal(stop_signal)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.wait(), grace_seconds)
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        await self.wait()
        self._close_output()

    def _on_end(self) -> None:
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        self._process.wait()
        self._ended.set()

    def _copy_output(self) -> None:
        if chunk := self._read_output():
            self._keep(chunk)
        else:
            self._loop.remove_reader(self._output)

    def _close_output(self) -> None:
        """Reads the rest of the pipe after all writers have ended."""
        self._loop.remove_reader(self._output)
        while chunk := self._read_output():
            self._keep(chunk)
        os.close(self._output)

    def _keep(self, chunk: bytes) -> None:
        self._log.write(chunk)
        self._last_output = (self._last_output + chunk)[-_LAST_BYTES:]

    def _read_output(self) -> bytes:
        try:
            return os.read(self._output, _CHUNK_BYTES)
        except BlockingIOError:
            return b""
