"""Which logs are watched: `sources.yaml`, a list that the user edits and every collector part reads.

    - instance: shop-db-1          # the server's name; unique, it is part of every event's identity
      cluster: shop                # any grouping of servers; default: the instance
      source: slowlog              # slowlog, audit, errorlog or general
      path: /var/log/mysql/slow.log
      tz: Europe/Berlin            # IANA zone of the log's own local times; default: UTC
      format: auto                 # a hint for the parser; default: auto

`path` is one file, without rotation suffix; its rotated siblings (slow.log.1, slow.log-20260101, …) are found
by themselves. A relative path is relative to the list.
"""

import dataclasses
import zoneinfo
from dataclasses import dataclass
from pathlib import Path

import yaml

KINDS = ("slowlog", "audit", "errorlog", "general")


class SourcesError(ValueError):
    """The list cannot be used; the message names file, entry and what was expected."""


@dataclass(frozen=True)
class Source:
    """One watched log. The fields are those of the line record (schemas/lines.schema.json)."""

    instance: str
    source: str
    path: Path
    cluster: str
    tz: str = "UTC"
    format: str = "auto"


def load(file: Path) -> list[Source]:
    """The watched logs. Raises SourcesError."""
    try:
        entries = yaml.safe_load(file.read_text()) or []
    except (OSError, yaml.YAMLError) as error:
        raise SourcesError(f"{file}: cannot be read: {error}") from error
    if not isinstance(entries, list):
        raise SourcesError(f"{file}: expected a list of logs, found {type(entries).__name__}")
    found = [_source(file, number, entry) for number, entry in enumerate(entries, 1)]
    _require_distinct(file, found)
    return found


def make_empty(file: Path) -> None:
    """Makes a list that watches nothing and says how to change that, unless there is one already."""
    if not file.exists():
        explained = "".join(f"# {line}\n" if line else "#\n" for line in (__doc__ or "").strip().splitlines())
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(explained)


def add(file: Path, more: list[Source]) -> None:
    """Adds logs at the end of the list and leaves what the user wrote as it is. Raises SourcesError."""
    entries = [{**dataclasses.asdict(source), "path": str(source.path)} for source in more]
    before = file.read_text()
    load(file)
    with file.open("a") as out:
        out.write("" if before.endswith("\n") else "\n")
        out.write(yaml.safe_dump(entries, sort_keys=False))
    try:
        load(file)
    except SourcesError:
        file.write_text(before)
        raise SourcesError(
            f"{file}: logs can be added only to a list of lines that begin with `- `"
        ) from None


def _source(file: Path, number: int, entry: object) -> Source:
    where = f"{file}: log {number}"
    if not isinstance(entry, dict):
        raise SourcesError(f"{where}: expected keys and values, found {entry!r}")
    known = {field.name for field in dataclasses.fields(Source)}
    for key in entry:
        if key not in known:
            raise SourcesError(f"{where}: unknown key {key!r}; known are {', '.join(sorted(known))}")
    for key in ("instance", "source", "path"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise SourcesError(f"{where}: `{key}` is missing or not text")
    if entry["source"] not in KINDS:
        raise SourcesError(f"{where}: source must be one of {', '.join(KINDS)}, not {entry['source']!r}")
    _require_zone(where, entry.get("tz", "UTC"))
    path = (file.parent / Path(entry["path"]).expanduser()).resolve()
    return Source(**{"cluster": entry["instance"], **entry, "path": path})


def _require_zone(where: str, tz: object) -> None:
    try:
        zoneinfo.ZoneInfo(str(tz))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise SourcesError(f"{where}: tz must be an IANA zone such as Europe/Berlin, not {tz!r}") from None


def _require_distinct(file: Path, sources: list[Source]) -> None:
    seen: set[tuple[str, Path]] = set()
    for source in sources:
        key = (source.instance, source.path)
        if key in seen:
            raise SourcesError(f"{file}: {source.path} of {source.instance} is listed twice")
        seen.add(key)
