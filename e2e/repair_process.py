"""Runs the program that repairs gaps, `python -m tailrace.repair`, for the logs of one test."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from e2e.stack import Stack, source_of, wait_until
from e2e.workload.writer import LogWriter
from tailrace.config.resources import PYTHON_PATH
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local import kafka as local_kafka
from tailrace_local.components.repair import ACCOUNT, KAFKA_ACCOUNT


class RunningRepair:
    """The process, and the lines that it has written."""

    def __init__(self, process: subprocess.Popen, log: Path) -> None:
        self._process = process
        self._log = log

    def await_line(self, text: str) -> None:
        """Waits for a line with this text. Raises AssertionError with all lines if there is none."""
        try:
            wait_until(lambda: text in self._log.read_text(), f"a line with {text!r}")
        except AssertionError as error:
            raise AssertionError(f"{error}; it wrote:\n{self._log.read_text()}") from None

    def kill(self) -> None:
        """Ends it without a chance to clean up."""
        self._process.kill()
        self._process.wait()


@contextmanager
def repairing(stack: Stack, logs: Iterable[LogWriter], directory: Path) -> Iterator[RunningRepair]:
    """Repairs these logs, with seconds for the times that are minutes in the product."""
    directory.mkdir(exist_ok=True)
    sources, output = directory / "sources.yaml", directory / "repair.log"
    listed = [{**asdict(log), "path": str(log.path)} for log in map(source_of, logs)]
    sources.write_text(json.dumps(listed))
    output.write_text("")
    command = [
        *(sys.executable, "-m", "tailrace.repair", "--sources", sources),
        *local_kafka.as_arguments(stack.settings, stack.home, KAFKA_ACCOUNT),
        *local_clickhouse.as_arguments(stack.settings, stack.home, ACCOUNT),
        *("--host", directory.name, "--interval", "1", "--calm", "2", "--heartbeat-file", directory / "beat"),
    ]
    environment = {**os.environ, "PYTHONPATH": str(PYTHON_PATH)}
    with output.open("ab") as file:
        process = subprocess.Popen(
            [str(word) for word in command], stdout=file, stderr=subprocess.STDOUT, env=environment
        )
        try:
            yield RunningRepair(process, output)
        finally:
            process.kill()
            process.wait()
