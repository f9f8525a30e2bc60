"""When slow query logs were read.

A statement without entries has an unknown number of executions where they were not.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tailrace_pages.read_bars import ReadBars
from tailrace_pages.statements import trend
from tailrace_pages.time_range import TimeRange

Rows = Callable[..., list[dict[str, Any]]]
SOURCES = ["slowlog"]
LATE_SECONDS = 120
"""The time that a census takes to arrive at most, as in sql/queries/parts/covered_slots.sql."""


def read(rows: Rows, span: TimeRange, cluster: str, servers: Sequence[str]) -> ReadBars:
    """Returns in which bars of a range slow logs of a cluster ('' for all) and servers (empty for all) were
    read."""
    given = {"clusters": [cluster] if cluster else [], "servers": servers, "sources": SOURCES}
    return ReadBars(rows("page_query_coverage", **given, width=trend.width(span), **span.parameters()))


def were_read(rows: Rows, span: TimeRange, servers: Mapping[str, str]) -> bool:
    """Returns whether a slow log of the filters cluster and instance was read in each bar of a range."""
    instance = servers.get("instance", "")
    known = read(rows, span, servers.get("cluster", ""), [instance] if instance else [])
    width, since, until = trend.width(span), int(span.since.timestamp()), int(span.until.timestamp())
    begins = range(since // width * width, max(since + 1, until - LATE_SECONDS), width)
    return all(known.is_read(max(begin, since), begin + width, SOURCES) for begin in begins)
