"""The tables that a search reads: the column of each field, and who may read them. The table has the alias e.

A field that a table lacks is unknown for its events: no comparison with it holds. The same is true for an
empty name, and for a NULL.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tailrace.search.fields import MESSAGES

_PLACE = "if(e.ip = '', e.host, e.ip)"
CLIENT = (
    f"if(isIPv6String({_PLACE}), "
    f"replaceRegexpOne(toString(toIPv6OrDefault({_PLACE})), '^::ffff:([0-9.]+)$', '\\\\1'), {_PLACE})"
)
"""`client_ip`, or else `client_host`, as the one expression of the indexes of migrations 0143 to 0145."""
KIND_OF_AUDIT = (
    "multiIf(e.login_kind != '' AND e.has_failed, 'refused', "
    "e.event_class = 'connection', 'connection', e.event_class = 'table', 'table', "
    "e.event_class != 'query' OR e.event_name NOT IN ('', 'status'), 'other', "
    "e.has_failed, 'failed', 'statement')"
)
KIND_OF_ENTRY = "if(e.has_failed, 'failed', 'statement')"
NAME_OF_MESSAGE = (
    "multiIf(e.kind = 'deadlock' AND e.message ILIKE '%aborted due to deadlock%', 'victim of a deadlock', "
    "e.kind = 'connection_aborted', if(e.message ILIKE 'Could not %packet%', 'packet not read', "
    "'aborted connection'), "
    "e.kind = 'server_state', transform(e.details['state'], ['start', 'recovery', 'shutdown'], "
    "['restart', 'crash recovery', 'shutdown'], 'server state'), "
    "replaceAll(toString(e.kind), '_', ' '))"
)
"""The kind of a message as sql/queries/errors.sql names it for the dashboard *Errors*, but `other` without
its level."""
WIDER_NAMES: Mapping[str, tuple[str, ...]] = {
    "connection_aborted": ("aborted connection", "packet not read"),
    "server_state": ("server state", "restart", "crash recovery", "shutdown"),
}
"""Stored kinds (io.tailrace.errorlog.ErrorKind) that NAME_OF_MESSAGE divides."""
KIND_OF_MESSAGE = "if(e.kind = 'access_denied', 'refused', 'message')"


@dataclass(frozen=True)
class Column:
    """The values of a field in one table."""

    sql: str
    """Of a constant, its text; of several values, an array."""
    known: str = ""
    """The condition that the value is known; empty if it always is."""
    is_nullable: bool = False
    is_array: bool = False
    is_constant: bool = False
    values: frozenset[str] | None = None
    """The values that occur in this table; None: any."""
    has_qualified_names: bool = False
    """Whether `cards` stands for `shop.cards`, too; the names are among those of the column `table`."""
    wider: Mapping[str, tuple[str, ...]] | None = None
    """Of names in lower case with spaces, which may be written with underscores and in any case: what other
    names stand for. None: the values are no such names."""
    also: "Column | None" = None
    """Where values are that are none of `values`: names, if it is `wider`."""
    of_table: str = ""
    """Another table, by event id, whose column `sql` is."""


def _text(sql: str, values: Mapping[str, str] | frozenset[str] | None = None) -> Column:
    return Column(sql, f"{sql} != ''", values=frozenset(values) if values else None)


def _always(sql: str, *values: str) -> Column:
    return Column(sql, values=frozenset(values) if values else None)


def _nullable(sql: str) -> Column:
    return Column(sql, f"{sql} IS NOT NULL", is_nullable=True)


def _array(sql: str) -> Column:
    return Column(sql, f"notEmpty({sql})", is_array=True)


def _names(sql: str) -> Column:
    return Column(sql, f"notEmpty({sql})", is_array=True, has_qualified_names=True)


def _constant(value: str) -> Column:
    return Column(value, is_constant=True, values=frozenset({value}))


@dataclass(frozen=True)
class Source:
    """A table of events or alerts."""

    table: str
    columns: Mapping[str, Column]
    """By the name of the field."""
    id: str = "e.event_id"
    time: str = "e.event_time"
    query: str = ""
    """The query id, whose fingerprint is the shown text; empty if the table has none."""
    text: str = "''"
    """The shown text of an event without a query id."""
    where: str = ""
    """The condition of a part of the table."""
    is_final: bool = False
    """Whether a row replaces an earlier one."""

    @property
    def right(self) -> str:
        return right_on(self.table)

    @property
    def by_text(self) -> list["Source"]:
        """The parts with one kind of text each: an index finds the query ids of the one, if no OR connects it
        with the other."""
        if not self.query or self.text == "''":
            return [self]
        with_statement = replace(self, text="''", where=f"{self.query} IS NOT NULL")
        return [with_statement, replace(self, query="", where=f"{self.query} IS NULL")]

    def rights(self, name: str) -> set[str]:
        """Returns the tables that a search with a field reads."""
        return {self.table, *filter(None, [self.columns[name].of_table])}


def right_on(table: str) -> str:
    return f"SELECT on tailrace.{table}"


TABLES = "arrayDistinct(arrayConcat(e.tables_read, e.tables_written))"
_OF_ALL = {
    "cluster": _text("e.cluster"),
    "instance": _text("e.instance"),
    "database": _text("e.database"),
    "user": _text("e.user"),
}
_OF_LOGS = {**_OF_ALL, "client": _text(CLIENT), "flag": _array("e.flags"), "id": _always("e.event_id")}
_OF_STATEMENTS = {
    "table": _names(TABLES),
    "reads": _names("e.tables_read"),
    "changes": _names("e.tables_written"),
    "class": Column("data_class", is_array=True, of_table="data_access"),
    "verb": _text("e.verb"),
    "trace": _text("e.trace_id"),
}
_CONNECTION = Column("e.connection_id", "e.connection_id != 0")
_THREAD = "if(e.thread_id != 0, e.thread_id, toUInt64OrZero(e.details['connection']))"

SLOW = Source(
    "query_events",
    {
        **_OF_LOGS,
        **_OF_STATEMENTS,
        "log": _constant("slow"),
        "kind": _always(KIND_OF_ENTRY, "statement", "failed"),
        "query": _always("e.query_id"),
        "session": _CONNECTION,
        "status": _nullable("e.error_code"),
        "duration": _always("e.query_time"),
        "lock": _always("e.lock_time"),
        "rows_sent": _always("e.rows_sent"),
        "rows_examined": _always("e.rows_examined"),
        "rows_affected": _nullable("e.rows_affected"),
        "application": _text("e.application"),
        "endpoint": _text("e.endpoint"),
        "plan": _text("e.plan_hash"),
    },
    query="e.query_id",
)
AUDIT = Source(
    "audit_events",
    {
        **_OF_LOGS,
        **_OF_STATEMENTS,
        "log": _always("if(e.source = 'general', 'general', 'audit')", "audit", "general"),
        "kind": _always(KIND_OF_AUDIT, "connection", "refused", "statement", "failed", "table", "other"),
        "command": _text("e.command"),
        "query": _nullable("e.query_id"),
        "session": _CONNECTION,
        "status": _nullable("if(e.event_outcome = 'success', e.status, nullIf(e.status, 0))"),
        "application": _text("coalesce(nullIf(e.tags['application'], ''), e.tags['app'])"),
        "endpoint": _text(
            "multiIf(e.tags['route'] != '', e.tags['route'], e.tags['controller'] != '', "
            "concat(e.tags['controller'], '#', e.tags['action']), e.tags['job'])"
        ),
        "program": _text("e.program_name"),
    },
    query="e.query_id",
    text="trim(concat(e.command, ' ', e.object))",
)
_NAME_OF_MESSAGE = Column(NAME_OF_MESSAGE, wider=WIDER_NAMES)
_KIND_OF_MESSAGE = replace(_NAME_OF_MESSAGE, values=frozenset(MESSAGES))
ERRORS = Source(
    "error_events",
    {
        **_OF_LOGS,
        "log": _constant("error"),
        "kind": replace(_always(KIND_OF_MESSAGE, "refused", "message"), also=_KIND_OF_MESSAGE),
        "command": _NAME_OF_MESSAGE,
        "session": Column(_THREAD, f"{_THREAD} != 0"),
        "status": _nullable("if(e.kind = 'access_denied', toNullable(1045), NULL)"),
        "level": _text("e.level"),
        "code": _text("e.code"),
    },
    text="e.message",
)
ALERTS = Source(
    "alerts",
    {
        **_OF_ALL,
        "log": _constant("alert"),
        "kind": _constant("alert"),
        "client": _text("e.src_ip"),
        "program": _text("e.program"),
        "level": _text("e.level"),
        "rule": _text("e.rule_title"),
        "id": _always("e.alert_id"),
    },
    id="e.alert_id",
    text="e.rule_title",
    is_final=True,
)
SOURCES = (SLOW, AUDIT, ERRORS, ALERTS)
FINGERPRINTS, DATA_ACCESS = "fingerprints", "data_access"


@dataclass(frozen=True)
class Role:
    """An audience: what it reads, and the ClickHouse account that reads for it."""

    name: str
    account: str
    tables: frozenset[str]

    def reads(self, source: Source) -> bool:
        return source.table in self.tables

    @property
    def sources(self) -> list[Source]:
        return [source for source in SOURCES if self.reads(source)]


_OF_DEVELOPERS = frozenset({SLOW.table, ERRORS.table, FINGERPRINTS})
_OF_ALL_EVENTS = _OF_DEVELOPERS | {AUDIT.table, ALERTS.table, DATA_ACCESS}

DEVELOPERS = Role("developers", "reader_developer", _OF_DEVELOPERS)
COMPLIANCE = Role("compliance", "reader_compliance", _OF_ALL_EVENTS)
SECURITY = Role("security", "reader_security", _OF_ALL_EVENTS)
ROLES: Mapping[str, Role] = {role.name: role for role in (DEVELOPERS, COMPLIANCE, SECURITY)}
