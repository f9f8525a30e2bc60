"""The evidence service, as a component of the one-machine stack."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tailrace.cli.backtest import USER as BACKTEST_USER
from tailrace.credentials.names import password_name
from tailrace.evidence import signing
from tailrace.evidence.reviews import ACCOUNT
from tailrace.programs.evidence import EvidenceProgram, socket_of
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local import java_build
from tailrace_local.supervisor.component import PythonComponent


class Evidence(EvidenceProgram, PythonComponent):
    """Runs tailrace.evidence with the local ClickHouse."""

    needs = ("clickhouse",)
    start_seconds = 60

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace.evidence"),
            *("--home", self.home.root),
            *local_clickhouse.as_arguments(self.settings, self.home, ACCOUNT),
            *("--key", signing.key_file(self.home)),
            *("--directory", self.home.data(self.name)),
            *("--access", self.settings.access),
            *("--socket", socket_of(self.home)),
            *self._backtests(),
        ]

    def _backtests(self) -> list[str | Path]:
        """The command line's jar runs backtests of rules; without one, the dashboards name the command."""
        if not java_build.are_built(self.settings):
            return []
        password = self.home.secret_file(password_name(BACKTEST_USER))
        jar = java_build.jar(self.settings, "cli.jar")
        return ["--backtest-jar", jar, "--backtest-password-file", password]

    def address(self) -> str:
        return str(socket_of(self.home))
