"""The state of the transparency log's writer, in SQLite: one transaction is one append.

The tree's size, the read positions and the minutes change together, so that after a crash no leaf is missing
and none is appended twice.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

SCHEMA = """
CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS minutes (
    source TEXT, minute INTEGER, parts INTEGER NOT NULL, rows INTEGER NOT NULL, leaf INTEGER NOT NULL,
    PRIMARY KEY (source, minute)) WITHOUT ROWID;
"""
ADD_MINUTE = """
INSERT INTO minutes VALUES (?, ?, 1, ?, ?)
ON CONFLICT DO UPDATE SET parts = parts + 1, rows = rows + excluded.rows, leaf = excluded.leaf
"""


@dataclass(frozen=True)
class Minute:
    """Rows of a table and minute that a leaf covers; `minute` is in seconds since 1970 UTC."""

    table: str
    minute: int
    rows: int
    entry: int
    """Index of the leaf's entry in its batch."""


@dataclass(frozen=True)
class Batch:
    """New entries, and the state after them."""

    entries: list[bytes] = field(default_factory=list)
    minutes: list[Minute] = field(default_factory=list)
    values: dict[str, object] = field(default_factory=dict)
    """Values of the state that change with these entries, such as read positions."""
    is_complete: bool = True
    """False if more entries can be collected at once."""


class Store:
    """Values are JSON. A file that does not exist is created, unless the store is only read."""

    def __init__(self, file: Path, is_reader: bool = False) -> None:
        if is_reader:
            self._connection = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, isolation_level=None)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(file, isolation_level=None)
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.executescript(SCHEMA)

    def close(self) -> None:
        self._connection.close()

    def get(self, name: str, default: object = None) -> object:
        row = self._connection.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
        return json.loads(row[0]) if row else default

    def values(self, prefix: str) -> dict[str, object]:
        """Returns the values whose names begin with `prefix`, by the rest of the name."""
        rows = self._connection.execute("SELECT name, value FROM state ORDER BY name")
        return {name[len(prefix) :]: json.loads(value) for name, value in rows if name.startswith(prefix)}

    def set(self, values: Mapping[str, object]) -> None:
        """Sets values in one transaction."""
        self.commit(values, (), 0)

    def commit(self, values: Mapping[str, object], minutes: Iterable[Minute], first: int) -> None:
        """Sets values and adds minutes in one transaction; `first` is the index of the batch's first leaf."""
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(
                "INSERT OR REPLACE INTO state VALUES (?, ?)",
                [(name, json.dumps(value)) for name, value in values.items()],
            )
            self._connection.executemany(
                ADD_MINUTE, [(each.table, each.minute, each.rows, first + each.entry) for each in minutes]
            )

    def parts(self, table: str, minute: int) -> int:
        """Returns how many leaves cover rows of this table and minute."""
        row = self._connection.execute(
            "SELECT parts FROM minutes WHERE source = ? AND minute = ?", (table, minute)
        ).fetchone()
        return row[0] if row else 0

    def anchored(self, table: str, since: int) -> dict[int, int]:
        """Returns the number of rows in the log by minute, from the minute `since` on."""
        rows = self._connection.execute(
            "SELECT minute, rows FROM minutes WHERE source = ? AND minute >= ?", (table, since)
        )
        return dict(rows.fetchall())
