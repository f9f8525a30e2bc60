"""Serves the metrics of all components in Prometheus' format, at one port."""

import sys
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

from tailrace.config.resources import PYTHON_PATH
from tailrace.programs.program import HEALTHY, Health
from tailrace_local.supervisor.component import PythonComponent


class Metrics(PythonComponent):
    """Runs tailrace_local.health next to the supervisor."""

    name = "metrics"
    start_seconds = 60

    def command(self) -> Sequence[str | Path]:
        listen = f"127.0.0.1:{self.settings.port_metrics}"
        return [sys.executable, "-m", "tailrace_local.health", "--listen", listen]

    def environment(self) -> Mapping[str, str]:
        return {"PYTHONPATH": str(PYTHON_PATH), **self.settings.environment()}

    def ports(self) -> Mapping[str, int]:
        return {"metrics": self.settings.port_metrics}

    def health(self) -> Health:
        """Sends a request without cost: it only checks whether the server responds."""
        try:
            urllib.request.urlopen(f"{self.address()}/", timeout=1).close()
        except urllib.error.HTTPError as error:
            return HEALTHY if error.code == 404 else Health.failing(f"answers with HTTP {error.code}")
        return Health.failing("unexpected response")

    def address(self) -> str:
        return f"http://127.0.0.1:{self.settings.port_metrics}"
