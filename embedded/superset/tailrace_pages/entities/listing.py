"""The tables beside the records: clients, users, programs, tables, data classes, alerts; and the search."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tailrace.rules import data_classes
from tailrace.rules.data_classes import ClassPattern
from tailrace_pages import formats
from tailrace_pages.columns import Column
from tailrace_pages.entities import addresses
from tailrace_pages.entities.kinds import Entity
from tailrace_pages.entities.overview import Logs

SHOWN = 10
"""Rows of a side table, unless all of it are wanted."""
MOST = 500
"""Rows of a side table with all, and of its CSV: the limit of page_entity_others.sql."""
FOUND_WITHOUT_TEXT = 10
"""Rows of each kind in the search before a text is given."""

Row = Mapping[str, Any]

_TIMES = (Column("first_seen", "First (UTC)", 20, "time"), Column("last_seen", "Last (UTC)", 20, "time"))
_OF_ACTORS = (
    Column("logins", "Logins", 10, "count"),
    Column("refused", "Refused logins", 10, "count"),
    Column("statements", "Statements", 12, "count"),
    Column("errors", "Errors", 8, "count"),
)
_OF_DATA = (
    Column("reads", "Reads", 10, "count"),
    Column("changes", "Changes", 10, "count"),
    Column("errors", "Errors", 8, "count"),
)


@dataclass(frozen=True)
class Table:
    """A side table: `key` is its value of the argument `table` of CSV addresses."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    total: int
    """Rows that exist; `rows` may have fewer."""

    @property
    def caption(self) -> str:
        return (
            self.title
            if self.total <= len(self.rows)
            else f"{self.title}: {len(self.rows)} of {self.total:,}"
        )

    @property
    def is_cut(self) -> bool:
        return self.total > len(self.rows)

    @property
    def all_text(self) -> str:
        """The text of the link to all rows."""
        name = self.title.lower()
        return f"Show all {self.total:,} {name}" if self.total <= MOST else f"Show the first {MOST} {name}"


OTHERS = {"user": ("users", "Users"), "client": ("clients", "Clients"), "program": ("programs", "Programs")}
"""Dimensions of page_entity_others, with the key and the title of their table."""


def others(entity: Entity, rows: Sequence[Row], logs: Logs, links: Mapping[str, str]) -> list[Table]:
    """Returns the tables of users, clients and programs, without the dimension of the entity itself.

    A count is None where the number of the page would be unknown (Logs.is_unknown).
    """
    return [
        _dimension(entity, dimension, [row for row in rows if row["dimension"] == dimension], logs, links)
        for dimension in OTHERS
        if dimension != entity.kind
    ]


def _dimension(
    entity: Entity, dimension: str, rows: Sequence[Row], logs: Logs, links: Mapping[str, str]
) -> Table:
    key, title = OTHERS[dimension]
    shown = [
        {
            **row,
            **_without_log(entity, row, logs),
            "value": row["value"] or formats.UNKNOWN,
            "address": _other(row, links),
        }
        for row in rows
    ]
    counted = _OF_DATA if entity.is_data else _OF_ACTORS
    columns = (Column("value", title.removesuffix("s"), 0, link="address"), *counted, *_TIMES)
    return Table(key, title, columns, shown, rows[0]["value_count"] if rows else 0)


def _without_log(entity: Entity, row: Row, logs: Logs) -> dict[str, None]:
    counted = [each for each in entity.measures if each.key in row]
    return {each.key: None for each in counted if logs.is_unknown(each, row[each.key])}


def _other(row: Row, links: Mapping[str, str]) -> str:
    if row["dimension"] == "program" or not row["value"]:
        return ""
    return addresses.entity(row["dimension"], row["value"], links)


def tables(rows: Sequence[Row], links: Mapping[str, str]) -> Table:
    """Returns the table of tables that were read or changed, from rows of page_entity_others."""
    rows = [row for row in rows if row["dimension"] == "table"]
    shown = [{**row, "address": addresses.entity("table", row["value"], links)} for row in rows]
    columns = (Column("value", "Table", 0, link="address"), *_OF_DATA[:2], *_TIMES)
    return Table("tables", "Tables", columns, shown, rows[0]["value_count"] if rows else 0)


def classes(rows: Sequence[Row], links: Mapping[str, str]) -> Table:
    """Returns the table of data classes."""
    shown = [{**row, "address": _class(row["class"], links)} for row in rows]
    counted = (
        Column("reads", "Read actions", 10, "count"),
        Column("changes", "Change actions", 10, "count"),
        Column(
            "unknown_actions", "Unknown actions", 10, "count",
            note="Actions that may have touched other data than the logs name",
        ),
    )  # fmt: skip
    columns = (Column("class", "Data class", 0, link="address"), *counted, *_TIMES)
    return Table("classes", "Data classes", columns, shown, len(rows))


def _class(name: str, links: Mapping[str, str]) -> str:
    return "" if name == "(unknown)" else addresses.entity("class", name, links)


_PATTERNS = (
    Column("pattern", "Pattern", 0, "code"),
    Column("covers", "Covers", 20),
    Column("belongs", "Belongs to the class", 20),
    Column("since", "Since", 14, note="Day of the confirmation"),
    Column("confirmed_by", "Confirmed by", 32),
)


def patterns_of(name: str, file: Path, databases: Collection[str] | None = None) -> tuple[Table | None, str]:
    """Returns the table of `patterns`, and why it is unknown: an empty text if the file can be read."""
    try:
        return patterns(name, data_classes.read(file), databases), ""
    except OSError as error:
        return None, f"{file.name}: {error.strerror}"
    except ValueError as error:
        return None, str(error)


def patterns_to_save(table: Table | None, is_restricted: bool) -> Table | None:
    """Returns the table of a file; None if there is none for this viewer.

    To a restricted audience, a file without rows would tell that the class exists.
    """
    return None if table is None or (is_restricted and not table.rows) else table


def patterns(
    name: str, classes: Mapping[str, Sequence[ClassPattern]], databases: Collection[str] | None = None
) -> Table | None:
    """Returns the patterns of a data class of the rule files; None if they do not have the class.

    With `databases` only those of these databases and of any database.
    """
    if name not in classes:
        return None
    shown = [
        {
            "data_class": name,
            "pattern": each.pattern,
            "covers": "whole tables" if each.of_whole_tables else "columns",
            "belongs": "no, excluded" if each.excluded else "yes",
            "since": each.since or None,
            "confirmed_by": each.confirmed_by or "nobody named",
        }
        for each in classes[name]
        if databases is None or each.is_of(databases)
    ]
    columns = (Column("data_class", "Data class", 14), *_PATTERNS)
    return Table("patterns", "Tables and columns of the class", columns, shown, len(shown))


def alerts(rows: Sequence[Row]) -> Table:
    """Returns the table of alerts, those about the entity and those in the same sessions."""
    shown = [{**row, "address": addresses.alert(row["alert"])} for row in rows]
    columns = (
        Column("level", "Level", 16, "severity"),
        Column("event_time", "Event (UTC)", 20, "time"),
        Column("rule_title", "Rule", 0, link="address"),
        Column("relation", "Relation", 20),
        Column("entity_key", "Entity", 24, "entity"),
        Column("instance", "Instance", 12),
        Column("state", "State", 14),
        Column("match_count", "Count", 8, "count"),
    )
    return Table("alerts", "Alerts", columns, shown, len(rows))


def sessions(entity: Entity, logins: Sequence[Row], until: datetime) -> Table:
    """Returns the sessions of a connection id, the latest first; each ends before the next login."""
    ends = [until, *(row["began"] for row in logins)]
    shown = [
        {
            **row,
            "address": addresses.session(
                entity.cluster, entity.instance, entity.connection, _between(row["began"], end)
            ),
        }
        for row, end in zip(logins, ends, strict=False)
    ]
    columns = (
        Column("began", "Login (UTC)", 20, "time", link="address"),
        Column("user", "User", 24),
        Column("client", "Client", 28),
        Column("program", "Program", 24),
        Column("database", "Database"),
    )
    return Table("sessions", "Sessions with this connection id", columns, shown, len(shown))


def _between(begin: datetime, end: datetime) -> dict[str, str]:
    """Whole seconds around a session; the second of the next login belongs to the next session."""
    last = end.replace(microsecond=0)
    return {"from": formats.iso(begin), "to": formats.iso(max(last, begin + timedelta(seconds=1)))}


def limited(table: Table, limit: int = SHOWN, whole: str = "") -> Table:
    """Returns the table with its first rows, or with all if `whole` is its key."""
    if table.key == whole:
        return table
    return Table(table.key, table.title, table.columns, table.rows[:limit], table.total)


SEARCH_COLUMNS = (
    Column("name", "Name", 0, link="address"),
    Column("records", "Records", 14, "count"),
    Column("last_seen", "Last activity (UTC)", 20, "time"),
)
SEARCH_CSV_COLUMNS = (Column("entity_kind", "Kind"), *SEARCH_COLUMNS)
_TITLES = {"user": "Users", "client": "Clients", "table": "Tables", "class": "Data classes"}


def found(rows: Sequence[Row], text: str, links: Mapping[str, str], whole: str = "") -> list[Table]:
    """Returns a table for each kind with a result, from rows of page_entity_search.

    Without a text they have their first rows only, except for the kind `whole`.
    """
    return [
        _found(
            kind,
            [row for row in rows if row["entity_kind"] == kind],
            len(rows) if text or kind == whole else FOUND_WITHOUT_TEXT,
            links,
        )
        for kind in _TITLES
        if any(row["entity_kind"] == kind for row in rows)
    ]


def _found(kind: str, rows: Sequence[Row], limit: int, links: Mapping[str, str]) -> Table:
    shown = [
        {**row, "address": addresses.entity(row["entity_kind"], row["name"], links)} for row in rows[:limit]
    ]
    return Table(kind, _TITLES[kind], SEARCH_COLUMNS, shown, rows[0]["found"])
