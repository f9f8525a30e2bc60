"""The census of the watched log files, as a component of the one-machine stack."""

from tailrace import __version__
from tailrace.programs.census import CensusProgram
from tailrace.sources.sources_file import Listed
from tailrace_local.supervisor.component import Component, Progress


class Census(CensusProgram, Component):
    """Runs collectors/census/census.py over the logs of sources.yaml."""

    start_seconds = 60

    def reads(self, listed: Listed) -> object:
        return {(log.cluster, log.instance, log.source, log.path) for log in listed.logs}

    def installed(self) -> bool:
        return True

    def install(self, progress: Progress) -> None:
        """Nothing to do: it is one file and needs only Python."""

    def version(self) -> str:
        return __version__

    def address(self) -> str:
        return str(self.spool())
