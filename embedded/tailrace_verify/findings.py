"""What a verification found: findings with their place, and the verdict, which is the exit code."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum


class Status(IntEnum):
    """The values are exit codes. A verdict is the first of TAMPERED, INCOMPLETE, UNDETERMINED that occurs."""

    PROVEN = 0
    TAMPERED = 1
    INCOMPLETE = 2
    UNDETERMINED = 3


NOTED = Status.PROVEN
"""The status of a finding that does not change the verdict."""
ORDER = (Status.TAMPERED, Status.INCOMPLETE, Status.UNDETERMINED)
MEANING: Mapping[Status, str] = {
    Status.PROVEN: "proven: everything that was checked is as it was recorded",
    Status.TAMPERED: "tampered: data differ from the record",
    Status.INCOMPLETE: "incomplete: nothing differs, but something is missing",
    Status.UNDETERMINED: "cannot be determined: a key or a file that the proof needs is missing",
}
MOST_FINDINGS = 1000
"""Findings of one check that are kept; all are counted."""


@dataclass(frozen=True)
class Finding:
    """One difference. `place` names what exists of: file, row (from 1), table, minute, leaf (from 0), host,
    key, sequence, path, from, to (bytes)."""

    status: Status
    check: str
    message: str
    place: Mapping[str, object] = field(default_factory=dict)


@dataclass
class Report:
    """The result of a verification."""

    findings: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    """What was verified: checkpoints, leaves, tiles, minutes, rows, signed ranges, bytes."""
    found: Counter[tuple[str, Status]] = field(default_factory=Counter)
    about: dict[str, object] = field(default_factory=dict)
    """Origin, size and time of the newest checkpoint, and the period."""
    notes: list[str] = field(default_factory=list)
    """What a reader should know and what does not change the verdict."""
    uncovered: list[tuple[str, str]] = field(default_factory=list)
    """Intervals of minutes without coverage: first and end, UTC."""
    settled: float | None = None
    """What precedes a record that was signed after this time, in seconds since 1970, may still be recorded: a
    log that runs has newer records before older ones. None: nothing may."""

    @property
    def verdict(self) -> Status:
        present = {status for _, status in self.found}
        return next((status for status in ORDER if status in present), Status.PROVEN)

    def add(self, status: Status, check: str, message: str, **place: object) -> None:
        self.found[check, status] += 1
        if self.found[check, status] <= MOST_FINDINGS:
            self.findings.append(Finding(status, check, message, place))

    def tampered(self, check: str, message: str, **place: object) -> None:
        self.add(Status.TAMPERED, check, message, **place)

    def incomplete(self, check: str, message: str, **place: object) -> None:
        self.add(Status.INCOMPLETE, check, message, **place)

    def missing(self, check: str, message: str, payload: Mapping[str, object], **place: object) -> None:
        """Adds what is missing before the signed record `payload`."""
        at = payload.get("at")
        if self.settled is not None and isinstance(at, int) and at > self.settled * 1e6:
            self.undetermined(check, f"{message} yet: signed shortly before", **place)
        else:
            self.incomplete(check, message, **place)

    def undetermined(self, check: str, message: str, **place: object) -> None:
        self.add(Status.UNDETERMINED, check, message, **place)
