"""Runs the processes of all channels: one or more for each, so that no channel waits for another one."""

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from tailrace.forwarding.status import Status
from tailrace.outputs.event_channels import EventChannel

POLL_SECONDS = 1
GRACE_SECONDS = 25


class Service:
    """Starts `python -m tailrace.forwarding --channel NAME` for each process.

    `words` are its other options; `directory` contains a file with the status of each process.
    """

    def __init__(
        self,
        channels: Sequence[EventChannel],
        words: Sequence[str],
        directory: Path,
        report: Callable[[str], None],
    ) -> None:
        self._channels = channels
        self._directory = directory
        self._words = words
        self._report = report
        self._stop = threading.Event()

    def stop(self) -> None:
        """Ends `run` after the running requests."""
        self._stop.set()

    def run(self) -> bool:
        """Returns true when stopped, false when a process has ended without being told to."""
        processes = {
            (channel.name, number): self._start(channel.name, number)
            for channel in self._channels
            for number in range(channel.processes)
        }
        while not self._stop.wait(POLL_SECONDS) and not self._ended(processes):
            pass
        is_ordered = self._stop.is_set()
        for process in processes.values():
            process.terminate()
        for process in processes.values():
            _end(process)
        return is_ordered

    def _start(self, channel: str, number: int) -> subprocess.Popen:
        Status(status_file(self._directory, channel, number)).beat(0)
        words = ["--channel", channel, "--number", str(number), *self._words]
        return subprocess.Popen([sys.executable, "-m", "tailrace.forwarding", *words])

    def _ended(self, processes: dict[tuple[str, int], subprocess.Popen]) -> bool:
        ended = [key for key, process in processes.items() if process.poll() is not None]
        for channel, number in ended:
            self._report(f"{channel}: process {number} ended with {processes[channel, number].returncode}")
        return bool(ended)


def _end(process: subprocess.Popen) -> None:
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def status_file(directory: Path, channel: str, number: int) -> Path:
    """Returns the file with the status of a process."""
    return directory / f"{channel}.{number}.json"
