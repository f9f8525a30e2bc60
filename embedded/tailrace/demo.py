"""The demo's logs: the real ones of samples/, written again as if their servers had run within the last
hour."""

import time
from dataclasses import dataclass
from pathlib import Path

from tailrace import replay, sources
from tailrace.home import Home
from tailrace.settings import REPOSITORY, Settings
from tailrace.sources import Source

SAMPLES = REPOSITORY / "samples"
SPAN_SECONDS = 3600
LEAST_SPAN_SECONDS = 60


@dataclass(frozen=True)
class Sample:
    """One file of samples/ and the server that it stands for."""

    file: str
    cluster: str
    instance: str
    source: str

    def watched(self, home: Home) -> Source:
        """The log that is watched in its stead: watch/<instance>/<slow or audit>.log."""
        name = "slow.log" if self.source == "slowlog" else "audit.log"
        return Source(self.instance, self.source, home.watch / self.instance / name, self.cluster)


FILES = (
    Sample("mysql-8.0.46.slow.log", "shop", "shop-mysql-8.0", "slowlog"),
    Sample("mariadb-10.11.19.slow.log", "shop", "shop-mariadb-10.11", "slowlog"),
    Sample("mariadb-10.11.19.server_audit.log", "shop", "shop-mariadb-10.11", "audit"),
    Sample("pxc-5.7.20.slow.log", "billing", "billing-pxc-5.7", "slowlog"),
    Sample("pxc-5.7.20.audit.json.log", "billing", "billing-pxc-5.7", "audit"),
)


def watch(settings: Settings, home: Home) -> bool:
    """Adds the demo's logs to sources.yaml; whether that changed anything. Raises SourcesError."""
    sources.make_empty(settings.sources)
    listed = sources.load(settings.sources)
    missing = [sample.watched(home) for sample in FILES if sample.watched(home) not in listed]
    if missing:
        sources.add(settings.sources, missing)
    return bool(missing)


def feed(home: Home) -> int:
    """Appends every sample to its log, the last entry at about now; returns the bytes written."""
    return sum(_append(SAMPLES / sample.file, sample.watched(home).path, time.time()) for sample in FILES)


def _append(sample: Path, log: Path, now: float) -> int:
    lines = sample.read_bytes().splitlines(keepends=True)
    move = replay.stretch(*replay.time_range(lines), end=now, span=_span(log, now))
    content = b"".join(replay.moved(lines, move))
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        file.write(content)
    return len(content)


def _span(log: Path, now: float) -> float:
    """An hour, or less if the log was fed within the last hour: a log does not go back in time."""
    fed = log.stat().st_mtime if log.exists() else 0.0
    return max(LEAST_SPAN_SECONDS, min(SPAN_SECONDS, now - fed))
