"""Captures accounts, grants, settings and replication of the servers in sources.yaml.

Fluent Bit ships its spool.
"""

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tailrace.config.home import Home
from tailrace.config.resources import ROOT
from tailrace.config.template import write_private
from tailrace.programs.program import HEALTHY, Health, Program
from tailrace.sources import active_sources
from tailrace.sources.sources_file import Server

PROGRAM = ROOT / "collectors" / "capture"
START_SECONDS = 120
SILENT_POLLS = 10
"""Maximum age of the heartbeat: unreachable servers are polled less often, and a poll may take a while."""


@dataclass(frozen=True)
class ServerState:
    """The result of the last poll of a server."""

    instance: str
    at: float
    """Seconds since 1970 UTC; 0 before the first time."""
    ok: bool
    """Whether it was polled successfully, possibly with some queries refused."""
    problem: str
    """The refused queries, or the reason of the failure."""


OPTIONAL = ("digests", "digest_histograms", "metadata_locks")
"""Keys of a server that let capture read Performance Schema."""


def spool_of(home: Home) -> Path:
    """The directory of the hourly files that Fluent Bit tails."""
    return home.data(CaptureProgram.name) / "spool"


def has_snapshots(home: Home, servers: Sequence[Server]) -> bool:
    """Returns whether there is something to ship: servers to poll, or snapshots in the spool."""
    found = home.root.glob(f"data/{CaptureProgram.name}/spool/snapshots-*.jsonl")  # creates no directory
    return bool(servers) or any(found)


def listed(servers: Sequence[Server]) -> str:
    """Returns the list that collectors/capture reads, as JSON."""
    entries = [
        {
            "cluster": server.cluster,
            "instance": server.instance,
            "dsn": server.dsn,
            "password_file": str(server.password_file or ""),
            **{name: True for name in OPTIONAL if getattr(server, name)},
        }
        for server in servers
    ]
    return json.dumps(entries, indent=2)


def write_servers(file: Path, servers: list[Server]) -> None:
    """Writes the list that collectors/capture reads."""
    write_private(file, listed(servers))


def health_by(beat: Path, longest_silence: float) -> Health:
    """Returns the health of a program of collectors/capture by its heartbeat file."""
    try:
        silent = time.time() - os.stat(beat).st_mtime
    except FileNotFoundError:
        return Health.failing("no server polled yet")
    return HEALTHY if silent < longest_silence else Health.failing(f"no server polled for {silent:.0f} s")


def servers_by(beat: Path) -> list[ServerState]:
    """Returns the state of each server from a heartbeat file; none before the first poll."""
    try:
        heartbeats = json.loads(beat.read_text())
    except FileNotFoundError:
        return []
    return [
        ServerState(instance, heartbeat["at"], not heartbeat["away"], heartbeat["problem"])
        for instance, heartbeat in sorted(heartbeats.items())
    ]


class CaptureProgram(Program):
    """Configures collectors/capture for the servers of sources.yaml."""

    name = "capture"

    def configured(self) -> bool:
        return bool(active_sources.active_servers(self.settings, self.home))

    def prepare(self) -> None:
        write_servers(
            self._servers(), list(active_sources.active_or_listed(self.settings, self.home).servers)
        )
        self.spool().mkdir(mode=0o700, exist_ok=True)
        self._heartbeat().unlink(missing_ok=True)

    def command(self) -> Sequence[str | Path]:
        return [
            *(sys.executable, "-m", "tailrace_capture", "snapshots"),
            *("--servers", self._servers(), "--spool", self.spool()),
            *("--state", self.home.data(self.name) / "state", "--heartbeat-file", self._heartbeat()),
            *(
                "--poll",
                str(self.settings.capture_poll_interval),
                "--full",
                str(self.settings.capture_interval),
            ),
        ]

    def environment(self) -> Mapping[str, str]:
        return {"PYTHONPATH": str(PROGRAM)}

    def health(self) -> Health:
        """An unreachable server does not count: a restart of capture would not fix it."""
        return health_by(
            self._heartbeat(), SILENT_POLLS * self.settings.capture_poll_interval + START_SECONDS
        )

    def servers(self) -> list[ServerState]:
        return servers_by(self._heartbeat())

    def spool(self) -> Path:
        return spool_of(self.home)

    def _servers(self) -> Path:
        return self.home.data(self.name) / "servers.json"
