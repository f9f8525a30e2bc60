"""What limits a search: since when the logs that it searches are known, and of how many servers.

A search finds nothing in a log that did not arrive, which is not the same as nothing that happened.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailrace.plural import counted
from tailrace.search.fields import LOGS
from tailrace_pages.time_range import TimeRange

QUERY = "page_search_logs"
SOURCES = {"slow": "slowlog", "audit": "audit", "general": "general", "error": "errorlog"}
"""Kinds of logs of the ledger, by the logs of the search."""
GROUPS = (("audit", "general"), ("slow",), ("error",))
"""A server has an audit log or a general log: both contain what users do."""
UNREAD = "Since when the searched logs are known, and of how many servers, could not be read."


@dataclass(frozen=True)
class KnownLogs:
    """The limits of the data of a search."""

    text: str
    """One sentence; empty if each log is known before the time range begins, and of all servers."""
    begin_later: bool
    """Whether no searched log has a record before the time range: a longer one finds nothing more."""


def of(rows: Sequence[Mapping[str, Any]], logs: Collection[str], span: TimeRange) -> KnownLogs:
    """`rows` are those of QUERY, `logs` those with events that the search can find; alerts come from any."""
    searched = logs if set(logs) & set(SOURCES) else tuple(SOURCES)
    servers = {row["instance"] for row in rows if row["is_known"]}
    parts = list(filter(None, _parts(rows, searched, span, len(servers))))
    firsts = [row["first_day"] for row in rows if row["source"] in {SOURCES.get(log) for log in searched}]
    if not servers:
        text = (
            "No log of these servers has a record or a census in this time range: what happened is unknown."
        )
    else:
        text = f"Known in this time range: {'; '.join(parts)}." if parts else ""
    return KnownLogs(text, bool(firsts) and min(firsts) >= span.since.date())


def _parts(
    rows: Sequence[Mapping[str, Any]], logs: Collection[str], span: TimeRange, servers: int
) -> Iterator[str]:
    """Yields the limit of each group of logs; empty without one."""
    for group in GROUPS:
        named = [log for log in group if log in logs]
        if not named:
            continue
        title = " or ".join(LOGS[log] for log in named)
        sources = {SOURCES[log] for log in named}
        its = [row for row in rows if row["is_known"] and row["source"] in sources]
        having = len({row["instance"] for row in its})
        if not having:
            yield f"{title} of none of {counted(servers, 'server')}"
            continue
        first = min(row["first_day"] for row in its)
        since = f" since {first:%Y-%m-%d}" if first >= span.since.date() else ""
        some = f" of {having} of {counted(servers, 'server')}" if having < servers else ""
        yield f"{title}{some}{since}" if since or some else ""
