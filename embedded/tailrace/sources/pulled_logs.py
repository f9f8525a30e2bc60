"""What the puller reports of each log that it reads from a service, by its heartbeat file (docs/PULL.md)."""

import dataclasses
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tailrace import console
from tailrace.sources.pulled_entry import HUB, OBJECTS, OTLP, TABLE, PulledSource

LATE_SECONDS = 600
"""A log that has not been read for so long is a problem. Quiet logs are visited every 50 s."""


@dataclass(frozen=True)
class PulledLogState:
    """The result of the last visit of a log. Times are in seconds since 1970 UTC."""

    instance: str
    source: str
    log: str
    """Its path in line records; before the first heartbeat, its name in sources.yaml."""
    visited_at: float | None
    """When it was last read; None if that is unknown or it was never read."""
    bytes: int | None
    """Bytes that were stored since the start of the puller; None if that is unknown."""
    problem: str
    """Why the last visit failed; empty if it succeeded or none is known."""
    kind: str
    """permission, setting, throttled, gone or failed; empty without a problem."""
    right: str
    """The action that the policy lacks, or the statement that adds the missing permission or setting."""
    since: float | None
    """The start of the puller that reported; None without a report."""
    requests: int | None = None
    """Requests to the service since then; None if that is unknown."""
    received: int | None = None
    """Bytes of their answers; None if that is unknown."""

    def unread_seconds(self, now: float) -> float | None:
        """Returns the time since the last visit, or since the puller's start; None if both are unknown."""
        since = self.visited_at or self.since
        return None if since is None else max(0.0, now - since)

    def is_late(self, now: float) -> bool:
        return (self.unread_seconds(now) or 0.0) > LATE_SECONDS

    def is_read(self, now: float) -> bool:
        """Returns whether it is known to be read: visited lately, without a problem since."""
        return self.visited_at is not None and not self.problem and not self.is_late(now)

    def description(self, now: float) -> str:
        """Returns the state in one clause."""
        if self.since is None:
            return "no report of the puller"
        if self.visited_at is None:
            return self.problem or "never visited"
        visited = f"last visit {console.duration(now - self.visited_at)} ago"
        read = f"{visited}, {console.size(self.bytes or 0)} since the start of the puller"
        return f"{self.problem}; {visited}" if self.problem else read


def read(heartbeat: Path) -> list[PulledLogState]:
    """Returns the logs of a heartbeat file; none before the first heartbeat."""
    try:
        report = json.loads(heartbeat.read_text())
    except FileNotFoundError:
        return []
    return [_state(log, report["since"]) for log in report["logs"]]


def states(listed: Iterable[PulledSource], reported: Sequence[PulledLogState]) -> list[PulledLogState]:
    """Returns the state of each listed log, in the order of the list."""
    return [next((state for state in reported if _is_of(log, state)), _unknown(log)) for log in listed]


def _state(log: dict, since: float) -> PulledLogState:
    return PulledLogState(
        log["instance"],
        log["source"],
        log["path"],
        log["at"] or None,
        log["bytes"],
        log["problem"],
        log["kind"],
        log["right"],
        since,
        log.get("requests"),
        log.get("received"),
    )


def _unknown(log: PulledSource) -> PulledLogState:
    return PulledLogState(log.instance, log.source, _name(log), None, None, "", "", "", None)


def _name(log: PulledSource) -> str:
    """Returns the beginning of the log's path in line records."""
    if log.kind == OBJECTS:
        return f"/{OBJECTS}/{log.url.replace('://', '/').rstrip('/')}"
    if log.kind == HUB:
        return f"/{HUB}/{log.url.partition('://')[2]}"
    if log.kind == OTLP:
        return f"/{OTLP}/{log.url.partition('://')[2].partition('/')[2]}"
    if log.kind == TABLE:
        return f"/{TABLE}/{log.instance}"
    return "/" + "/".join(filter(None, (log.kind, log.region, log.db_instance, log.file)))


def _is_of(log: PulledSource, state: PulledLogState) -> bool:
    """Only the puller knows the default of `file`."""
    server = _name(dataclasses.replace(log, file=""))
    return (
        (log.instance, log.source) == (state.instance, state.source)
        and state.log.startswith(f"{server}/")
        and state.log.endswith(f"/{log.file}" if log.file else "")
    )
