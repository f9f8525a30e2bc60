"""Which bars of a chart over time are known: a bar without records is 0 only if a log was read, else unknown.

Rows are those of page_query_coverage, one per server, and page_entity_coverage, one for all servers. A log is
read from its first record to its last record or census; from its first census on, only in the slots that the
census covers. A bar that is shorter than a minute may lie in two slots, and is read if both are. Times are
Unix times in seconds.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tailrace_pages.read_once import read_once

Row = Mapping[str, Any]


@dataclass(frozen=True)
class ReadBars:
    """Rows with source, first_second, census_second, last_second, step, slots, and maybe instance."""

    rows: Sequence[Row]

    @read_once
    def _slots(self) -> list[frozenset[int]]:
        return [frozenset(row["slots"]) for row in self.rows]

    def is_read(self, start: int, end: int, sources: Collection[str]) -> bool:
        """Returns whether a log of one of these kinds was read in the bar from start to end."""
        return any(self._reads(start, end, sources))

    def is_read_on(self, instances: Collection[str], start: int, end: int, sources: Collection[str]) -> bool:
        """Returns whether such a log of each of these servers was read; without a server, it is not known."""
        return bool(instances) and set(instances) <= {
            row["instance"] for row in self._reads(start, end, sources)
        }

    def _reads(self, start: int, end: int, sources: Collection[str]) -> Iterator[Row]:
        for row, slots in zip(self.rows, self._slots, strict=True):
            if row["source"] in sources and self._is_read(row, slots, start, end):
                yield row

    def _is_read(self, row: Row, slots: Collection[int], start: int, end: int) -> bool:
        if start > row["last_second"]:
            return False
        if row["census_second"] and start >= row["census_second"]:
            step = row["step"]
            return all(each in slots for each in range(start // step * step, end, step))
        return bool(_begin(row)) and end > _begin(row)

    def is_watched_since(self, time: datetime, sources: Collection[str]) -> bool:
        """Returns whether each of these kinds of logs that has records has had a census since then."""
        rows = [row for row in self.rows if row["source"] in sources]
        return bool(rows) and all(0 < row["census_second"] <= time.timestamp() for row in rows)

    def begin(self, sources: Collection[str]) -> datetime | None:
        """Returns the time of the first record or census of these kinds of logs; None without any."""
        begins = [_begin(row) for row in self.rows if row["source"] in sources and _begin(row)]
        return datetime.fromtimestamp(min(begins), UTC) if begins else None


def _begin(row: Row) -> int:
    """Returns the time of the first record, or of the first census if there is none; 0 without both."""
    return min((each for each in (row["first_second"], row["census_second"]) if each), default=0)
