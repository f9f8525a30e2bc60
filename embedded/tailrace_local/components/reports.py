"""Reports by mail: Superset renders and sends each at its time to the recipients in reports.yaml."""

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.programs.program import HEALTHY, Health
from tailrace.reports import superset_reports
from tailrace.reports.superset_reports import ReportsConfig
from tailrace_local.components.superset import EMBEDDED, Superset
from tailrace_local.supervisor.component import Component, Progress

RUNNER = EMBEDDED / "reports.py"
SILENT_SECONDS = superset_reports.WORKING_SECONDS + 60


class Reports(Component):
    """Runs superset/reports.py with Superset's Python."""

    name = "reports"
    needs = ("superset",)
    os_packages: ClassVar = {
        "chromium": "/usr/bin/chromium",
        "chromium-driver": "/usr/bin/chromedriver",
        "fonts-liberation": "/usr/share/fonts/truetype/liberation",
    }
    start_seconds = 60

    def __init__(self, settings: Settings, home: Home) -> None:
        super().__init__(settings, home)
        self.superset = Superset(settings, home)

    def configured(self) -> bool:
        return self.settings.reports_config.exists()

    def check(self) -> None:
        self.config()

    def config(self) -> ReportsConfig:
        """Reads reports.yaml. Raises ConfigurationError."""
        return superset_reports.load(self.settings.reports_config)

    def installed(self) -> bool:
        return True

    def install(self, progress: Progress) -> None:
        """Nothing to do: Superset's packages contain everything that rendering and sending needs."""

    def prepare(self) -> None:
        """Creates and alters Superset's reports to match the file, and writes their schedule."""
        config = self.config()
        superset_reports.apply(self.superset.client(), config)
        self._heartbeat().unlink(missing_ok=True)
        self._plan().write_text(json.dumps(self._planned(config)))
        self._mail().write_text(json.dumps(self._mailed(config)))

    def command(self) -> Sequence[str | Path]:
        return [self.superset.python(), RUNNER, "timer", self._plan()]

    def environment(self) -> Mapping[str, str]:
        server = self.config().server
        authorities = {"SSL_CERT_FILE": str(server.ca_file)} if server.ca_file else {}
        certificate = self.superset.certificate_file()
        drawn = {"SUPERSET_CERTIFICATE_FILE": str(certificate)} if certificate else {}
        return {
            **self.superset.environment(),
            "SUPERSET_MAIL_FILE": str(self._mail()),
            **authorities,
            **drawn,
        }

    def send(self, name: str) -> str:
        """Renders and sends a report now, by its name in Superset; returns the reason of a failure, or
        nothing."""
        done = subprocess.run(
            [self.superset.python(), RUNNER, "send", name],
            env={**os.environ, **self.environment()},
            capture_output=True,
            text=True,
            check=False,
        )
        lines = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
        return lines[-1] if done.returncode else ""

    def health(self) -> Health:
        try:
            beat = json.loads(self._heartbeat().read_text())
        except FileNotFoundError:
            return Health.failing("it has not started waiting for the next report")
        silent = time.time() - beat["at"]
        return HEALTHY if silent <= SILENT_SECONDS else Health.failing(f"no heartbeat for {silent:.0f} s")

    def problem(self) -> str:
        """The reason why the last attempt at a report failed; it is retried."""
        problems = json.loads(self._heartbeat().read_text())["problems"]
        return "; ".join(f"{name}: {problem}" for name, problem in problems.items())

    def version(self) -> str:
        return self.superset.version()

    def address(self) -> str:
        return str(self.settings.reports_config)

    def _planned(self, config: ReportsConfig) -> dict:
        listed = [
            {"name": each.name, "schedule": each.schedule, "time_zone": each.time_zone}
            for each in config.subscriptions
        ]
        return {
            "state": str(self.home.data(self.name) / "sent.json"),
            "beat": str(self._heartbeat()),
            "reports": listed,
        }

    def _mailed(self, config: ReportsConfig) -> dict:
        server = config.server
        return {
            "host": server.host,
            "port": server.port,
            "security": server.security,
            "sender": server.sender,
            "user": server.user,
            "password_file": str(server.password_file or ""),
            "address": self.superset.address(),
            "dashboards": config.dashboards or self.superset.address(),
        }

    def _plan(self) -> Path:
        return self.home.data(self.name) / "plan.json"

    def _mail(self) -> Path:
        return self.home.data(self.name) / "mail.json"
