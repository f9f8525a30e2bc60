"""The active sources: the content of sources.yaml that the running stack applied, stored in run/sources.json.

All components read this copy instead of the list, so that a component that restarts after a crash watches the
same logs as the others, even if the list was changed meanwhile.
"""

import dataclasses
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tailrace import replaced_file
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.sources import sources_file
from tailrace.sources.log_key import LogKey, key_of
from tailrace.sources.sources_file import Listed, PulledSource, Server, Source, SourcesError

PATHS = ("path", "password_file", "explain_password_file")


@dataclass(frozen=True)
class ActiveSources:
    """An applied list."""

    listed: Listed = field(default_factory=Listed)
    at: float = 0.0
    """The time of its activation, in seconds since 1970 UTC."""
    since: Mapping[LogKey, float] = field(default_factory=dict)
    """Since when each log is on the list."""


def activate(home: Home, listed: Listed) -> ActiveSources:
    """Activates a list: writes the copy atomically."""
    before, now = _read(home), time.time()
    known = before.since if before else {}
    activated = ActiveSources(listed, now, {key_of(log): known.get(key_of(log), now) for log in listed.logs})
    replaced_file.write(_file(home), json.dumps(_to_json(activated), indent=2, default=str))
    return activated


def active(home: Home) -> ActiveSources:
    """Returns the active list; an empty one if no stack ever ran."""
    return _read(home) or ActiveSources()


def active_or_listed(settings: Settings, home: Home) -> Listed:
    """Returns the list for components: the copy, or the list itself if no supervisor writes a copy.

    Raises SourcesError.
    """
    copy = _read(home)
    return copy.listed if copy else sources_file.read(settings.sources)


def active_servers(settings: Settings, home: Home) -> tuple[Server, ...]:
    """Returns the servers to poll; none without a valid list."""
    try:
        return active_or_listed(settings, home).servers
    except SourcesError:
        return ()


def has_pulled(settings: Settings, home: Home) -> bool:
    """Returns whether a log is pulled. Its costs, and records from Performance Schema, are stored with the
    snapshots of servers."""
    try:
        return bool(active_or_listed(settings, home).pulled)
    except SourcesError:
        return False


def _file(home: Home) -> Path:
    return home.run / "sources.json"


def _read(home: Home) -> ActiveSources | None:
    file = home.root / "run" / "sources.json"  # creates no directory
    try:
        return _from_json(json.loads(file.read_text()))
    except (OSError, ValueError, KeyError, TypeError):  # missing, or of another version
        return None


def _to_json(activated: ActiveSources) -> dict:
    return {
        "at": activated.at,
        "logs": [_plain(log) for log in activated.listed.logs],
        "servers": [_plain(server) for server in activated.listed.servers],
        "pulled": [_plain(log) for log in activated.listed.pulled],
        "since": [[*key, since] for key, since in activated.since.items()],
    }


def _plain(entry: Source | Server | PulledSource) -> dict:
    return {k: str(v) if isinstance(v, Path) else v for k, v in dataclasses.asdict(entry).items()}


def _from_json(copy: dict) -> ActiveSources:
    logs = tuple(Source(**_with_paths(each)) for each in copy["logs"])
    servers = tuple(Server(**_with_paths(each)) for each in copy["servers"])
    pulled = tuple(PulledSource(**each) for each in copy.get("pulled", ()))
    since = {(instance, source, path): at for instance, source, path, at in copy["since"]}
    return ActiveSources(Listed(logs, servers, pulled), copy["at"], since)


def _with_paths(entry: dict) -> dict:
    return {k: Path(v) if k in PATHS and v is not None else v for k, v in entry.items()}
