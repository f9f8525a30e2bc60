"""The forwarding of events, as a component of the one-machine stack."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tailrace.programs.forwarding import ForwardingProgram
from tailrace_local import kafka as local_kafka
from tailrace_local.supervisor.component import PythonComponent

ACCOUNT = "forwarding"


class Forwarding(ForwardingProgram, PythonComponent):
    """Runs tailrace.forwarding with the local Kafka."""

    needs = ("kafka",)
    start_seconds = 60
    grace_seconds = 40

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace.forwarding"),
            *("--config", self.settings.alerts_config),
            *local_kafka.as_arguments(self.settings, self.home, ACCOUNT),
            *("--status-directory", self.home.data(self.name)),
        ]

    def address(self) -> str:
        return str(self.settings.alerts_config)
