"""The ledger's data for each log file, and imbalances. Offsets and sizes are in bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, order=True)
class LogFile:
    """A file: the generation-th one of that name on that server, counted from 1."""

    instance: str
    source: str
    log: str
    generation: int

    @classmethod
    def of(cls, row: Mapping) -> "LogFile":
        return cls(row["instance"], row["source"], row["log"], row["generation"])

    def __str__(self) -> str:
        return f"{self.instance} {self.source} {self.log} (generation {self.generation})"


@dataclass(frozen=True)
class Account:
    """The account of one file. Offsets and sizes in bytes; times in seconds since 1970 UTC, 0 for never."""

    file: LogFile
    cluster: str
    path: str
    """The path in the newest census."""
    census_at: float
    size: int
    """The size in the newest census."""
    frontier: int
    """Offset up to which the file was read, gaps included."""
    accounted: int
    """The accounted offset."""
    entries: int
    entry_bytes: int
    events: int
    event_bytes: int
    dead_letters: int
    dead_letter_bytes: int
    framing_bytes: int
    gap_bytes: int
    duplicates: int
    """Duplicate lines."""
    duplicate_bytes: int
    aged: bool
    """Retention has deleted the oldest postings, so that the account cannot be verified."""

    @property
    def pending(self) -> int:
        """Bytes that were read and belong to an incomplete entry."""
        return self.frontier - self.accounted

    @property
    def behind(self) -> int:
        """Bytes of the file that have not been read."""
        return max(0, self.size - self.frontier)


@dataclass(frozen=True)
class UnreadFile:
    """A file with a census and without any line."""

    instance: str
    source: str
    log: str
    path: str
    inode: int
    size: int
    census_at: float


@dataclass(frozen=True)
class Gap:
    """A missing range of a file. `kind`: lost, oversize, head_lost or tail_lost."""

    file: LogFile
    kind: str
    from_offset: int
    to_offset: int
    recorded_at: float

    @property
    def bytes(self) -> int:
        return self.to_offset - self.from_offset


@dataclass(frozen=True)
class GapRepair:
    """The last result of the automatic repair for a byte range. `state`: repaired or lost."""

    file: LogFile
    from_offset: int
    to_offset: int
    bytes: int
    """Bytes that were missing when the range was shipped."""
    state: str
    reason: str
    """Why the range is lost; empty if it was repaired."""

    def overlaps(self, gap: Gap) -> bool:
        return self.file == gap.file and self.from_offset < gap.to_offset and gap.from_offset < self.to_offset


@dataclass(frozen=True)
class Detail:
    """Dead letters of one stage and code, or framing of one kind, in one file."""

    file: LogFile
    kind: str
    stage: str
    detail: str
    count: int
    bytes: int


@dataclass(frozen=True)
class Imbalance:
    """A place where two accounts differ: `expected` is the amount of the first, `found` of the second."""

    equation: int
    file: LogFile
    fault: str
    expected: int
    found: int
    unit: str
    from_offset: int | None = None
    """None: the whole file."""
    to_offset: int | None = None

    def __str__(self) -> str:
        where = "" if self.from_offset is None else f" in bytes {self.from_offset}..{self.to_offset}"
        unit = self.unit.removesuffix("s") if self.expected == 1 else self.unit
        return f"{self.file}{where}: {self.fault}: expected {self.expected} {unit}, found {self.found}"


@dataclass(frozen=True)
class CoverageInterval:
    """Consecutive minutes of one log in one state: covered, behind, missing or unknown."""

    instance: str
    source: str
    log: str
    state: str
    first: datetime
    minutes: int
    grown_bytes: int
    behind_bytes: int
    missing_bytes: int
