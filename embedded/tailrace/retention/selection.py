"""The rows that a selector of a legal hold selects now, by table, among the rows that the reader may see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tailrace.retention.demands import classes
from tailrace.retention.holds import Reads, stored_columns
from tailrace.retention.overview import time_column
from tailrace.retention.selectors import Selector

ONE = """
SELECT '{table}' AS table, count() AS rows, toUnixTimestamp(toDateTime(min({time}))) AS oldest,
    toUnixTimestamp(toDateTime(max({time}))) AS newest
FROM tailrace.{table} WHERE {selected}
"""


@dataclass(frozen=True)
class Selected:
    """One table. Times are UTC; None without rows."""

    table: str
    kind: str
    """The title of its class of records."""
    rows: int
    oldest: datetime | None = None
    newest: datetime | None = None


@dataclass(frozen=True)
class Selection:
    """What a selector selects. Every table is in one of the lists."""

    selected: Sequence[Selected]
    """Tables with a column for each key, those with the most rows first."""
    others: Sequence[str]
    """Tables that the hold does not concern, because they have no column for a key."""
    unknown: Sequence[str]
    """Tables that the reader may not read; the hold concerns those that have a column for each key."""

    @property
    def rows(self) -> int:
        """In the tables that the reader may read."""
        return sum(each.rows for each in self.selected)


def selection(clickhouse: Reads, selector: Selector, times: Mapping[str, str]) -> Selection:
    """Counts the rows of all tables with a retention that the selector selects. `times` has the expression of
    the time of a row by table. Raises ClickHouseError, OSError."""
    columns = stored_columns(clickhouse)
    kinds = {table: kind.title for kind in classes() for table in kind.tables if table in times}
    readable = {table for table in kinds if time_column(times[table]) in columns.get(table, ())}
    conditions = {
        table: selector.condition(table, columns[table], times[table]) for table in kinds if table in readable
    }
    parts = [
        ONE.format(table=table, time=times[table], selected=condition)
        for table, condition in conditions.items()
        if condition
    ]
    found = clickhouse.rows(" UNION ALL ".join(parts)) if parts else []
    selected = [_selected(row, kinds) for row in found]
    return Selection(
        sorted(selected, key=lambda each: (-each.rows, each.table)),
        sorted(table for table, condition in conditions.items() if condition is None),
        sorted(kinds.keys() - readable),
    )


def _selected(row: Mapping[str, object], kinds: Mapping[str, str]) -> Selected:
    table, rows = str(row["table"]), int(str(row["rows"]))
    oldest, newest = (_moment(row[name]) if rows else None for name in ("oldest", "newest"))
    return Selected(table, kinds[table], rows, oldest, newest)


def _moment(seconds: object) -> datetime:
    return datetime.fromtimestamp(int(str(seconds)), UTC)
