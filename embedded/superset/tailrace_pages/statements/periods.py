"""The executions and latency of one statement in a time range, against earlier periods.

A change is unknown if the log was not read in the earlier period. Latencies are not compared across a
change of the logging settings of a server, because a threshold removes fast executions from the log.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tailrace.reading.logging_settings import Logging
from tailrace_pages import earlier_period, formats
from tailrace_pages.time_range import TimeRange

__all__ = ["Logging", "Measure", "Periods", "by_kind", "value"]

Row = Mapping[str, Any]
DAY = timedelta(days=1)
NOW, BEFORE, YESTERDAY = "now", "before", "yesterday"


@dataclass(frozen=True)
class Measure:
    """One measure: its title, the unit as a kind of formats.KINDS, and whether the logging settings affect
    it."""

    title: str
    kind: str
    column: str
    per_execution: bool = False


MEASURES = (
    Measure("Executions", "count", "executions"),
    Measure("Total time", "duration", "total_seconds"),
    Measure("Latency p50", "duration", "p50"),
    Measure("Latency p95", "duration", "p95"),
    Measure("Latency p99", "duration", "p99"),
    Measure("Lock time per execution", "duration", "lock_seconds", per_execution=True),
    Measure("Rows examined per execution", "number", "examined", per_execution=True),
    Measure("Rows sent per execution", "number", "sent", per_execution=True),
)


@dataclass(frozen=True)
class Periods:
    """The rows of page_query_overview by period, and the logging settings that decide what can be
    compared."""

    span: TimeRange
    rows: Mapping[str, Row]
    logging: Logging
    watched: bool = True
    """Whether the slow logs had a census from the start of the earlier period."""

    def numbers(self) -> list[dict[str, str]]:
        """Returns the headline numbers of parts.numbers."""
        return [self._number(measure) for measure in MEASURES]

    def obstacles(self) -> list[str]:
        """Returns sentences that state which comparisons are missing, and why."""
        changed = self.logging.changed_since(self.span.before().since)
        found = [
            f"{server} logs differently since {formats.time(at)} UTC: no latencies across it are compared."
            for server, at in changed
        ]
        if self.logging.servers and not self.logging.are_read():
            unread = "The slow log of a server has no entries from the start of the earlier period"
            found.append(f"{unread}, so changes against it are unknown.")
        elif self.logging.servers and not self.watched:
            unseen = "The slow log of a server had no census at the start of the earlier period"
            found.append(f"{unseen}: whether all entries of that period are stored is unknown.")
        return found

    def _number(self, measure: Measure) -> dict[str, str]:
        now = value(self.rows.get(NOW), measure)
        # Without entries, obstacles() states once that the changes are unknown.
        periods = {BEFORE: self._before()} if self.logging.are_read() else {}
        if periods and self.span.until - self.span.since < DAY and not self.span.begins_at_midnight:
            periods[YESTERDAY] = "a day before"
        notes = filter(None, (self._note(measure, period, title) for period, title in periods.items()))
        written = formats.of_kind(measure.kind, now)
        return {"title": measure.title, "value": written, "link": "", "note": " · ".join(notes)}

    def _before(self) -> str:
        """Returns the title of the earlier period: the date of the day before a day of UTC or its part."""
        return earlier_period.day(self.span) or "before"

    def _note(self, measure: Measure, period: str, title: str) -> str:
        """Returns the change against an earlier period with its title. Without executions in that period only
        their number has a note."""
        if self.rows.get(period) is None:
            none = f"none on {title}" if title[0].isdigit() else f"none {title}"
            return none if measure.column == "executions" else ""
        return f"{self._change(measure, period)} vs {title}"

    def _change(self, measure: Measure, period: str) -> str:
        """Returns the change against an earlier period with executions, in words."""
        since = self.span.since - DAY if period == YESTERDAY else self.span.before().since
        if measure.column != "executions" and self.logging.changed_since(since):
            return "not comparable"
        return formats.change(value(self.rows.get(NOW), measure), value(self.rows[period], measure))


def value(row: Row | None, measure: Measure) -> float | None:
    """Returns the value of a measure; None without executions."""
    if row is None or not row["executions"]:
        return None
    found = row[measure.column]
    return found / row["executions"] if measure.per_execution else found


def by_kind(rows: Sequence[Row]) -> dict[str, dict[str, Row]]:
    """Returns the rows of page_query_overview by their kind and name; periods include `yesterday`."""
    found: dict[str, dict[str, Row]] = {"period": {}, "server": {}, "bucket": {}}
    for row in rows:
        found["period" if row["kind"] == YESTERDAY else row["kind"]][row["name"]] = row
    return found
