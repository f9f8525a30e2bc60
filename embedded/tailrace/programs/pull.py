"""Pulls the logs of managed servers in sources.yaml into Kafka."""

import dataclasses
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tailrace.config.resources import ROOT
from tailrace.config.template import write_private
from tailrace.programs.program import Health, Program
from tailrace.signing import local_key
from tailrace.sources import active_sources, pulled_logs
from tailrace.sources.pulled_logs import PulledLogState
from tailrace.sources.sources_file import PulledSource, SourcesError

PROGRAMS = ":".join(str(ROOT / "collectors" / each) for each in ("pull", "capture", "census"))
"""The value of PYTHONPATH: the puller uses capture's connections to servers and the census's signatures."""
SILENT_SECONDS = 600
"""The maximum age of the heartbeat: a pass waits for slow answers of a service."""


def listed(logs: Sequence[PulledSource]) -> str:
    """Returns the list that collectors/pull reads."""
    return json.dumps([dataclasses.asdict(log) for log in logs], indent=2)


class PullProgram(Program):
    """Configures `python -m tailrace_pull run` for the pulled logs of sources.yaml."""

    name = "pull"

    def configured(self) -> bool:
        return bool(self._logs())

    def prepare(self) -> None:
        write_private(self._list(), listed(self._logs()))
        self._heartbeat().unlink(missing_ok=True)

    def command_with(self, name: str, kafka: Sequence[str | Path]) -> Sequence[str | Path]:
        """Returns the command of the puller of this name, with the options of its Kafka."""
        return [
            *(sys.executable, "-m", "tailrace_pull", "run", "--name", name),
            *("--logs", self._list()),
            *kafka,
            *("--heartbeat-file", self._heartbeat()),
            *self._key(name),
        ]

    def _key(self, name: str) -> Sequence[str | Path]:
        if not self.settings.sign_logs:
            return []
        key = local_key.of_pull(self.home, name)
        return ["--key", key.file, "--host", key.host]

    def environment(self) -> Mapping[str, str]:
        return {"PYTHONPATH": PROGRAMS}

    def health(self) -> Health:
        """A log that cannot be read does not count: a restart would not fix it."""
        return self._health_by_heartbeat("no pass yet", SILENT_SECONDS)

    def logs(self) -> Sequence[PulledLogState]:
        """Returns what is known of each pulled log of sources.yaml."""
        return pulled_logs.states(self._logs(), pulled_logs.read(self.heartbeat()))

    def heartbeat(self) -> Path:
        """The file that the puller writes after each pass. Creates no directory."""
        return self.home.root / "data" / self.name / "beat"

    def _logs(self) -> Sequence[PulledSource]:
        try:
            return active_sources.active_or_listed(self.settings, self.home).pulled
        except SourcesError:
            return ()

    def _list(self) -> Path:
        return self.home.data(self.name) / "logs.json"
