"""The five numbers of an entity with their change, and the chart of them, from rows of page_entity_timeline.

A number without a count is unknown if no server of the range has a log that would contain it (`is_unknown`);
with a count, its note says so. The note also says of how many servers it is known. The change is against the
earlier period of TimeRange.before. It is unknown if the logs begin after this period began; if they had no
census by then, they were read later, and the change says that its coverage is unknown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tailrace_pages import earlier_period, formats
from tailrace_pages.columns import Column
from tailrace_pages.entities.kinds import ALERTS, Measure
from tailrace_pages.read_bars import ReadBars
from tailrace_pages.rule_reasons import LOGS
from tailrace_pages.time_range import TimeRange

MINUTE, HOUR, DAY = 60, 3600, 86_400
_WIDTHS = ((6 * HOUR, MINUTE), (14 * DAY, HOUR))
SOURCES = {"audit": "audit", "general": "general", "slow": "slowlog", "error": "errorlog"}
"""Kinds of logs of the ledger, by the columns `has_…` of page_entity_logs."""
_WITH_ERRORS = "_errors"
"""Suffix in Measure.logs: only a log of this kind with the errors of statements."""
UNITS = {MINUTE: "minute", HOUR: "hour", DAY: "day"}

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Logs:
    """Which logs the servers of the range have: rows of page_entity_logs."""

    rows: Sequence[Row]
    alerts_unknown: bool = False
    """Whether alerts about the entity were not searched."""

    @property
    def servers(self) -> int:
        return len(self.rows)

    def with_any(self, logs: Iterable[str]) -> int:
        """Returns the number of servers that have one of these logs; all if none is needed."""
        wanted = [f"has_{log}" for log in logs]
        return sum(any(row[name] for name in wanted) for row in self.rows) if wanted else self.servers

    def is_unknown(self, measure: Measure, count: int) -> bool:
        """Whether a count is unknown: there is none, and no server has a log that would contain all of it."""
        if measure.key == ALERTS and self.alerts_unknown:
            return not count
        return not count and bool(measure.logs) and not self.with_any(measure.logs)

    def begin_before(self, time: datetime) -> bool:
        return bool(self.rows) and self.rows[0]["earliest"] is not None and self.rows[0]["earliest"] <= time


def width_of(span: TimeRange) -> int:
    """Returns the seconds of a bar of the chart. Days are read from projections (entity_counts.sql)."""
    return next((width for limit, width in _WIDTHS if span.seconds <= limit), DAY)


def numbers(
    measures: Sequence[Measure],
    rows: Sequence[Row],
    alerts: Sequence[Row],
    logs: Logs,
    span: TimeRange,
    read: ReadBars,
    compares: bool = True,
) -> list[dict[str, str]]:
    """Returns {title, value, note, link} for each measure. `alerts` are those of both periods. `compares` is
    false for sessions: the time before a session contains none of it."""
    since = span.comparable_since()
    found = []
    for each in measures:
        doubt = "" if read.is_watched_since(since, sources_of(each)) else ", coverage unknown"
        doubt = doubt if logs.begin_before(since) else None
        counted = _counted(each, rows, alerts, span)
        found.append(_number(each, counted, logs, _change(*counted, span, doubt) if compares else ""))
    return found


def _counted(
    measure: Measure, rows: Sequence[Row], alerts: Sequence[Row], span: TimeRange
) -> tuple[int, int]:
    """Returns the count of the range and of the earlier period."""
    if measure.key == ALERTS:
        now = sum(row["event_time"] >= span.since for row in alerts)
        return now, len(alerts) - now
    now = sum(row[measure.key] for row in rows if row["is_current"])
    return int(now), int(sum(row[measure.key] for row in rows) - now)


def _number(measure: Measure, counted: tuple[int, int], logs: Logs, change: str) -> dict[str, str]:
    now = counted[0]
    known = logs.with_any(measure.logs)
    item = {"title": measure.title, "link": ""}
    without = f"no {_listed(measure.logs)} in this range" if measure.logs and not known else ""
    if measure.key == ALERTS and logs.alerts_unknown:
        without = "searched in shorter time ranges only"
    if logs.is_unknown(measure, now):
        return {**item, "value": formats.UNKNOWN, "note": without}
    if without:
        return {**item, "value": f"≥ {formats.count(now)}", "note": without}
    notes = [change] if change else []
    if known < logs.servers:
        notes.append(f"known for {known} of {logs.servers} servers")
    return {**item, "value": formats.count(now), "note": "; ".join(notes)}


def _change(now: int, before: int, span: TimeRange, doubt: str | None) -> str:
    """`doubt` is added to the change; None if no log begins before the earlier period."""
    day = earlier_period.day(span)
    when = f"on {day}" if day else "in the previous period"
    if doubt is None:
        return f"{day or 'previous period'} not covered"
    if before == 0:
        return f"none {when}{doubt}"
    return f"{formats.change(now, before)}, {formats.count(before)} {when}{doubt}"


def _listed(logs: Iterable[str]) -> str:
    *first, last = [_name(log) for log in sorted(logs)]
    return f"{', '.join(first)} or {last}" if first else last


def _name(log: str) -> str:
    return LOGS[_source(log)] + (" with errors" if log.endswith(_WITH_ERRORS) else "")


def _source(log: str) -> str:
    return SOURCES[log.removesuffix(_WITH_ERRORS)]


def bars(
    measures: Sequence[Measure],
    rows: Sequence[Row],
    alerts: Sequence[Row],
    logs: Logs,
    span: TimeRange,
    read: ReadBars,
) -> list[dict[str, Any]]:
    """Returns a row for each bar of the range, oldest first: its time `bar` and the count of each measure.

    A count is None, unknown, if there is none and no log that would contain it was read.
    """
    width = width_of(span)
    found = {_second(row["bar"]): row for row in rows if row["is_current"]}
    alerted = _by_bar(alerts, span, width)
    shown = []
    for second in range(_second(span.since) // width * width, _second(span.until), width):
        ends = max(second, _second(span.since)), min(second + width, _second(span.until))
        counts = {
            each.key: _of_bar(each, found.get(second), alerted.get(second, 0), logs, read, ends)
            for each in measures
        }
        shown.append({"bar": datetime.fromtimestamp(second, UTC), **counts})
    return shown


def _of_bar(
    measure: Measure, row: Row | None, alerts: int, logs: Logs, read: ReadBars, ends: tuple[int, int]
) -> int | None:
    counted = alerts if measure.key == ALERTS else int(row[measure.key]) if row else 0
    if logs.is_unknown(measure, counted):
        return None
    return counted if counted or read.is_read(*ends, sources_of(measure)) else None


def sources_of(measure: Measure) -> frozenset[str]:
    """Returns the kinds of logs that contain a measure, as the ledger names them; alerts may be of any."""
    return frozenset(_source(log) for log in measure.logs or SOURCES)


def begin(measures: Sequence[Measure], read: ReadBars, span: TimeRange) -> datetime | None:
    """Returns the time of the first record of the logs of the chart, if it is in the range."""
    first = read.begin(frozenset().union(*map(sources_of, measures)))
    return first if first and first > span.since else None


def _by_bar(alerts: Sequence[Row], span: TimeRange, width: int) -> dict[int, int]:
    counts: dict[int, int] = {}
    for row in alerts:
        if row["event_time"] >= span.since:
            second = _second(row["event_time"]) // width * width
            counts[second] = counts.get(second, 0) + 1
    return counts


def chart(measures: Sequence[Measure], shown: Sequence[Row], logs: Logs) -> dict[str, Any]:
    """Returns the data of static/chart.js: stacked bars, without the measures that are unknown."""
    totals = {each.key: sum(row[each.key] or 0 for row in shown) for each in measures}
    known = [each for each in measures if not logs.is_unknown(each, totals[each.key])]
    return {
        "times": [_second(row["bar"]) for row in shown],
        "width": int((shown[1]["bar"] - shown[0]["bar"]).total_seconds()) if len(shown) > 1 else 0,
        "stacked": True,
        "series": [
            {"label": each.title, "kind": "bars", "values": [row[each.key] for row in shown]}
            for each in known
        ],
    }


def chart_columns(measures: Sequence[Measure]) -> list[Column]:
    """Returns the columns of the chart's numbers."""
    counted = [Column(each.key, each.title, 16, "count") for each in measures]
    return [Column("bar", "Begin (UTC)", 0, "time"), *counted]


def busy(measures: Sequence[Measure], shown: Sequence[Row]) -> list[Row]:
    """Returns the bars with a count, for the chart's numbers."""
    return [row for row in shown if any(row[each.key] for each in measures)]


def _second(time: datetime) -> int:
    return int(time.timestamp())
