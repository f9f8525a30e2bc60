"""Reads the new rows of the tables of one log.

A table takes the place of a file: its offsets are those of the text of its rows (log_rows), and the first row
identifies it.
"""

from contextlib import closing
from dataclasses import dataclass

from tailrace_pull.log_tables import Entry, TableName, Tables
from tailrace_pull.matching import MISSING_SECONDS, Numbers
from tailrace_pull.reading import LineRun, Round
from tailrace_pull.remote import FileGoneError
from tailrace_pull.state import LogState, PulledFile

ROWS_AT_ONCE = 20_000
NO_ENTRY = Entry(b"", "")

ROTATED_AND_READ = 0
"""PulledFile.read_size of a table that the server no longer writes, and that was read to its end."""


@dataclass(frozen=True)
class Position:
    """Where a table continues. Stored as `rows:own:first:last`."""

    rows: int = 0
    """Rows that were read."""
    own: int = 0
    """Those of them that are statements of the puller, which are left out."""
    first: str = ""
    """Digest of the first row; empty while none was read."""
    last: str = ""
    """Digest of the last row that was read."""

    def __str__(self) -> str:
        return f"{self.rows}:{self.own}:{self.first}:{self.last}" if self.rows else ""

    def after(self, entry: Entry) -> "Position":
        first = self.first or entry.digest
        return Position(self.rows + 1, self.own + (not entry.text), first, entry.digest)

    @classmethod
    def parse(cls, text: str) -> "Position":
        if not text:
            return cls()
        rows, own, first, last = text.split(":")
        return cls(int(rows), int(own), first, last)


class _ChangedError(Exception):
    """The tables were renamed or truncated while they were read."""


@dataclass(frozen=True)
class TableReader:
    """Visits the tables of one log (`reading.VisitedLog`)."""

    tables: Tables

    def visit(self, state: LogState, new_number: Numbers, at: float, max_bytes: int) -> Round:
        """Reads what is new, at most about `max_bytes`. Raises RemoteError.

        A log that the server does not write, and that has nothing new, is an error: its minutes are unknown.
        """
        try:
            seen = self._seen(state)
            matched = _matched(state, seen, self.tables, new_number, at)
            done = Round(at, matched.state)
            for file, table in matched.pairs:
                self._read(done, file, table, max_bytes - done.bytes)
        except _ChangedError:
            return Round(at, state.copy(), is_complete=False)
        if not done.bytes:
            self.tables.require_logging()
        return done

    def _seen(self, state: LogState) -> dict[TableName, str]:
        """Returns the first row of each table; looks twice if a known one is missing, because of renames."""
        seen = self._look()
        known = {Position.parse(file.position).first for file in state.files if file.missing_since is None}
        if known - {""} - set(seen.values()) and seen != self._look():
            raise _ChangedError
        return seen

    def _look(self) -> dict[TableName, str]:
        """Returns the first row of each table. Raises RemoteError if the live one cannot be read."""
        rotated = [table for table in self.tables.names() if table != self.tables.live]
        try:
            seen = {table: self.tables.first(table) for table in rotated}
        except FileGoneError:
            raise _ChangedError from None
        return seen | {self.tables.live: self.tables.first(self.tables.live)}

    def _read(self, done: Round, file: PulledFile, table: TableName, max_bytes: int) -> None:
        if _is_read(file):
            return
        before = Position.parse(file.position)
        after, text, is_end = self._rows(table, before, max_bytes)
        if text:
            done.runs.append(LineRun(file, file.offset, text))
            file.extend_head(text)
            file.offset += len(text)
            file.written_at = done.at
        file.position, file.size = str(after), file.offset
        if is_end and not file.is_live:
            file.read_size = ROTATED_AND_READ
        done.is_complete &= is_end

    def _rows(self, table: TableName, before: Position, max_bytes: int) -> tuple[Position, bytes, bool]:
        """Returns the position after the rows, their text, and whether there are no others."""
        overlap = min(1, before.rows)
        found = _Rows(before, max_bytes)
        with closing(self.tables.entries(table, before.rows - overlap, ROWS_AT_ONCE + overlap)) as entries:
            try:
                if overlap and next(entries, NO_ENTRY).digest != before.last:
                    raise _ChangedError
                is_end = all(found.take(entry) for entry in entries) and found.count < ROWS_AT_ONCE
            except FileGoneError:
                raise _ChangedError from None
        return found.position, b"".join(found.parts), is_end


class _Rows:
    """Collects rows until they have enough bytes."""

    def __init__(self, before: Position, max_bytes: int) -> None:
        self.position = before
        self.parts: list[bytes] = []
        self.count = 0
        self._left = max_bytes

    def take(self, entry: Entry) -> bool:
        """Takes a row; returns False if there is no room for it."""
        if self._left <= 0:
            return False
        self.parts.append(entry.text)
        self.count += 1
        self._left -= len(entry.text)
        self.position = self.position.after(entry)
        return True


@dataclass
class _Matched:
    state: LogState
    pairs: list[tuple[PulledFile, TableName]]


def _matched(
    state: LogState, seen: dict[TableName, str], tables: Tables, new_number: Numbers, at: float
) -> _Matched:
    """Returns the state with the tables that exist, the live one last, after those that are missing."""
    known = state.copy().files
    pairs: list[tuple[PulledFile, TableName]] = []
    for table, first in seen.items():
        is_live = table == tables.live
        file = _file_of(known, seen, table, first, is_live)
        if file is None:
            if not (is_live or first) or _is_copy(state, seen, first):
                continue
            file = PulledFile(new_number(), "", written_at=at)
        else:
            known.remove(file)
        file.name, file.is_live, file.missing_since = str(table), is_live, None
        pairs.append((file, table))
    return _Matched(LogState([*_missing(known, at), *(file for file, _ in pairs)]), pairs)


def _file_of(
    known: list[PulledFile], seen: dict[TableName, str], table: TableName, first: str, is_live: bool
) -> PulledFile | None:
    """Returns the known table with this first row. Of copies, only the one of the known name has it."""
    for file in known:
        position = Position.parse(file.position)
        if position.first:
            twins = [str(other) for other, row in seen.items() if row == position.first]
            if first == position.first and (file.name not in twins or file.name == str(table)):
                return file
        elif is_live and file.is_live:
            return file
    return None


def _is_copy(state: LogState, seen: dict[TableName, str], first: str) -> bool:
    firsts = {Position.parse(file.position).first for file in state.files}
    return bool(first) and first in firsts


def _missing(files: list[PulledFile], at: float) -> list[PulledFile]:
    """Returns the tables that a TRUNCATE emptied, or that were dropped or moved, with what is known of them.

    If such a table was not read to its end after the server's last write, rows may be lost. How many is
    unknown: a census with one byte more than was read records it as a gap.
    """
    for file in files:
        if file.missing_since is None and (_is_read(file) or file.size > file.offset):
            file.missing_since = at
        elif file.missing_since is None:
            file.is_live, file.size = False, file.offset + 1
    return [file for file in files if file.missing_since is None or at - file.missing_since < MISSING_SECONDS]


def _is_read(file: PulledFile) -> bool:
    return file.read_size == ROTATED_AND_READ
