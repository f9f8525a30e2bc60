"""Finds logs whose completeness cannot be verified, because no census states how long they are.

The lines that arrived from such a log may balance; lost lines remain undetected. A log is unknown

- if it is listed and neither a census nor a line of it has arrived,
- if lines of it have arrived and no census has,
- if lines of it arrived long after the last census, or it is listed and the last census is old.
"""

import fnmatch
import glob
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from tailrace.sources.log_key import LogKey

STALE_SECONDS = 300
"""Censuses are posted at least once a minute, and may arrive late from a busy collector."""
RETIRED_SECONDS = 7 * 86400
"""An unlisted log counts as retired after this time without lines."""

T = TypeVar("T")

NONE_LISTED: Mapping[LogKey, float] = MappingProxyType({})


@dataclass(frozen=True)
class LogProgress:
    """The times of a log's last census and last line, in seconds since 1970 UTC; 0 for never."""

    instance: str
    source: str
    log: str
    census_at: float
    read_at: float
    read_since: float


@dataclass(frozen=True, order=True)
class UnknownLog:
    """A log without a census. Times are seconds since 1970 UTC."""

    instance: str
    source: str
    log: str
    since_at: float
    """Since when it is listed or read without a census."""
    census_at: float
    """0 for never."""
    read_at: float
    """The time of its last line; 0 for never."""
    why: str
    """A clause whose subject is the log."""

    def __str__(self) -> str:
        return f"{self.instance} {self.source} {self.log}: {self.why}"


def unknown(logs: Iterable[LogProgress], listed: Mapping[LogKey, float], now: float) -> list[UnknownLog]:
    """Returns the unknown logs among those in the ledger and the listed ones (with their listing times)."""
    known = list(logs)
    return sorted((*_in_ledger(known, listed, now), *_never_seen(known, listed)))


def _in_ledger(known: list[LogProgress], listed: Mapping[LogKey, float], now: float) -> Iterator[UnknownLog]:
    keys = _by_server((key, key) for key in listed)
    for log in known:
        is_listed = any(_is_of(log, key) for key in keys.get((log.instance, log.source), ()))
        if not log.census_at:
            why = "its lines arrive without any census, so lost lines are not detected"
            yield _unknown(log, log.read_since, why)
        elif log.read_at > log.census_at + STALE_SECONDS and (is_listed or _is_recent(log, now)):
            yield _unknown(log, log.census_at, "its lines arrived after the last census")
        elif is_listed and now > log.census_at + STALE_SECONDS:
            yield _unknown(log, log.census_at, "it is listed, and its last census is old")


def _never_seen(known: list[LogProgress], listed: Mapping[LogKey, float]) -> Iterator[UnknownLog]:
    logs = _by_server(((log.instance, log.source), log) for log in known)
    for key, since in listed.items():
        if not any(_is_of(log, key) for log in logs.get(key[:2], ())):
            yield UnknownLog(*key, since, 0, 0, "it is listed, and nothing of it has arrived")


def _by_server(keyed: Iterable[tuple[Sequence[str], T]]) -> dict[tuple[str, str], list[T]]:
    """Groups values by instance and source, with which their keys begin: only these are compared, because an
    installation has tens of thousands of logs."""
    found: dict[tuple[str, str], list[T]] = {}
    for key, value in keyed:
        found.setdefault((key[0], key[1]), []).append(value)
    return found


def _unknown(log: LogProgress, since: float, why: str) -> UnknownLog:
    return UnknownLog(log.instance, log.source, log.log, since, log.census_at, log.read_at, why)


def _is_of(log: LogProgress, key: LogKey) -> bool:
    """Returns whether a log of the server and source of the key has its path."""
    path = key[2]
    return log.log == path or (glob.has_magic(path) and fnmatch.fnmatch(log.log, path))


def _is_recent(log: LogProgress, now: float) -> bool:
    return now - log.read_at < RETIRED_SECONDS
