"""Events and the rows of pipes as tables: columns, and the links of each row to other pages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from tailrace.search import reference
from tailrace.search.fields import BY_NAME, KINDS, LOGS
from tailrace.search.model import EQUAL, All, Comparison, Condition, Pipe, SearchQuery, Top, Value
from tailrace_pages import formats, links
from tailrace_pages.columns import Column
from tailrace_pages.time_range import TimeRange

PAGE_SIZE = 100
ROWS_AT_ONCE = 2000
"""Events of one query for a CSV file."""
HOUR = timedelta(hours=1)
LONGEST_COUNTED = timedelta(days=1)
"""Longer time ranges are counted only on request, because a list reads no more than it shows."""
UNKNOWN = "(unknown)"

COLUMNS = (
    Column("time", "Time (UTC)", 18, "time"),
    Column("shown_log", "Log", 10),
    Column("shown_kind", "Kind", 12),
    Column("user", "User", 10, link="user_address"),
    Column("client", "Client", 14, link="client_address"),
    Column("instance", "Instance", 10),
    Column("shown_session", "Session", 8, link="session_address", note="The connection id"),
    Column("first_table", "Table", 10, link="table_address", note="The first table; the CSV file has all"),
    Column("text", "Masked statement, message or alert", 0, "code", link="address"),
    Column("shown_duration", "Duration", 8, "figure", note="Of a slow query; other logs do not have it"),
    Column("shown_rows", "Rows sent", 10, "figure", note="Of a slow query; other logs do not have it"),
    Column("shown_status", "Error", 6, "figure", note="The error code of the server; 0 for success"),
)
FIELDS = (
    Column("names", "Field", 24, "code", note="With its other names"),
    Column("type", "Type", 10),
    Column("description", "Meaning", 0),
    Column("values", "Values", 48),
    Column("logs", "Logs", 24),
)
CSV_COLUMNS = (
    Column("time", "Time (UTC)", 0, "time"),
    *(
        Column(key, title)
        for key, title in {
            "log": "Log",
            "kind": "Kind",
            "cluster": "Cluster",
            "instance": "Instance",
            "user": "User",
            "client": "Client",
            "program": "Program",
            "database": "Database",
            "shown_session": "Connection id",
            "command": "Command",
            "verb": "Verb",
            "shown_status": "Error",
            "duration": "Duration (s)",
            "rows_sent": "Rows sent",
            "rows_examined": "Rows examined",
            "level": "Level",
            "code": "Code",
            "tables": "Tables",
            "query": "Query id",
            "text": "Masked statement, message or alert",
            "trace": "Trace id",
            "id": "Event id",
        }.items()
    ),
)
_EVENTS = Column("events", "Events", 12, "count")
_COUNTED = (Column("shown_log", "Log", 0, link="address"), _EVENTS)
_BARS = (Column("time", "Begin (UTC)", 0, "time"), _EVENTS)


@dataclass(frozen=True)
class Linking:
    """What links need: the pages that the viewer may see, and the address of a search."""

    span: TimeRange
    sees: Callable[[str], bool]
    """Whether the viewer has a page, by its title in the menu."""
    search: Callable[[SearchQuery], str]


def events(rows: Sequence[Mapping[str, Any]], linking: Linking) -> list[dict[str, Any]]:
    """Returns the rows of COLUMNS and CSV_COLUMNS."""
    return [{**row, **_shown(row), **_links(row, linking)} for row in rows]


def caption(shown: int, total: int | None) -> str:
    """Returns the caption of a list of events; `total` is None if it is unknown."""
    number = f"{shown:,} of {'an unknown number of' if total is None else f'{total:,}'} events"
    return f"{number}, the latest first. One action may be in several logs."


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "shown_log": LOGS[row["log"]],
        "shown_kind": KINDS[row["kind"]],
        "shown_session": str(row["session"]) if row["session"] else "",
        "shown_status": "" if row["status"] is None else str(row["status"]),
        "shown_duration": "" if row["duration"] is None else formats.duration(row["duration"]),
        "shown_rows": "" if row["rows_sent"] is None else formats.count(row["rows_sent"]),
        "first_table": row["tables"][0] if row["tables"] else "",
    }


def _links(row: Mapping[str, Any], linking: Linking) -> dict[str, str]:
    has_entities, span = linking.sees("Users and clients"), linking.span
    near = TimeRange(row["time"].replace(microsecond=0) - HOUR, row["time"].replace(microsecond=0) + HOUR)
    server = (row["cluster"], row["instance"], row["session"])
    table = row["tables"][0] if row["tables"] else ""
    # A role without pages of users gets the search for the events of the value.
    user, client, its = (
        (links.user, links.client, links.table)
        if has_entities
        else (partial(links.search, each) for each in ("user", "client", "table"))
    )
    return {
        "user_address": user(row["user"], span) if row["user"] else "",
        "client_address": client(row["client"], span) if row["client"] else "",
        "table_address": its(table, span) if table else "",
        "session_address": links.session(*server, near) if has_entities and row["session"] else "",
        "address": _address(row, linking),
    }


def _address(row: Mapping[str, Any], linking: Linking) -> str:
    if row["log"] == "alert":
        return links.alert(row["id"].replace("-", "")) if linking.sees("Alert inbox") else ""
    return links.query(row["query"], linking.span) if row["query"] and linking.sees("Queries") else ""


def shown_columns(rows: Sequence[Mapping[str, Any]]) -> tuple[Column, ...]:
    """Returns COLUMNS without those that are empty in all rows: the statement gets their space."""
    return tuple(column for column in COLUMNS if column.width == 0 or any(row[column.key] for row in rows))


def pipe_columns(pipe: Pipe) -> tuple[Column, ...]:
    """Returns the columns of the rows of a pipe."""
    if not isinstance(pipe, Top):
        return _BARS if hasattr(pipe, "seconds") else _COUNTED
    title = BY_NAME[pipe.field].name.replace("_", " ").capitalize()
    text = (Column("text", "Masked statement", 0, "code"),) if pipe.field == "query" else ()
    value = Column("shown_value", title, 20 if text else 0, link="address")
    return (
        value,
        *text,
        _EVENTS,
        Column("share", "Share", 8, "share", note="Of all events that match"),
    )


def counted(rows: Sequence[Mapping[str, Any]], query: SearchQuery, linking: Linking) -> list[dict[str, Any]]:
    """Returns the rows of `| count`; each leads to its events."""
    return [
        {**row, "shown_log": LOGS[row["log"]], "address": linking.search(narrowed(query, "log", row["log"]))}
        for row in rows
    ]


def number_of_all(rows: Sequence[Mapping[str, Any]], pipe: Top) -> int | None:
    """Returns the number of events of `| top`, or None if there may be more values than rows."""
    return sum(row["events"] for row in rows) if len(rows) < pipe.count else None


def top(
    rows: Sequence[Mapping[str, Any]], query: SearchQuery, linking: Linking, every: int | None
) -> list[dict[str, Any]]:
    """Returns the rows of `| top`; each value leads to its events. The unknown one is last.

    `every` is the number of all events that match; without it the shares are unknown.
    """
    return [
        {**row, **_of_value(row, query, linking), "share": row["events"] / every if every else None}
        for row in rows
    ]


def _of_value(row: Mapping[str, Any], query: SearchQuery, linking: Linking) -> dict[str, Any]:
    value, pipe = row["value"], query.pipe
    if value is None or not isinstance(pipe, Top):
        return {"shown_value": UNKNOWN, "address": "", "text": ""}
    text = {"text": row["text"] or ""} if "text" in row else {}
    return {"shown_value": value, "address": linking.search(narrowed(query, pipe.field, value)), **text}


def narrowed(query: SearchQuery, field: str, value: str) -> SearchQuery:
    """Returns the list of the events of a search with this value."""
    wanted = Comparison(field, EQUAL, (Value(value),))
    return SearchQuery(_both(query.where, wanted), query.last, query.between, query.around)


def _both(where: Condition | None, wanted: Condition) -> Condition:
    if where is None:
        return wanted
    return All((*where.conditions, wanted)) if isinstance(where, All) else All((where, wanted))


def fields(role: str) -> list[dict[str, str]]:
    """Returns the rows of FIELDS: the fields that a role can search."""
    return [
        {
            "names": ", ".join((each["field"], *each["other_names"])),
            "type": each["type"],
            "description": each["description"].replace("`", ""),
            "values": ", ".join(each["values"]),
            "logs": ", ".join(each["logs"]),
        }
        for each in reference.fields()
        if role in each["roles"]
    ]
