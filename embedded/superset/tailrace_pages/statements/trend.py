"""Load and latency over time: the data of the charts (static/chart.js), and the latency heat map as SVG
shapes."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tailrace.plural import counted
from tailrace_pages import formats
from tailrace_pages.statements import schema_changes
from tailrace_pages.time_range import TimeRange

MOST_BUCKETS = 100
WIDTHS = (60, 120, 300, 600, 900, 1800, 3600, 7200, 3 * 3600, 4 * 3600, 8 * 3600, 12 * 3600, 86_400)
"""Possible widths of buckets in seconds."""
DAY_SECONDS = 86_400
HOUR_SECONDS = 3600
HEAT_COLUMNS = 50
CELL_HEIGHT = 14
LABEL_WIDTH = 90
HEAT_WIDTH = 1300
"""Units of the heat map: about the pixels of a page of 1,440 px, so that its texts are as large as others."""
AXIS_HEIGHT = 18
TICKS = (*(each for each in WIDTHS if each >= 300), *(days * DAY_SECONDS for days in (2, 7, 14, 30)))
"""Possible distances of the labels of the time axis in seconds."""
MOST_TICKS = 12
FAINTEST = 0.15
"""Opacity of a cell with the fewest executions, so that one execution is visible."""


def width(span: TimeRange) -> int:
    """Returns the width of buckets in seconds; at least an hour for ranges that are read from the hourly
    rollup."""
    least = HOUR_SECONDS if span.seconds > 2 * DAY_SECONDS else WIDTHS[0]
    return next(
        (each for each in WIDTHS if each >= least and span.seconds <= MOST_BUCKETS * each),
        DAY_SECONDS * math.ceil(span.seconds / MOST_BUCKETS / DAY_SECONDS),
    )


def buckets(
    span: TimeRange, rows: Mapping[str, Mapping[str, Any]], is_read: Callable[[int, int], bool]
) -> list[dict[str, Any]]:
    """Returns one row per bucket of the range.

    Without entries, latencies are unknown; executions are 0 if `is_read(start, end)`, in Unix seconds, else
    unknown, too. `is_complete` says whether the log of each server was read.
    """
    each = width(span)
    first, last = int(span.since.timestamp()), int(span.until.timestamp())
    found = []
    for start in range(first // each * each, last, each):
        row, end = rows.get(str(start)), min(start + each, last)
        known = is_read(max(start, first), end)
        shown = _bucket(start, _seconds(start, each, first, last), row, known)
        found.append({**shown, "is_complete": known})
    return found


def obstacles(shown: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns a sentence if bars with executions lack those of a log that was not read."""
    low = sum(row["executions"] is not None and not row["is_complete"] for row in shown)
    bars = counted(low, "bar of the load may be", "bars of the load may be")
    return [f"{bars} too low: the slow log of a server was not read in all of that time."] if low else []


def known(shown: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Returns the buckets with a known number of executions."""
    return [row for row in shown if row["executions"] is not None]


def _bucket(start: int, seconds: int, row: Mapping[str, Any] | None, is_known: bool) -> dict[str, Any]:
    time = {"start": datetime.fromtimestamp(start, UTC)}
    if row is None:
        nothing = dict.fromkeys(("p50", "p95", "lock_seconds", "examined"))
        ran = {"executions": 0, "load": 0.0} if is_known else {"executions": None, "load": None}
        return {**time, **ran, **nothing, "classes": {}}
    classes = dict(zip(row["latency_classes"], row["latency_executions"], strict=True))
    named = {name: row[name] for name in ("executions", "p50", "p95", "lock_seconds", "examined")}
    return {**time, **named, "load": row["total_seconds"] / seconds, "classes": classes}


def _seconds(start: int, each: int, first: int, last: int) -> int:
    """Returns the part of a bucket that is in the range."""
    return max(1, min(start + each, last) - max(start, first))


def load_chart(shown: Sequence[Mapping[str, Any]], marks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    load = {"label": "Load", "values": [row["load"] for row in shown], "unit": "", "kind": "bars"}
    return {"times": _times(shown), "width": _width(shown), "series": [load], "marks": list(marks)}


def latency_chart(shown: Sequence[Mapping[str, Any]], marks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    lines = [
        {"label": name, "values": [row[name] for row in shown], "unit": "s", "kind": "line"}
        for name in ("p50", "p95")
    ]
    return {"times": _times(shown), "width": _width(shown), "series": lines, "marks": list(marks)}


def _times(shown: Sequence[Mapping[str, Any]]) -> list[int]:
    return [int(row["start"].timestamp()) for row in shown]


def _width(shown: Sequence[Mapping[str, Any]]) -> int:
    """Returns the seconds of a bucket; 0 if there is only one."""
    return int((shown[1]["start"] - shown[0]["start"]).total_seconds()) if len(shown) > 1 else 0


def marks(
    changes: Sequence[Mapping[str, Any]],
    versions: Sequence[Mapping[str, Any]] | None,
    ddl: Sequence[Mapping[str, Any]] = (),
) -> list[dict[str, Any]]:
    """Returns the lines of charts: plan changes, deploys, and DDL on the tables, in the order of time."""
    found = [(row["changed"], f"plan {row['new_plan'][:4]}") for row in changes]
    found += [
        (row["first_seen"], f"{row['application']} {row['version']}") for row in deploys(versions or ())
    ]
    found += [(row["at"], schema_changes.label(row)) for row in ddl]
    return [{"time": int(at.timestamp()), "label": label} for at, label in sorted(found)]


def versions(rows: Sequence[Mapping[str, Any]] | None) -> dict[str, list[str]] | None:
    """Returns the versions that ran the statement by application, in the order in which they began; None if
    they are unknown."""
    if rows is None:
        return None
    found: dict[str, list[str]] = {}
    for row in rows:
        if row["ran_it"]:
            found.setdefault(row["application"], []).append(row["version"])
    return found


def deploys(versions: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Returns the versions that first ran after another version of their application; rows are in that
    order."""
    known: set[str] = set()
    found = []
    for row in versions:
        if row["application"] in known:
            found.append(row)
        known.add(row["application"])
    return found


@dataclass(frozen=True)
class HeatMap:
    """Shapes of an SVG in its units: cells with x, y, opacity and title; labels of latencies with y and text;
    labels of times with x and text, at the edge of the column in which the time begins."""

    cells: list[dict[str, Any]]
    labels: list[dict[str, Any]]
    times: list[dict[str, Any]]
    columns: int
    cell_width: float
    width: int
    height: int


def heat_map(shown: Sequence[Mapping[str, Any]]) -> HeatMap | None:
    """Returns the executions by time and latency, at most HEAT_COLUMNS columns; None without executions."""
    per_column = max(1, math.ceil(len(shown) / HEAT_COLUMNS))
    columns = [shown[start : start + per_column] for start in range(0, len(shown), per_column)]
    merged = [_merged(column) for column in columns]
    classes = [each for column in merged for each in column]
    if not classes:
        return None
    lowest, highest = min(classes), max(classes)
    most = max(max(column.values(), default=0) for column in merged)
    wide = (HEAT_WIDTH - LABEL_WIDTH) / len(merged)
    cells = [
        _cell(x * wide, highest - each, count / most, _cell_title(columns[x][0]["start"], each, count))
        for x, column in enumerate(merged)
        for each, count in sorted(column.items())
    ]
    labels = [
        {"y": (highest - each) * CELL_HEIGHT + CELL_HEIGHT - 3, "text": _range_of(each)}
        for each in range(highest, lowest - 1, -1)
    ]
    height = (highest - lowest + 1) * CELL_HEIGHT + AXIS_HEIGHT
    times = _time_labels([column[0]["start"] for column in columns], wide)
    return HeatMap(cells, labels, times, len(merged), round(wide - 1, 2), HEAT_WIDTH, height)


def _time_labels(starts: Sequence[datetime], wide: float) -> list[dict[str, Any]]:
    """Returns the labels of the time axis: the date where a day begins, otherwise hours and minutes."""
    seconds = [int(start.timestamp()) for start in starts]
    shown = seconds[-1] - seconds[0]
    each = next((tick for tick in TICKS if shown <= tick * MOST_TICKS), TICKS[-1])
    found = []
    for x, (at, start) in enumerate(zip(seconds, starts, strict=True)):
        if x == 0 or at // each != seconds[x - 1] // each:
            text = f"{start:%m-%d}" if at % DAY_SECONDS == 0 else f"{start:%H:%M}"
            found.append({"x": round(LABEL_WIDTH + x * wide, 2), "text": text})
    return found


def _merged(column: Sequence[Mapping[str, Any]]) -> dict[int, float]:
    found: dict[int, float] = {}
    for row in column:
        for each, count in row["classes"].items():
            found[each] = found.get(each, 0) + count
    return found


def _cell(x: float, y: int, share: float, title: str) -> dict[str, Any]:
    opacity = FAINTEST + (1 - FAINTEST) * math.sqrt(share)
    return {
        "x": round(LABEL_WIDTH + x, 2),
        "y": y * CELL_HEIGHT,
        "opacity": round(opacity, 2),
        "title": title,
    }


def _cell_title(start: datetime, each: int, count: float) -> str:
    return f"{formats.time(start)} UTC, {_range_of(each)}: {formats.count(count)} executions"


def _range_of(each: int) -> str:
    """-3 -> 125 to 250 ms"""
    return f"≥ {formats.duration(2.0**each)}"
