"""The sources of each server: logs and snapshots, with their state, their last data and their problems."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tailrace.sources.sources_file import SERVER
from tailrace_capture.doctor.finding import Finding, in_order
from tailrace_capture.doctor.logging_checks import CapturedState
from tailrace_capture.product import Product
from tailrace_pages.setup import findings

LOGS = {"audit": "Audit log", "slowlog": "Slow query log", "errorlog": "Error log", "general": "General log"}
"""Kinds of logs in the order of the page, with their titles."""
SNAPSHOTS = "snapshots"
TITLES = {**LOGS, SNAPSHOTS: "Snapshots"}

NEVER, SILENT, BEHIND, ARRIVING = "never arrived", "silent", "behind", "arriving"
PARTIAL, NOT_WATCHED, NOT_NEEDED = "partial", "not watched", "not needed"
NO_AUDIT_LOG = "no audit log"
"""The state of an audit log, as in the evidence: none is known, and no general log is read."""
WORST = (NEVER, SILENT, BEHIND, ARRIVING)
"""States of a log, the worst first."""
SYMBOLS = {
    **dict.fromkeys((NEVER, SILENT), "✗"),
    **dict.fromkeys((BEHIND, PARTIAL), "▲"),
    ARRIVING: "✓",
    **dict.fromkeys((NOT_WATCHED, NOT_NEEDED, NO_AUDIT_LOG), "○"),
}

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Source:
    """One kind of log of a server, or its snapshots."""

    kind: str
    """A key of TITLES."""
    state: str
    read_at: datetime | None
    """The time when its last line was read, or of the last snapshot."""
    last_event: datetime | None
    """The time of its last event; None also if the viewer may not know it."""
    lag_seconds: int | None
    """The time since the last line while bytes are unread; None: unknown."""
    findings: Sequence[Finding]

    @property
    def title(self) -> str:
        return TITLES[self.kind]

    @property
    def problems(self) -> int:
        return sum(finding.severity in findings.PROBLEMS for finding in self.findings)


@dataclass(frozen=True)
class Server:
    """One server and its sources, in the order of TITLES."""

    instance: str
    cluster: str
    product: Product | None
    sources: Sequence[Source]
    rules: int | None = None
    """Active rules; None if the viewer's audience may not know them, or none was evaluated here."""
    able: int | None = None
    """Rules that can raise alerts here."""
    slow_log: str | None = None
    """What the settings of the slow query log make it contain; None: unknown."""
    never_arrived: bool = False
    """Whether it is listed, and nothing of it has ever arrived."""

    @property
    def problems(self) -> int:
        return sum(source.problems for source in self.sources)

    def watched(self) -> list[str]:
        """Returns the kinds of logs that are read."""
        read = (SILENT, BEHIND, ARRIVING)
        return [source.kind for source in self.sources if source.kind in LOGS and source.state in read]


@dataclass(frozen=True)
class Found:
    """The rows of the queries, each by instance."""

    logs: Mapping[str, Sequence[Row]]
    listed: Mapping[str, Sequence[Row]]
    """Entries of sources.yaml of which nothing arrived for a week."""
    events: Mapping[tuple[str, str], datetime]
    """By instance and source."""
    snapshots: Mapping[str, Sequence[Row]]
    states: Mapping[str, CapturedState | None]
    rules: Mapping[str, Row]
    sees_all: bool
    """Whether the viewer's audience may read all settings."""


def by_instance(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found = defaultdict(list)
    for row in rows:
        found[row["instance"]].append(row)
    return dict(found)


def servers(found: Found) -> list[Server]:
    """Returns all servers of which anything is known, those with most problems first."""
    names = {
        *found.logs,
        *found.listed,
        *found.snapshots,
        *found.rules,
        *(instance for instance, _ in found.events),
    }
    return sorted((server(name, found) for name in names), key=lambda each: (-each.problems, each.instance))


def server(instance: str, found: Found) -> Server:
    snapshots = found.snapshots.get(instance, [])
    logs = found.logs.get(instance, [])
    listed = found.listed.get(instance, [])
    clusters = [row["cluster"] for row in (*logs, *snapshots, *listed) if row["cluster"]]
    cluster = clusters[0] if clusters else ""
    rules = found.rules.get(instance)
    return Server(
        instance=instance,
        cluster=cluster,
        product=findings.product(snapshots),
        sources=[
            *(_log(kind, instance, cluster, logs, found) for kind in LOGS),
            _snapshots(instance, cluster, snapshots, _of(listed, SERVER)),
        ],
        rules=rules["rules"] if rules else None,
        able=rules["able"] if rules else None,
        slow_log=findings.slow_log_text(found.states.get(instance)),
        never_arrived=bool(listed)
        and not logs
        and not snapshots
        and all(_absence(entry) == NEVER for entry in listed),
    )


def _log(kind: str, instance: str, cluster: str, logs: Sequence[Row], found: Found) -> Source:
    its = [log for log in logs if log["source"] == kind]
    absent = _of(found.listed.get(instance, []), kind)
    state = found.states.get(instance)
    audited = any(log["source"] == "audit" for log in logs)
    if not its and not absent and kind == "general" and audited:
        return Source(kind, NOT_NEEDED, None, None, None, ())
    seen = [
        *findings.of_listed(kind, absent),
        *findings.of_transport(kind, its),
        *findings.of_log(kind, state, found.sees_all, is_read=bool(its)),
    ]
    without = NOT_WATCHED
    if not its and not absent:
        seen += findings.not_watched(kind, instance, cluster, state)
    if not its and not absent and kind == "audit":
        if not any(log["source"] == "general" for log in logs):
            seen, without = findings.not_audited(seen), NO_AUDIT_LOG
        if found.sees_all:
            whose, its_product = (instance, cluster), findings.product(found.snapshots.get(instance, []))
            seen = findings.with_audit_log(seen, logs, whose, its_product, state)
    return Source(
        kind=kind,
        state=min((*(log["state"] for log in its), *map(_absence, absent)), key=WORST.index, default=without),
        read_at=max((log["read_at"] for log in its if log["read_at"]), default=None),
        last_event=found.events.get((instance, kind)),
        lag_seconds=None if absent else _lag(its),
        findings=in_order(seen),
    )


def _lag(logs: Sequence[Row]) -> int | None:
    """Returns the largest lag; None if one of them is unknown, or there is no log."""
    lags = [log["lag_seconds"] for log in logs]
    return None if not lags or None in lags else max(lags)


def _of(rows: Sequence[Row], kind: str) -> list[Row]:
    return [row for row in rows if row["source"] == kind]


def _absence(entry: Row) -> str:
    """Returns the state of an entry of sources.yaml of which nothing arrived for a week."""
    return SILENT if entry["last_arrived_at"] else NEVER


def _snapshots(instance: str, cluster: str, snapshots: Sequence[Row], listed: Sequence[Row]) -> Source:
    seen = list(findings.of_listed(SNAPSHOTS, listed)) or list(
        findings.of_snapshots(instance, cluster, snapshots)
    )
    latest = max((row["snapshot_at"] for row in snapshots), default=None)
    absences = [*map(_absence, listed)]
    state = min(absences, key=WORST.index, default=NOT_WATCHED) if not snapshots else ARRIVING
    if any(row["is_silent"] for row in snapshots):
        state = SILENT
    elif seen and snapshots:
        state = PARTIAL
    return Source(SNAPSHOTS, state, latest, latest, None, in_order(seen))
