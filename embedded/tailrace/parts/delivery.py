"""The delivery of alerts by webhook and mail, where alerts.yaml says to whom."""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tailrace import __version__
from tailrace.accounts import password_name
from tailrace.delivery import config
from tailrace.parts import superset
from tailrace.settings import REPOSITORY
from tailrace.stack.part import HEALTHY, Health, Part, Progress

ACCOUNT = "delivery"
SILENT_SECONDS = 120
"""Several attempts that run into their timeouts take less than that."""


class Delivery(Part):
    """Runs tailrace.delivery over the embedded ClickHouse."""

    name = "delivery"
    needs = ("clickhouse",)
    start_seconds = 60
    grace_seconds = 30

    def configured(self) -> bool:
        return self.settings.alerts_config.exists()

    def check(self) -> None:
        config.load(self.settings.alerts_config)

    def installed(self) -> bool:
        return True

    def install(self, progress: Progress) -> None:
        """Nothing to do: it needs only Python."""

    def prepare(self) -> None:
        self.check()
        self._beat().unlink(missing_ok=True)

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace.delivery"),
            *("--config", self.settings.alerts_config),
            *("--clickhouse", f"http://127.0.0.1:{self.settings.port_clickhouse}"),
            *("--user", ACCOUNT, "--password-file", self.home.secret_file(password_name(ACCOUNT))),
            *("--dashboards", superset.address(self.settings, self.home)),
            *("--beat", self._beat()),
        ]

    def environment(self) -> Mapping[str, str]:
        return {"PYTHONPATH": str(REPOSITORY / "embedded")}

    def health(self) -> Health:
        try:
            pulses = json.loads(self._beat().read_text())
        except FileNotFoundError:
            return Health.failing("no pass yet")
        for channel, pulse in pulses.items():
            silent = time.time() - pulse["at"]
            if pulse["problem"]:
                return Health.failing(pulse["problem"])
            if silent > SILENT_SECONDS:
                return Health.failing(f"{channel}: no attempt has ended for {silent:.0f} s")
        return HEALTHY

    def version(self) -> str:
        return __version__

    def address(self) -> str:
        return str(self.settings.alerts_config)

    def _beat(self) -> Path:
        return self.home.data(self.name) / "beat"
