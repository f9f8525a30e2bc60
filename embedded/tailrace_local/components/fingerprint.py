"""The fingerprint service, as a component of the one-machine stack."""

from pathlib import Path

from tailrace import __version__
from tailrace.programs.fingerprint import FingerprintProgram, socket_of
from tailrace_local import java_build
from tailrace_local.supervisor.component import Component, Progress


class Fingerprint(FingerprintProgram, Component):
    """Runs the service with the jar that is built from the sources."""

    tools = ("java", "mvn")
    start_seconds = 60

    def installed(self) -> bool:
        return java_build.are_built(self.settings)

    def install(self, progress: Progress) -> None:
        java_build.build(self.settings, progress)

    def _jar(self) -> Path:
        return java_build.jar(self.settings, "cli.jar")

    def version(self) -> str:
        return __version__

    def address(self) -> str:
        return str(socket_of(self.home))
