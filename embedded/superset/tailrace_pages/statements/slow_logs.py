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


def read(rows: Rows, span: TimeRange, cluster: str, servers: Sequence[str]) -> ReadBars:
    """Returns in which bars of a range slow logs of a cluster ('' for all) and servers (empty for all) were
    read."""
    given = {"clusters": [cluster] if cluster else [], "servers": servers, "sources": SOURCES}
    return ReadBars(rows("page_query_coverage", **given, width=trend.width(span), **span.parameters()))


def were_read(rows: Rows, span: TimeRange, servers: Mapping[str, str]) -> bool:
    """Returns whether each slow log that is expected of the filters cluster and instance was read in the
    whole range. The log of one server says nothing about the executions on another one."""
    given = {
        parameter: [servers[name]] if servers.get(name) else []
        for parameter, name in (("clusters", "cluster"), ("servers", "instance"))
    }
    (found,) = rows("page_query_unread_logs", **given, **span.parameters())
    return found["slow_logs"] > 0 and not found["unread_logs"]
