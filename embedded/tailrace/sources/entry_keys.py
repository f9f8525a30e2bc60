"""What all entries of `sources.yaml` have in common."""

import dataclasses
import zoneinfo
from collections.abc import Sequence
from pathlib import Path

from tailrace.errors import UsageError


class SourcesError(UsageError, ValueError):
    """The list is invalid; the message contains file, entry and what was expected."""


def require_keys(where: str, entry: dict, kind: type, required: tuple[str, ...]) -> None:
    """Raises SourcesError unless all keys are fields of the kind with text, or with what their type says."""
    known = {field.name: field.type for field in dataclasses.fields(kind)}
    for key in entry:
        if key not in known:
            raise SourcesError(f"{where}: unknown key {key!r}; known are {', '.join(sorted(known))}")
    for key in required:
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise SourcesError(f"{where}: `{key}` is missing or not text")
    for key, value in entry.items():
        if known[key] is not bool and not isinstance(value, str):
            raise SourcesError(f"{where}: `{key}` must be text, not {value!r}; put it in quotes")


def require_one_of(where: str, name: str, value: object, known: Sequence[str]) -> None:
    """Raises SourcesError."""
    if value not in known:
        raise SourcesError(f"{where}: {name} must be one of {', '.join(known)}, not {value!r}")


def require_zone(where: str, tz: object) -> None:
    """Raises SourcesError."""
    try:
        zoneinfo.ZoneInfo(str(tz))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise SourcesError(f"{where}: tz must be an IANA zone such as Europe/Berlin, not {tz!r}") from None


def secret(file: Path, path: str | None) -> Path | None:
    """Returns the path of a file with a secret, which may be relative to the list."""
    return (file.parent / Path(path).expanduser()).resolve() if path else None
