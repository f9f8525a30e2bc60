"""Captures the servers of sources.yaml, as a component of the one-machine stack."""

from tailrace import __version__
from tailrace.programs.capture import START_SECONDS, CaptureProgram
from tailrace.sources.sources_file import Listed
from tailrace_local.supervisor.component import Component, Progress


class Capture(CaptureProgram, Component):
    """Runs collectors/capture over the servers of sources.yaml."""

    start_seconds = START_SECONDS

    def reads(self, listed: Listed) -> object:
        return set(listed.servers)

    def installed(self) -> bool:
        return True

    def install(self, progress: Progress) -> None:
        """Nothing to do: it needs only Python and what bin/tailrace needs."""

    def version(self) -> str:
        return __version__

    def address(self) -> str:
        return str(self.spool())
