"""The chart of `| timeline` for static/chart.js, and the bars of `| top` as shapes of an SVG."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tailrace.plural import counted
from tailrace_pages import formats
from tailrace_pages.time_range import TimeRange

BAR_HEIGHT, GAP, NAME_WIDTH, WIDTH = 18, 4, 260, 1040
MOST_CHARACTERS = 36
MOST_BARS = 25
NUMBER_WIDTH = 90


def bars(
    rows: Sequence[Mapping[str, Any]], span: TimeRange, width: int, is_read: Callable[[int, int], bool]
) -> list[dict[str, Any]]:
    """Returns one row per bar of the range: 0 events if a log was read, otherwise None, which is unknown.

    `is_read(start, end)` takes Unix seconds.
    """
    found = {int(row["time"].timestamp()): row["events"] for row in rows}
    first, last = int(span.since.timestamp()), int(span.until.timestamp())
    return [
        {
            "time": datetime.fromtimestamp(start, UTC),
            "events": found.get(start, _nothing(start, width, is_read)),
        }
        for start in range(first // width * width, max(last, first + 1), width)
    ]


def _nothing(start: int, width: int, is_read: Callable[[int, int], bool]) -> int | None:
    return 0 if is_read(start, start + width) else None


def timeline(shown: Sequence[Mapping[str, Any]], width: int) -> dict[str, Any]:
    """Returns the data of static/chart.js."""
    values = [row["events"] for row in shown]
    return {
        "times": [int(row["time"].timestamp()) for row in shown],
        "width": width,
        "series": [{"label": "Events", "kind": "bars", "values": values}],
    }


@dataclass(frozen=True)
class TopBars:
    """Shapes of an SVG in its units: y, width, name, number and title of each bar."""

    bars: list[dict[str, Any]]
    height: int
    width: int = WIDTH
    left: int = NAME_WIDTH
    bar_height: int = BAR_HEIGHT


def top(rows: Sequence[Mapping[str, Any]]) -> TopBars | None:
    """Returns the bars of the most frequent known values; None without any."""
    shown = [row for row in rows if row["value"] is not None][:MOST_BARS]
    if not shown:
        return None
    scale = (WIDTH - NAME_WIDTH - NUMBER_WIDTH) / max(row["events"] for row in shown)
    drawn = [_bar(number, row, scale) for number, row in enumerate(shown)]
    return TopBars(drawn, len(drawn) * (BAR_HEIGHT + GAP))


def _bar(number: int, row: Mapping[str, Any], scale: float) -> dict[str, Any]:
    name = formats.visible(row["value"]) or "(empty)"
    return {
        "y": number * (BAR_HEIGHT + GAP),
        "width": max(1, round(row["events"] * scale)),
        "name": name if len(name) <= MOST_CHARACTERS else name[:MOST_CHARACTERS] + "…",
        "number": formats.count(row["events"]),
        "title": f"{name}: {counted(row['events'], 'event')}",
    }
