"""The documents of an archive: one for each table and day that is archived, `days/TABLE/2026-11-26.json`.

A document lists the parts of a day. Each part contains the rows that were stored in an interval of time, so a
later part contains the rows that came later. Paths are relative to the archive.

`deleted/TABLE/2026-11-26.json` exists instead if somebody deleted the day: it says who, when and why.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

DAYS, TABLES, PROOFS, DELETED = "days", "tables", "proofs", "deleted"
NAME = re.compile(rf"{DAYS}/([a-z0-9_]+)/(\d{{4}}-\d\d-\d\d)\.json")
DELETED_NAME = re.compile(rf"{DELETED}/([a-z0-9_]+)/(\d{{4}}-\d\d-\d\d)\.json")
VERSION = 1
MINUTE_UNIT = 1 << 32
"""The minute of a row's time and the second of its insert are one number: minute * MINUTE_UNIT + second."""


class DocumentError(ValueError):
    """No document of an archive; the message states why."""


@dataclass(frozen=True)
class ArchivedFile:
    """A Parquet file; `marks` is the file with the first four bytes of the hash of each row, in order."""

    path: str
    bytes: int
    rows: int
    sha256: str
    marks: str
    marks_sha256: str


@dataclass(frozen=True)
class Part:
    """Rows stored in [from, to), times such as 2026-11-26T10:31:00Z. `columns` are the ClickHouse types by
    name. `minutes` has minute, rows and digest (hex) of each minute with rows."""

    token: str
    ingested: tuple[str, str]
    rows: int
    columns: Mapping[str, str]
    files: Sequence[ArchivedFile]
    minutes: Sequence[tuple[str, int, str]]
    snapshot: str = ""
    proofs: str = ""
    """The directory with the proofs of the day when the part was written; empty: there was no log."""


@dataclass(frozen=True)
class Day:
    """What the archive has of one table and day; `time` is the column of the row's time."""

    table: str
    day: str
    time: str
    replaces: bool = False
    parts: Sequence[Part] = field(default=())

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    @property
    def size(self) -> int:
        """Bytes of the Parquet files."""
        return sum(file.bytes for part in self.parts for file in part.files)

    def encoded(self) -> bytes:
        document = {"version": VERSION, **asdict(self)}
        return json.dumps(document, separators=(",", ":"), sort_keys=True).encode() + b"\n"


@dataclass(frozen=True)
class Deletion:
    """What the archive keeps of a deleted day. It proves nothing: the record of deletions in ClickHouse does,
    which is in the transparency log. Times are UTC."""

    table: str
    day: str
    rows: int
    size: int
    """Bytes of the deleted Parquet files."""
    until: str
    """The end of the interval in which the deleted rows were stored."""
    document: str
    """SHA-256 of the day's document, in hex."""
    id: str
    """Of the recorded operation."""
    at: str
    actor: str
    reason: str
    files: Sequence[str] = ()
    """The deleted files and their marks."""
    tokens: Sequence[str] = ()
    """Of the deleted parts."""

    def encoded(self) -> bytes:
        document = {"version": VERSION, **asdict(self)}
        return json.dumps(document, separators=(",", ":"), sort_keys=True).encode() + b"\n"

    def covers(self, day: Day) -> bool:
        """Whether these are exactly the parts of a document that was deleted."""
        return {part.token for part in day.parts} <= set(self.tokens)

    def text(self) -> str:
        return f"deleted by {self.actor} on {self.at}: {self.reason}"


def file_name(table: str, day: str, folder: str = DAYS) -> str:
    return f"{folder}/{table}/{day}.json"


def parse_deletion(data: bytes) -> Deletion:
    """Reads the document of a deleted day. Raises DocumentError."""
    try:
        document = json.loads(data)
        if document.pop("version") != VERSION:
            raise DocumentError("its version is unknown")
        found = Deletion(**document)
        if type(found.rows) is not int or not isinstance(found.until, str):
            raise DocumentError("expected a number of rows and a time")
        return found
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DocumentError(f"malformed: {error!r}"[:200]) from None


def parse(data: bytes) -> Day:
    """Reads a document. Raises DocumentError."""
    try:
        document = json.loads(data)
        if document.pop("version") != VERSION:
            raise DocumentError("its version is unknown")
        parts = [_part(each) for each in document.pop("parts")]
        return Day(**document, parts=parts)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DocumentError(f"malformed: {error!r}"[:200]) from None


def _part(document: dict) -> Part:
    files = [ArchivedFile(**each) for each in document.pop("files")]
    first, end = document.pop("ingested")
    minutes = [(str(minute), int(rows), str(root)) for minute, rows, root in document.pop("minutes")]
    return Part(**document, files=files, ingested=(str(first), str(end)), minutes=minutes)
