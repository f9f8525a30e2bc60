"""The documents of an archive in its location, and the table `archived_days`."""

from collections.abc import Iterator, Sequence

from tailrace.archive.location import Location
from tailrace.archive.tables import BY_NAME
from tailrace.clickhouse.client import ClickHouse
from tailrace.errors import ReportedError
from tailrace.retention.record import Recorded
from tailrace_verify import archive_days
from tailrace_verify.archive_days import (
    DAYS,
    DELETED_NAME,
    NAME,
    TABLES,
    Day,
    Deletion,
    DocumentError,
)

WRITTEN, VERIFIED, DELETED = "written", "verified", "deleted"
STATES = """
SELECT table, toString(day) AS day, state, rows, bytes, snapshot, location,
    formatDateTime(at, '%Y-%m-%dT%H:%i:%SZ', 'UTC') AS at
FROM tailrace.archived_days FINAL
WHERE location LIKE {prefix:String} OR location = {root:String} ORDER BY table, day
"""
State = dict[str, object]


class DamagedDocumentError(ReportedError):
    """A document of the archive cannot be read; the message names it."""


def read(location: Location, table: str, day: str) -> Day | None:
    """Returns the document of a day; None if it is not archived. Raises DamagedDocumentError, OSError."""
    name = archive_days.file_name(table, day)
    if (data := location.read(name)) is None:
        return None
    try:
        found = archive_days.parse(data)
    except DocumentError as error:
        raise DamagedDocumentError(f"{name}: {error}") from None
    if (found.table, found.day) != (table, day):
        raise DamagedDocumentError(f"{name} is the document of {found.table}, {found.day}")
    return found


def listed(location: Location, first: str = "", end: str = "9999") -> Iterator[tuple[str, str]]:
    """Yields table and day of each document in [first, end), sorted."""
    for name in location.names(DAYS):
        if (match := NAME.fullmatch(name)) and match[1] in BY_NAME and first <= match[2] < end:
            yield match[1], match[2]


def read_deletion(location: Location, table: str, day: str) -> Deletion:
    """Returns the document of a deleted day. Raises DamagedDocumentError, OSError."""
    name = archive_days.file_name(table, day, archive_days.DELETED)
    try:
        return archive_days.parse_deletion(location.read(name) or b"")
    except DocumentError as error:
        raise DamagedDocumentError(f"{name}: {error}") from None


def deleted(location: Location, first: str = "", end: str = "9999") -> Iterator[tuple[str, str]]:
    """Yields table and day of each document of a deleted day in [first, end), sorted."""
    for name in location.names(archive_days.DELETED):
        if (match := DELETED_NAME.fullmatch(name)) and match[1] in BY_NAME and first <= match[2] < end:
            yield match[1], match[2]


def recorded(deletion: Deletion, found: Sequence[Recorded]) -> Recorded | None:
    """Returns the record of a deletion, of those of its table and day; None if nobody recorded it."""
    named = deletion.id, deletion.document
    return next((each for each in found if (each.id, each.details.get("document")) == named), None)


def is_of(state: State, deletion: Recorded | None) -> bool:
    """Whether a state is that of the recorded deletion's rows, and not that of rows that came later."""
    return deletion is not None and state["snapshot"] == deletion.details.get("snapshot")


def write(location: Location, day: Day) -> None:
    location.write(archive_days.file_name(day.table, day.day), day.encoded())


def states(clickhouse: ClickHouse, location: Location) -> dict[tuple[str, str], State]:
    """Returns the rows of `archived_days` of this archive by table and day."""
    root = location.uri()
    found = clickhouse.rows(STATES, {"prefix": f"{root}/%", "root": root})
    return {(row["table"], row["day"]): row for row in found}


def record(
    clickhouse: ClickHouse, location: Location, table: str, day: str, state: str, found: Day | None
) -> None:
    """Adds a row to `archived_days`; `found` is None for a day without rows."""
    snapshot = found.parts[-1].snapshot if found else ""
    sizes = (found.rows, found.size) if found else (0, 0)
    _insert(clickhouse, location, (table, day), state, sizes, snapshot)


def record_deleted(clickhouse: ClickHouse, location: Location, deletion: Deletion) -> None:
    """Adds a row to `archived_days`; with its number of rows, for which ClickHouse's TTL does not wait."""
    sizes = deletion.rows, deletion.size
    _insert(clickhouse, location, (deletion.table, deletion.day), DELETED, sizes, "")


def _insert(
    clickhouse: ClickHouse,
    location: Location,
    place: tuple[str, str],
    state: str,
    sizes: tuple[int, int],
    snapshot: str,
) -> None:
    row = {
        "table": place[0],
        "day": place[1],
        "state": state,
        "rows": sizes[0],
        "bytes": sizes[1],
        "snapshot": snapshot,
        "location": f"{location.uri()}/{TABLES}/{place[0]}",
    }
    clickhouse.insert("tailrace.archived_days", [row])
