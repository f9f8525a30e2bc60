"""The census of the watched log files, as a component of the one-machine stack."""

from tailrace.programs.census import CensusProgram
from tailrace.sources.sources_file import Listed
from tailrace_local.supervisor.component import PythonComponent


class Census(CensusProgram, PythonComponent):
    """Runs collectors/census/census.py over the logs of sources.yaml."""

    start_seconds = 60

    def reads(self, listed: Listed) -> object:
        return {(log.cluster, log.instance, log.source, log.path) for log in listed.logs}

    def address(self) -> str:
        return str(self.spool())
