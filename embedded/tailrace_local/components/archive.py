"""The archive of closed days, as a component of the one-machine stack."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tailrace.archive import session
from tailrace.archive.session import MissingPackagesError
from tailrace.config.settings import SettingsError
from tailrace.programs.archive import ArchiveProgram
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local.supervisor.component import PythonComponent

ACCOUNT = "admin"


class Archive(ArchiveProgram, PythonComponent):
    """Runs tailrace.archive with the local ClickHouse, if TAILRACE_ARCHIVE is set."""

    needs = ("clickhouse",)
    start_seconds = 60

    def check(self) -> None:
        try:
            session.require_packages()
        except MissingPackagesError as error:
            raise SettingsError(f"TAILRACE_ARCHIVE: {error}") from None

    def command(self) -> Sequence[str | Path]:
        settings = self.settings
        return [
            *(sys.executable, "-m", "tailrace.archive"),
            *("--home", self.home.root),
            *("--archive", settings.archive),
            *("--endpoint", settings.archive_endpoint),
            *("--region", settings.archive_region),
            *("--secret-file", settings.archive_secret_file),
            *("--delay", str(settings.archive_delay)),
            *local_clickhouse.as_arguments(settings, self.home, ACCOUNT),
            *("--heartbeat-file", self._heartbeat()),
        ]

    def address(self) -> str:
        return self.settings.archive
