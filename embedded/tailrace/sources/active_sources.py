"""The list in force: what the running stack took over from sources.yaml, kept as run/sources.json.

All parts read this copy and not the list itself, so that a part that is restarted after a crash watches the
same logs as the others, whatever has been written to the list meanwhile.
"""

import dataclasses
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.sources import sources_file
from tailrace.sources.log_key import LogKey, key_of
from tailrace.sources.sources_file import Listed, Server, Source, SourcesError

PATHS = ("path", "password_file", "explain_password_file")


@dataclass(frozen=True)
class ActiveSources:
    """A list as it was taken over."""

    listed: Listed = field(default_factory=Listed)
    at: float = 0.0
    """When, seconds since 1970 UTC."""
    since: Mapping[LogKey, float] = field(default_factory=dict)
    """Since when each log is on the list."""


def activate(home: Home, listed: Listed) -> ActiveSources:
    """Puts a list in force: writes the copy, whole or not at all."""
    before, now = _read(home), time.time()
    known = before.since if before else {}
    activated = ActiveSources(listed, now, {key_of(log): known.get(key_of(log), now) for log in listed.logs})
    draft = _file(home).with_suffix(".new")
    draft.write_text(json.dumps(_to_json(activated), indent=2, default=str))
    draft.replace(_file(home))
    return activated


def active(home: Home) -> ActiveSources:
    """The list in force; an empty one where no stack ever ran."""
    return _read(home) or ActiveSources()


def active_or_listed(settings: Settings, home: Home) -> Listed:
    """What parts are to go by: the copy, or the list itself where no supervisor keeps a copy.

    Raises SourcesError.
    """
    copy = _read(home)
    return copy.listed if copy else sources_file.read(settings.sources)


def active_servers(settings: Settings, home: Home) -> tuple[Server, ...]:
    """The servers that are asked; none where there is no list, or one that cannot be used."""
    try:
        return active_or_listed(settings, home).servers
    except SourcesError:
        return ()


def _file(home: Home) -> Path:
    return home.run / "sources.json"


def _read(home: Home) -> ActiveSources | None:
    file = home.root / "run" / "sources.json"  # asking makes no directory
    try:
        return _from_json(json.loads(file.read_text()))
    except (OSError, ValueError, KeyError, TypeError):  # none, or of another version
        return None


def _to_json(activated: ActiveSources) -> dict:
    return {
        "at": activated.at,
        "logs": [_plain(log) for log in activated.listed.logs],
        "servers": [_plain(server) for server in activated.listed.servers],
        "since": [[*key, since] for key, since in activated.since.items()],
    }


def _plain(entry: Source | Server) -> dict:
    return {k: str(v) if isinstance(v, Path) else v for k, v in dataclasses.asdict(entry).items()}


def _from_json(copy: dict) -> ActiveSources:
    logs = tuple(Source(**_with_paths(each)) for each in copy["logs"])
    servers = tuple(Server(**_with_paths(each)) for each in copy["servers"])
    since = {(instance, source, path): at for instance, source, path, at in copy["since"]}
    return ActiveSources(Listed(logs, servers), copy["at"], since)


def _with_paths(entry: dict) -> dict:
    return {k: Path(v) if k in PATHS and v is not None else v for k, v in entry.items()}
