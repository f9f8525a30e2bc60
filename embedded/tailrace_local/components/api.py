"""The REST API, as a component of the one-machine stack."""

import ssl
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

from tailrace.config.resources import PYTHON_PATH
from tailrace.config.settings import CLOSED, SettingsError
from tailrace.credentials.certificates import Certificates
from tailrace.programs import evidence
from tailrace.programs.program import HEALTHY, Health
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local.supervisor.component import PythonComponent

CERTIFICATE = "superset"
"""Of the dashboards: it is valid for the addresses of this machine, and installations have it already."""


class Api(PythonComponent):
    """Runs tailrace.api with the local ClickHouse, if TAILRACE_PORT_API names a port."""

    name = "api"
    needs = ("clickhouse",)
    start_seconds = 60

    def configured(self) -> bool:
        return self.settings.port_api != CLOSED

    def check(self) -> None:
        if not self.configured():
            raise SettingsError("the component api needs a port: set TAILRACE_PORT_API, such as 18095")

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace.api"),
            *("--clickhouse", local_clickhouse.address(self.settings, self.home)),
            *("--secrets", self.home.secrets),
            *("--port", str(self.settings.port_api)),
            *("--requests-per-minute", str(self.settings.api_requests_per_minute)),
            *("--trusted-proxies", self.settings.api_trusted_proxies),
            *("--evidence-socket", evidence.socket_of(self.home)),
            *self._tls_options(),
        ]

    def environment(self) -> Mapping[str, str]:
        return {"PYTHONPATH": str(PYTHON_PATH)}

    def ports(self) -> Mapping[str, int]:
        return {"HTTP": self.settings.port_api}

    def health(self) -> Health:
        try:
            with urllib.request.urlopen(f"{self.address()}/health", timeout=1, context=self._tls()):
                return HEALTHY
        except urllib.error.HTTPError as error:
            return Health.failing(f"answers with HTTP {error.code}")

    def address(self) -> str:
        scheme = "https" if self._certificates.exist() else "http"
        return f"{scheme}://127.0.0.1:{self.settings.port_api}"

    def _tls_options(self) -> list[str | Path]:
        certificates = self._certificates
        return ["--certificate", certificates.file(CERTIFICATE)] if certificates.exist() else []

    def _tls(self) -> ssl.SSLContext | None:
        return self._certificates.client() if self._certificates.exist() else None

    @property
    def _certificates(self) -> Certificates:
        return Certificates(self.home)
