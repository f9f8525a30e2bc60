"""Pulls the logs of managed servers, as a component of the one-machine stack."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tailrace.programs.pull import PullProgram
from tailrace.sources.sources_file import Listed
from tailrace_local import kafka as local_kafka
from tailrace_local.supervisor.component import PythonComponent

KAFKA_ACCOUNT = "pull"


class Pull(PullProgram, PythonComponent):
    """Runs collectors/pull with the local Kafka."""

    needs = ("kafka",)
    start_seconds = 120
    grace_seconds = 60

    def reads(self, listed: Listed) -> object:
        return set(listed.pulled)

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace_pull", "run", "--name", "local"),
            *("--logs", self._list()),
            *local_kafka.as_arguments(self.settings, self.home, KAFKA_ACCOUNT),
            *("--heartbeat-file", self._heartbeat()),
        ]

    def address(self) -> str:
        return "-"
