"""The coverage of a period, from the bundle's results: minutes by state, and uncovered intervals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tailrace.evidence.period import Period
from tailrace.evidence.results import read_csv

STATES = ("covered", "behind", "missing", "unknown")
"""The order of drawing: a later state covers an earlier one."""
OFF, CHANGED = "auditing was off", "auditing was changed"
"""States of servers whose logs may be covered and nevertheless incomplete."""
NEVER_ARRIVED = "listed audit log never arrived"
NOT_AUDITED = ("no audit log", NEVER_ARRIVED, "audit log not seen in the period")
WATCHED_IN_PART = ("audit log watched since", "audit log watched until")
READ_LATER = "audit log read later"
"""The beginning of a state. The time of the reading and the days of the records follow."""
CELLS = 144
"""Cells of a log's bar in a drawing."""
SHOWN_INTERVALS = 200


@dataclass
class LogCoverage:
    """One log: minutes by state, and the worst state of each cell of the period; -1: no minute of it."""

    instance: str
    source: str
    log: str
    minutes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATES, 0))
    cells: list[int] = field(default_factory=lambda: [-1] * CELLS)

    @property
    def not_covered(self) -> int:
        return sum(minutes for state, minutes in self.minutes.items() if state != "covered")

    def add(self, state: str, first: float, end: float, minutes: int) -> None:
        """Adds minutes; `first` and `end` are positions in the period, 0 to 1."""
        self.minutes[state] += minutes
        rank = STATES.index(state)
        last = min(CELLS - 1, max(int(first * CELLS), -int(-end * CELLS // 1) - 1))
        for cell in range(min(CELLS - 1, int(first * CELLS)), last + 1):
            self.cells[cell] = max(self.cells[cell], rank)


@dataclass(frozen=True)
class Coverage:
    """All logs of the period, the first uncovered intervals, and their total number."""

    logs: Sequence[LogCoverage]
    intervals: Sequence[Mapping[str, str]]
    not_covered_intervals: int
    servers: Sequence[Mapping[str, str]]

    def in_state(self, *states: str) -> list[str]:
        """Returns the servers with one of these states in servers.csv."""
        return [row["instance"] for row in self.servers if row["state"] in states]

    def read_later(self) -> list[str]:
        """Returns the servers whose audit logs were read after the period, each with the day of the first."""
        rows = [row for row in self.servers if row["state"].startswith(READ_LATER)]
        return [f"{row['instance']} ({row['records_read_at'][:10]})" for row in rows]

    def audited_in_part(self) -> list[str]:
        """Returns the servers whose audit logs were first or last seen within the period, with the state."""
        rows = [row for row in self.servers if row["state"].startswith(WATCHED_IN_PART)]
        return [f"{row['instance']} ({row['state']})" for row in rows]

    def minutes(self, state: str) -> int:
        return sum(log.minutes[state] for log in self.logs)


def read(directory: Path, period: Period) -> Coverage:
    """Reads the files `coverage.csv` and `servers.csv` of a bundle."""
    logs: dict[tuple[str, str, str], LogCoverage] = {}
    shown: list[Mapping[str, str]] = []
    others = 0
    seconds = (period.end - period.first).total_seconds()
    for row in _rows(directory / "results" / "coverage.csv"):
        key = (row["instance"], row["source"], row["log"])
        log = logs.setdefault(key, LogCoverage(*key))
        begin, end = (
            (_moment(row[name]) - period.first).total_seconds() for name in ("from_time", "to_time")
        )
        log.add(row["state"], begin / seconds, end / seconds, int(row["minutes"]))
        if row["state"] != "covered":
            others += 1
            if others <= SHOWN_INTERVALS:
                shown.append(row)
    servers = list(_rows(directory / "results" / "servers.csv"))
    return Coverage(list(logs.values()), shown, others, servers)


def _rows(path: Path) -> Iterator[dict[str, str]]:
    records = read_csv(path)
    header = next(records)
    return (dict(zip(header, record, strict=True)) for record in records)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
