"""The evidence service, as a component of the one-machine stack."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tailrace.evidence import signing
from tailrace.evidence.reviews import ACCOUNT
from tailrace.programs.evidence import EvidenceProgram, socket_of
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local.supervisor.component import PythonComponent


class Evidence(EvidenceProgram, PythonComponent):
    """Runs tailrace.evidence with the local ClickHouse."""

    needs = ("clickhouse",)
    start_seconds = 60

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace.evidence"),
            *local_clickhouse.as_arguments(self.settings, self.home, ACCOUNT),
            *("--key", signing.key_file(self.home)),
            *("--directory", self.home.data(self.name)),
            *("--access", self.settings.access),
            *("--socket", socket_of(self.home)),
        ]

    def address(self) -> str:
        return str(socket_of(self.home))
