"""Deletes archived days whose retention is over, and leaves a document that says who did it and why.

The order makes each step repeatable: the record in ClickHouse, the document of the deletion, the Iceberg
table, the document of the day, its files, the state. `finish` repeats what an interrupted deletion left.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from tailrace.archive import days
from tailrace.archive.location import Location
from tailrace.archive.runner import PENDING
from tailrace.archive.tables import BY_NAME, TABLES, ArchivedTable
from tailrace.archive.warehouse import Warehouse
from tailrace.clickhouse.client import ClickHouse
from tailrace.retention import holds, record
from tailrace.retention.demands import Demand, classes
from tailrace_verify import archive_days
from tailrace_verify.archive_days import DELETED, Day, Deletion

FORM = "%Y-%m-%dT%H:%M:%SZ"
HELD = "a legal hold selects its rows: tailrace hold list"
VERIFY = "tailrace archive verify"


@dataclass(frozen=True)
class Rules:
    """What keeps a day. `online` is the retention of ClickHouse in days by table."""

    online: Mapping[str, int]
    frameworks: Collection[str]
    """Those whose demands count."""
    today: date

    def reasons(self, table: str, day: date) -> Iterator[str]:
        """Yields why the day must be kept, by age."""
        if (end := day + timedelta(days=1 + self.online[table])) > self.today:
            yield f"ClickHouse keeps its rows until {end}"
        demand = max(self._demands(table), key=lambda each: each.days, default=None)
        if demand and (end := day + timedelta(days=1 + demand.days)) > self.today:
            yield f"kept until {end}: {demand.text}"

    def _demands(self, table: str) -> list[Demand]:
        """Returns the demands with a number of days."""
        found = [each for kind in classes() if table in kind.tables for each in kind.demands]
        return [each for each in found if each.days and each.framework in self.frameworks]


@dataclass(frozen=True)
class Candidate:
    """An archived day; `reasons` say why it stays, and none means that it can be deleted."""

    table: str
    day: str
    rows: int
    size: int
    reasons: Sequence[str]


@dataclass(frozen=True)
class Interrupted:
    """A deletion that was interrupted; `reason` says why it stays so, and none means that it is complete."""

    table: str
    day: str
    reason: str


@dataclass(frozen=True)
class Order:
    """Who deletes days, and why."""

    id: str
    actor: str
    reason: str


class Deleter:
    """Deletes days of one archive. `auditor` appends to the record, `clickhouse` is the administrator's.

    To delete, hold `lock.held_with_ttls` and pass its function as `require_lock`. Methods raise
    ClickHouseError, SelectorError, WarehouseError, LockLostError, HoldError and OSError.
    """

    def __init__(
        self,
        clickhouse: ClickHouse,
        auditor: ClickHouse,
        location: Location,
        rules: Rules,
        require_lock: Callable[[], None] = lambda: None,
    ) -> None:
        self._clickhouse, self._auditor, self._location = clickhouse, auditor, location
        self._rules, self._require_lock = rules, require_lock
        self._warehouse = Warehouse(location)

    def candidates(self, first: date, end: date, tables: Sequence[ArchivedTable] = TABLES) -> list[Candidate]:
        """Returns the archived days in [first, end), with what keeps them."""
        names = [table.name for table in tables]
        found: dict[str, dict[str, Day | None]] = defaultdict(dict)
        for table, day in days.listed(self._location, first.isoformat(), end.isoformat()):
            found[day][table] = self._readable(table, day)
        if not found:
            return []
        limits = date.fromisoformat(min(found)), date.fromisoformat(max(found))
        held = {name: holds.held_days(self._clickhouse, name, *limits) for name in names}
        states = days.states(self._clickhouse, self._location)
        return [
            Candidate(
                table,
                day,
                document.rows if document else 0,
                document.size if document else 0,
                [
                    *self._reasons(table, day, held[table], states.get((table, day), {})),
                    *_unreadable(day, documents),
                ],
            )
            for day, documents in sorted(found.items())
            for table, document in documents.items()
            if table in names
        ]

    def _reasons(self, table: str, day: str, held: Collection[date], state: days.State) -> Iterator[str]:
        yield from self._rules.reasons(table, date.fromisoformat(day))
        if date.fromisoformat(day) in held:
            yield HELD
        if state.get("state") != days.VERIFIED:
            yield f"it is not verified: {VERIFY}"
        if self._location.read(f"{PENDING}/{table}-{day}.json") is not None:
            yield "a run over it was interrupted: tailrace archive run"

    def delete(self, candidates: Sequence[Candidate], order: Order) -> Iterator[Candidate]:
        """Deletes those candidates that nothing keeps, and yields each."""
        for each in candidates:
            if not each.reasons and not self._is_held(each.table, each.day):
                self._require_lock()
                self._remove(self._recorded(each, order))
                yield each

    def finish(self) -> list[Interrupted]:
        """Completes the recorded deletions that were interrupted, except those of held days; returns all.

        The age of a day is not asked again: it only grows.
        """
        states = days.states(self._clickhouse, self._location)
        recorded, found = record.archive_deletions(self._clickhouse), []
        for place in days.deleted(self._location):
            state = states.get(place)
            if not state or state["state"] != days.DELETED:
                found.extend(self._finish(place, state, recorded.get(place, [])))
        return found

    def _finish(
        self, place: tuple[str, str], state: days.State | None, known: Sequence[record.Recorded]
    ) -> Iterator[Interrupted]:
        try:
            deletion = days.read_deletion(self._location, *place)
        except days.DamagedDocumentError as error:
            yield Interrupted(*place, str(error))
            return
        content = self._location.read(archive_days.file_name(*place))
        order = days.recorded(deletion, known)
        if order is None or not _names_only(deletion, place):
            yield Interrupted(*place, f"nobody recorded it: {VERIFY}")
        elif content is not None and hashlib.sha256(content).hexdigest() != deletion.document:
            return  # rows that came after a complete deletion
        elif state and not days.is_of(state, order):
            yield Interrupted(*place, f"rows that were archived after it are missing: {VERIFY}")
        elif self._is_held(*place):
            yield Interrupted(*place, HELD)
        else:
            self._require_lock()
            self._remove(deletion)
            yield Interrupted(*place, "")

    def _is_held(self, table: str, day: str) -> bool:
        found = date.fromisoformat(day)
        return bool(holds.held_days(self._clickhouse, table, found, found))

    def _recorded(self, candidate: Candidate, order: Order) -> Deletion:
        """Records the deletion of a day in ClickHouse and in the archive."""
        table, day = candidate.table, candidate.day
        content = self._location.read(archive_days.file_name(table, day)) or b""
        found = archive_days.parse(content)
        deletion = Deletion(
            table=table,
            day=day,
            rows=found.rows,
            size=found.size,
            until=found.parts[-1].ingested[1],
            document=hashlib.sha256(content).hexdigest(),
            id=order.id,
            at=datetime.now(UTC).strftime(FORM),
            actor=order.actor,
            reason=order.reason,
            files=[path for part in found.parts for file in part.files for path in (file.path, file.marks)],
            tokens=[part.token for part in found.parts],
        )
        shown = {name: getattr(deletion, name) for name in ("table", "day", "rows", "size", "document")}
        details = {**shown, "snapshot": found.parts[-1].snapshot, "archive": self._location.uri()}
        record.append(self._auditor, record.DELETE_ARCHIVE, order.actor, order.reason, [details], order.id)
        self._location.write(archive_days.file_name(table, day, DELETED), deletion.encoded())
        return deletion

    def _remove(self, deletion: Deletion) -> None:
        """Removes what a deletion names; some of it may be gone already."""
        table, day = deletion.table, deletion.day
        if self._warehouse.table(table):
            self._warehouse.remove(table, deletion.files, {"tailrace.deleted": day})
        document = days.read(self._location, table, day)
        if document and deletion.covers(document):
            self._location.delete(archive_days.file_name(table, day))
        for path in deletion.files:
            self._location.delete(path)
        self._remove_proofs(day)
        days.record_deleted(self._clickhouse, self._location, deletion)

    def _remove_proofs(self, day: str) -> None:
        """Deletes the proofs of a day that no document of the day names any more: tables share them."""
        documents = [
            days.read(self._location, table, day) for table, _ in days.listed(self._location, day, f"{day}~")
        ]
        used = {part.proofs for document in documents for part in document.parts}
        for path in self._location.names(f"{archive_days.PROOFS}/{day}"):
            if "/".join(path.split("/")[:3]) not in used:
                self._location.delete(path)

    def _readable(self, table: str, day: str) -> Day | None:
        """Returns the document of a day; None if it is damaged."""
        try:
            return days.read(self._location, table, day)
        except days.DamagedDocumentError:
            return None


def _names_only(deletion: Deletion, place: tuple[str, str]) -> bool:
    """Whether a document names files of its own day only. The record has no list of files."""
    table, day = place
    folder = f"{archive_days.TABLES}/{table}/data/{BY_NAME[table].time}_day={day}"
    folders = {str(path).rpartition("/")[0] for path in deletion.files}
    return (deletion.table, deletion.day) == place and folders <= {folder}


def _unreadable(day: str, documents: Mapping[str, Day | None]) -> Iterator[str]:
    """Yields why the proofs of a day may not be deleted: documents that may need them cannot be read."""
    for table, document in documents.items():
        if document is None:
            name = archive_days.file_name(table, day)
            yield f"{name} cannot be read: its rows may need the proofs of the day"
