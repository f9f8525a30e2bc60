"""The census of the watched log files; Fluent Bit ships its spool."""

import json
import os
import sys
import time
from collections.abc import Sequence, Set
from pathlib import Path

from tailrace import replaced_file
from tailrace.config.home import Home
from tailrace.config.resources import ROOT
from tailrace.programs.program import HEALTHY, Health, Program
from tailrace.signing import local_key
from tailrace.sources import active_sources

PROGRAM = ROOT / "collectors" / "census" / "census.py"

Log = tuple[str, str]
"""Instance and source."""


class CensusProgram(Program):
    """Configures collectors/census/census.py for the logs of sources.yaml."""

    name = "census"

    def prepare(self) -> None:
        listed = [
            {"cluster": log.cluster, "instance": log.instance, "source": log.source, "path": str(log.path)}
            for log in active_sources.active_or_listed(self.settings, self.home).logs
        ]
        self._note_left({(log["instance"], log["source"]) for log in listed})
        self._sources().write_text(json.dumps(listed, indent=2))
        self.spool().mkdir(mode=0o700, exist_ok=True)
        if self.settings.sign_logs:
            local_key.of_census(self.home, self.settings).ensure()

    def command(self) -> Sequence[str | Path]:
        interval = str(self.settings.census_interval)
        return [
            *(sys.executable, PROGRAM),
            *("--sources", self._sources(), "--spool", self.spool(), "--interval", interval),
            *self._key(),
        ]

    def _key(self) -> Sequence[str | Path]:
        if not self.settings.sign_logs:
            return []
        key = local_key.of_census(self.home, self.settings)
        return ["--key", key.file, "--host", key.host]

    def health(self) -> Health:
        newest = max((os.stat(path).st_mtime for path in self.spool().glob("census-*.jsonl")), default=0)
        silent = time.time() - newest
        if silent < 3 * self.settings.census_interval:
            return HEALTHY
        return Health.failing(f"no census for {silent:.0f} s" if newest else "no census yet")

    def spool(self) -> Path:
        return spool_of(self.home)

    def _note_left(self, watched: Set[Log]) -> None:
        """Records the logs that are no longer watched, with the time."""
        before = json.loads(self._sources().read_text()) if self._sources().exists() else []
        over = dict.fromkeys(((log["instance"], log["source"]) for log in before), time.time())
        kept = {log: at for log, at in {**over, **left(self.home)}.items() if log not in watched}
        replaced_file.write(_left(self.home), json.dumps([[*log, at] for log, at in kept.items()]))

    def _sources(self) -> Path:
        return self.home.data(self.name) / "sources.json"


def spool_of(home: Home) -> Path:
    """The directory of the hourly files that Fluent Bit tails."""
    return home.data(CensusProgram.name) / "spool"


def left(home: Home) -> dict[Log, float]:
    """Returns the logs that this machine's census no longer watches, with the time when it stopped."""
    file = _left(home)
    noted = json.loads(file.read_text()) if file.exists() else []
    return {(instance, source): at for instance, source, at in noted}


def _left(home: Home) -> Path:
    return home.data(CensusProgram.name) / "left.json"
