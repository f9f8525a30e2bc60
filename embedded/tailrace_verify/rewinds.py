"""Recorded rewinds: which rows a named person has deleted with `tailrace rewind`.

The record consists of rows of TABLE. Only lines that were proven with the transparency log may be added, so a
record that somebody changed explains nothing.
"""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from tailrace_verify.leaves import RowsLeaf

TABLE, ACTION = "legal_hold_actions", "rewind"
MOST_SUMS = 4096


@dataclass(frozen=True)
class _Cell:
    """Rows of one minute that were stored in one second and that one rewind deleted."""

    second: int
    rows: int
    rewind: str


class Rewinds:
    """What rewinds have deleted, by table and minute."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, str], list[_Cell]] = defaultdict(list)
        self._texts: dict[str, str] = {}
        self._rows: dict[str, dict[str, int]] = defaultdict(dict)

    def add(self, lines: Iterable[bytes]) -> None:
        """Adds proven rows of TABLE in canonical form; those of other actions are left out."""
        for line in lines:
            if f'"{ACTION}"'.encode() in line:
                try:
                    self._add(json.loads(line))
                except (ValueError, KeyError, TypeError, OverflowError):
                    continue  # a row that explains nothing

    def _add(self, row: dict) -> None:
        if row["action"] != ACTION:
            return
        details = json.loads(row["selector"])
        cells = [(_iso(int(minute)), int(second), int(rows)) for minute, second, rows in details["cells"]]
        name = str(row["hold_id"])
        at = str(row["at"])[:19].replace(" ", "T")
        self._texts[name] = (
            f"the rewind to checkpoint {int(details['checkpoint'])} by {row['actor']} on {at}Z"
            f" ({row['reason']})"
        )
        self._rows[str(details["table"])][name] = int(details["rows"])
        for minute, second, rows in cells:
            self._cells[str(details["table"]), minute].append(_Cell(second, rows, name))

    def deleted(self, table: str, missing: int) -> str | None:
        """Returns which rewinds have deleted rows of a table without minutes; None if they have deleted fewer
        than `missing`."""
        found = self._rows.get(table, {})
        if sum(found.values()) < missing:
            return None
        return " and ".join(self._texts[name] for name in found) or None

    def explanation(self, leaf: RowsLeaf, missing: int) -> str | None:
        """Returns which rewinds have deleted exactly this number of a leaf's rows; None if none have.

        A rewind that was interrupted is recorded twice, so any of the recorded ones may have deleted rows.
        """
        first, end = _interval(leaf)
        counts: dict[str, int] = defaultdict(int)
        for cell in self._cells.get((leaf.table, leaf.minute), ()):
            if first <= cell.second < end and cell.rows > 0:
                counts[cell.rewind] += cell.rows
        sums: dict[int, tuple[str, ...]] = {0: ()}
        for name, rows in counts.items():
            sums |= {each + rows: (*names, name) for each, names in sums.items() if each + rows not in sums}
            if len(sums) > MOST_SUMS:
                return None
        names = sums.get(missing, ())
        return " and ".join(self._texts[name] for name in names) or None


def message(leaf: RowsLeaf, missing: int, explanation: str) -> str:
    """Returns the text of a finding. The rows that were written again are in later leaves, but nothing proves
    that they are the same."""
    return f"{missing} of its {leaf.rows} rows were deleted by {explanation}"


def _iso(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _interval(leaf: RowsLeaf) -> tuple[float, float]:
    if len(leaf.ingested) != 2:
        return 0, float("inf")
    first, end = (datetime.fromisoformat(text).timestamp() for text in leaf.ingested)
    return first, end
