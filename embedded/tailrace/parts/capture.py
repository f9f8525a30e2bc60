"""Looks at the servers of sources.yaml; its spool is shipped by Fluent Bit."""

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tailrace import __version__, sources
from tailrace.settings import REPOSITORY
from tailrace.sources import Server
from tailrace.stack.part import HEALTHY, Health, Part, Progress
from tailrace.stack.template import write_private

PROGRAM = REPOSITORY / "collectors" / "capture"
SILENT_POLLS = 10
"""A server that is away is looked at less often, and a look may take a while."""


def write_servers(file: Path, servers: list[Server]) -> None:
    """Writes the list that collectors/capture reads."""
    listed = [
        {
            "cluster": server.cluster,
            "instance": server.instance,
            "dsn": server.dsn,
            "password_file": str(server.password_file or ""),
        }
        for server in servers
    ]
    write_private(file, json.dumps(listed, indent=2))


class Capture(Part):
    """Runs collectors/capture over the servers of sources.yaml."""

    name = "capture"
    start_seconds = 120

    def configured(self) -> bool:
        return sources.names_servers(self.settings.sources)

    def installed(self) -> bool:
        return True

    def install(self, progress: Progress) -> None:
        """Nothing to do: it needs only Python and what bin/tailrace needs."""

    def prepare(self) -> None:
        write_servers(self._servers(), sources.load_servers(self.settings.sources))
        self.spool().mkdir(mode=0o700, exist_ok=True)
        self._beat().unlink(missing_ok=True)

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace_capture", "snapshots"),
            *("--servers", self._servers(), "--spool", self.spool()),
            *("--state", self.home.data(self.name) / "state", "--beat", self._beat()),
            *("--poll", str(self.settings.capture_poll), "--full", str(self.settings.capture_interval)),
        ]

    def environment(self) -> Mapping[str, str]:
        return {"PYTHONPATH": str(PROGRAM)}

    def health(self) -> Health:
        """That a server is away is shown by its facts and in the log: it is nothing that a restart mends."""
        try:
            silent = time.time() - os.stat(self._beat()).st_mtime
        except FileNotFoundError:
            return Health.failing("no server looked at yet")
        if silent < SILENT_POLLS * self.settings.capture_poll + self.start_seconds:
            return HEALTHY
        return Health.failing(f"no server looked at for {silent:.0f} s")

    def version(self) -> str:
        return __version__

    def address(self) -> str:
        return str(self.spool())

    def spool(self) -> Path:
        """The directory of the hourly files that Fluent Bit tails."""
        return self.home.data(self.name) / "spool"

    def _servers(self) -> Path:
        return self.home.data(self.name) / "servers.json"

    def _beat(self) -> Path:
        return self.home.data(self.name) / "beat"
