"""Captures the servers of sources.yaml, as a component of the one-machine stack."""

from tailrace.programs.capture import START_SECONDS, CaptureProgram
from tailrace.sources.sources_file import Listed
from tailrace_local.supervisor.component import PythonComponent


class Capture(CaptureProgram, PythonComponent):
    """Runs collectors/capture over the servers of sources.yaml."""

    start_seconds = START_SECONDS

    def reads(self, listed: Listed) -> object:
        return set(listed.servers)

    def address(self) -> str:
        return str(self.spool())
