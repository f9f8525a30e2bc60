"""Stores what the servers of sources.yaml say of themselves: tailrace.snapshots to ClickHouse."""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tailrace import __version__, kafka, listing
from tailrace.accounts import password_name
from tailrace.parts.capture import tells
from tailrace.settings import REPOSITORY
from tailrace.stack.part import HEALTHY, Health, Part, Progress

ACCOUNT = "facts"
SILENT_SECONDS = 120
"""An insert into a ClickHouse that does not answer may take that long."""


class Facts(Part):
    """Runs tailrace.facts over the embedded Kafka and ClickHouse."""

    name = "facts"
    needs = ("kafka", "clickhouse")
    start_seconds = 60
    grace_seconds = 30

    def configured(self) -> bool:
        return tells(self.home, listing.servers_in_force(self.settings, self.home))

    def installed(self) -> bool:
        return True

    def install(self, progress: Progress) -> None:
        """Nothing to do: it needs only Python."""

    def prepare(self) -> None:
        self._beat().unlink(missing_ok=True)

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace.facts"),
            *kafka.as_arguments(self.settings, self.home, ACCOUNT),
            *("--clickhouse", f"http://127.0.0.1:{self.settings.port_clickhouse}"),
            *("--user", ACCOUNT, "--password-file", self.home.secret_file(password_name(ACCOUNT))),
            *("--beat", self._beat()),
        ]

    def environment(self) -> Mapping[str, str]:
        return {"PYTHONPATH": str(REPOSITORY / "embedded")}

    def health(self) -> Health:
        try:
            pulse = json.loads(self._beat().read_text())
        except FileNotFoundError:
            return Health.failing("nothing read yet")
        silent = time.time() - pulse["at"]
        if pulse["problem"] or silent > SILENT_SECONDS:
            return Health.failing(pulse["problem"] or f"silent for {silent:.0f} s")
        return HEALTHY

    def version(self) -> str:
        return __version__

    def address(self) -> str:
        return "-"

    def _beat(self) -> Path:
        return self.home.data(self.name) / "beat"
