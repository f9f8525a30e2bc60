"""A real Prometheus that scrapes a stack, if one is installed (Debian's package prometheus)."""

import json
import re
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack
from tailrace.config.resources import REPOSITORY
from tailrace_local.health import WITH_METRICS

DOCUMENT = REPOSITORY / "docs" / "METRICS.md"


class Prometheus:
    """A Prometheus that reads alerts.yaml and scrapes the stack as documented."""

    def __init__(self, directory: Path, stack: Stack, port: int) -> None:
        self._directory = directory
        self._stack = stack
        self._address = f"127.0.0.1:{port}"

    @contextmanager
    def running(self) -> Iterator[None]:
        file = self._directory / "prometheus.yml"
        file.write_text(yaml.safe_dump(self._configuration()))
        words = [f"--config.file={file}", f"--storage.tsdb.path={self._directory / 'data'}"]
        with (self._directory / "log").open("wb") as log:
            process = subprocess.Popen(
                ["prometheus", *words, f"--web.listen-address={self._address}"], stdout=log, stderr=log
            )
            try:
                yield
            finally:
                process.terminate()
                process.wait(LIMIT_SECONDS)

    def _configuration(self) -> dict:
        """Returns the documented configuration with the stack's port and a job for each component."""
        text = re.search(r"^```yaml\n(.*?)^```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)[1]
        configuration = yaml.safe_load(text)
        own, component = configuration["scrape_configs"]
        of_components = [
            {**component, "job_name": name, "metrics_path": f"/metrics/{name}"} for name in WITH_METRICS
        ]
        address = self._stack.status("metrics").address.removeprefix("http://")
        for job in (own, *of_components):
            job["static_configs"] = [{"targets": [address]}]
        rules = [str(REPOSITORY / file) for file in configuration["rule_files"]]
        return {"rule_files": rules, "scrape_configs": [own, *of_components]}

    def has(self, metric: str) -> bool:
        return bool(self._ask("query", query=metric)["result"])

    def healths_of_targets(self) -> set[str]:
        return {target["health"] for target in self._ask("targets")["activeTargets"]}

    def alerts(self) -> set[tuple[str, str, str]]:
        """Returns name, component and state (pending, firing) of each alert."""
        found = self._ask("alerts")["alerts"]
        return {
            (each["labels"]["alertname"], each["labels"].get("component", ""), each["state"])
            for each in found
        }

    def _ask(self, path: str, **parameters: str) -> dict:
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(
            f"http://{self._address}/api/v1/{path}?{query}", timeout=LIMIT_SECONDS
        ) as answer:
            return json.load(answer)["data"]
