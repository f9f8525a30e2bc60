"""Computes fingerprints for the dashboards."""

import os
from collections.abc import Sequence
from pathlib import Path

from tailrace.config import command_line_jar
from tailrace.config.home import Home
from tailrace.fingerprint.client import FingerprintService, NoServiceError, RefusedError
from tailrace.programs.program import HEALTHY, Health, Program

MAIN_CLASS = "io.tailrace.cli.service.FingerprintServer"
JVM_OPTIONS = (
    *("-XX:+UseSerialGC", "-Xms8m", "-Xmx48m", "-Xss512k"),
    *("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=16m", "-XX:-UsePerfData"),
    "-XX:+ExitOnOutOfMemoryError",
)
"""A JVM that mostly waits: it takes about 60 MB."""


class FingerprintProgram(Program):
    """Configures the fingerprint service of stream-jobs/cli."""

    name = "fingerprint"

    def command(self) -> Sequence[str | Path]:
        jar = self._jar()
        classes = command_line_jar.class_archive_options(jar)
        # Relative to the directory in which it runs: the address of a socket has at most 107 bytes.
        socket = os.path.relpath(socket_of(self.home), self.home.data(self.name))
        return ["java", *JVM_OPTIONS, *classes, "-cp", jar, MAIN_CLASS, socket]

    def _jar(self) -> Path:
        """The jar of the command line. Raises OSError."""
        jar = command_line_jar.installed(self.settings)
        if jar is None:
            raise FileNotFoundError("no jar of the command line is installed")
        return jar

    def health(self) -> Health:
        try:
            FingerprintService(socket_of(self.home)).fingerprint("SELECT 1")
        except (NoServiceError, RefusedError) as error:
            return Health.failing(str(error))
        return HEALTHY


def socket_of(home: Home) -> Path:
    """The socket of the service."""
    return home.run / "fingerprint.sock"
