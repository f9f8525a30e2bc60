"""The retention of each table with its requirements, held rows, and the next expiry."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tailrace.clickhouse.client import Row
from tailrace.plural import counted
from tailrace.retention import archive, holds, record
from tailrace.retention.demands import Demand, classes, unmet
from tailrace.retention.holds import Hold, Reads

ONE = """
SELECT '{table}' AS table, count() AS rows, toUnixTimestamp(toDateTime(min({time}))) AS oldest,
    countIf({held}) AS held, toUnixTimestamp(toDateTime(minIf({time}, NOT ({held})))) AS next
FROM tailrace.{table}
"""
WITHOUT_HOLD = """
SELECT '{table}' AS table, count() AS rows, toUnixTimestamp(toDateTime(min({column}))) AS oldest,
    0 AS held, oldest AS next
FROM tailrace.{table}
"""
"""ClickHouse reads no row for this: it knows the number of rows and the first time of each partition."""
NO_DAY = "no day is archived: nothing is deleted"
COLUMNS = """
SELECT table, groupArray(name) AS columns FROM system.columns WHERE database = 'tailrace' GROUP BY table
"""


@dataclass(frozen=True)
class Policy:
    """What is configured: sql/retention.yaml."""

    days: Mapping[str, int]
    """Retention in days by table."""
    times: Mapping[str, str]
    """The expression of the time of a row by table."""
    waiting: Collection[str] = ()
    """Tables whose rows wait for the archive."""


@dataclass(frozen=True)
class Line:
    """One table. Times are UTC; None: unknown, or there is none."""

    table: str
    kind: str
    """The title of its class of records."""
    days: int
    demands: Sequence[Demand]
    """Of the chosen frameworks."""
    unmet: Sequence[Demand]
    """Those that ask for a longer time."""
    rows: int | None = None
    """None: the viewer may not read the table."""
    oldest: datetime | None = None
    held: int | None = None
    expires_next: datetime | None = None
    """When the oldest row without a hold expires; may be past, because ClickHouse deletes during merges."""
    archive: str = ""
    """How far the archive is; empty if the rows do not wait for it."""


def lines(clickhouse: Reads, policy: Policy, frameworks: Collection[str]) -> list[Line]:
    """Returns all tables by class. `frameworks` are those whose demands count.

    Raises ClickHouseError, SelectorError, OSError.
    """
    found = _stored(clickhouse, policy, holds.in_force(clickhouse))
    archived = _archived(clickhouse) if policy.waiting else {}
    return [
        _line(
            table,
            kind.title,
            [each for each in kind.demands if each.framework in frameworks],
            policy,
            found,
            archived.get(table, NO_DAY),
        )
        for kind in classes()
        for table in kind.tables
    ]


def _line(
    table: str,
    kind: str,
    demands: Sequence[Demand],
    policy: Policy,
    found: Mapping[str, Row],
    archived: str,
) -> Line:
    days, waits = policy.days[table], table in policy.waiting
    missing = unmet(demands, days, waits)
    state = archived if waits else ""
    if (row := found.get(table)) is None:
        return Line(table, kind, days, demands, missing, archive=state)
    if not row["rows"]:
        return Line(table, kind, days, demands, missing, 0, held=0, archive=state)
    is_any_free = row["held"] < row["rows"]
    expires = _moment(row["next"]) + timedelta(days=days) if is_any_free else None
    held, oldest = row["held"], _moment(row["oldest"])
    return Line(table, kind, days, demands, missing, row["rows"], oldest, held, expires, state)


def _archived(clickhouse: Reads) -> dict[str, str]:
    """Returns how far the archive is, by table, with the last deletion."""
    deletions = record.summaries(record.listed(clickhouse, record.DELETE_ARCHIVE))
    last = {each.table: each.recorded for each in reversed(deletions)}
    found = {}
    for table, row in archive.states(clickhouse).items():
        text = f"{counted(row['verified'], 'day')} verified, "
        text += f"{row['written']} only written, newest {row['newest']}"
        if row["deleted"]:
            by = f"by {last[table].actor} on {last[table].at[:10]}" if table in last else "without a record"
            text = f"{text}; {counted(row['deleted'], 'day')} deleted, the last {by}"
        found[table] = text
    return found


def _moment(seconds: object) -> datetime:
    return datetime.fromtimestamp(int(str(seconds)), UTC)


def _stored(clickhouse: Reads, policy: Policy, held: Sequence[Hold]) -> dict[str, Row]:
    """Returns what the user may read: counts and times by table."""
    columns = {str(row["table"]): set(row["columns"]) for row in clickhouse.rows(COLUMNS)}
    parts = []
    for table, time in policy.times.items():
        if time_column(time) in columns.get(table, ()):
            found = [hold.selector.condition(table, columns[table], time) for hold in held]
            is_held = " OR ".join(filter(None, found))
            form = ONE if is_held else WITHOUT_HOLD
            parts.append(form.format(table=table, time=time, column=time_column(time), held=is_held))
    return {str(row["table"]): row for row in clickhouse.rows(" UNION ALL ".join(parts))} if parts else {}


def time_column(time: str) -> str:
    """Returns the column of the expression of the time of a row."""
    return time.removeprefix("toDateTime(").removesuffix(")")
