"""The fields of the grammar, as data. sources.py has the column of each field in each table.

docs/SEARCH.md and `tailrace search --fields` are generated from this list, and the parser takes its
suggestions from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tailrace.search import value_types as types
from tailrace.search.value_types import ValueType

LOGS = {
    "slow": "slow query log",
    "audit": "audit log",
    "general": "general query log",
    "error": "error log",
    "alert": "alerts",
}
KINDS = {
    "connection": "login or logout",
    "refused": "refused login",
    "statement": "statement",
    "failed": "failed statement",
    "table": "access to a table",
    "message": "message of the error log",
    "other": "other record of an audit log",
    "alert": "alert",
}
OTHER_KINDS = {"login": "connection", "logout": "connection"}
"""Words of the pages for kinds."""
MESSAGES = (
    *("access denied", "aborted connection", "packet not read", "too many connections"),
    *("replication error", "replication state", "errant gtid", "role change"),
    *("crash", "deadlock", "victim of a deadlock", "foreign key error", "innodb monitor", "innodb pressure"),
    *("corruption", "disk full", "out of memory", "sst", "ist", "quorum lost", "cluster view"),
    *("cluster state", "cluster conflict", "cluster inconsistent", "flow control", "plugin change"),
    *("server state", "restart", "crash recovery", "shutdown", "backup"),
)
"""Kinds of messages of the error log, as the dashboard *Errors* names them; `other` is one of KINDS."""


@dataclass(frozen=True)
class Field:
    """A field of the grammar. It compares one value of an event, or each of several."""

    name: str
    type: ValueType
    description: str
    other_names: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    """The possible values with their meanings, if they are few."""
    names: tuple[str, ...] = ()
    """Further possible values, which need no explanation."""
    has_top: bool = True
    """Whether `| top` groups by it."""


def _choice(
    name: str,
    values: Mapping[str, str],
    description: str,
    others: Mapping[str, str] = MappingProxyType({}),
    names: tuple[str, ...] = (),
) -> Field:
    known = types.choice(values, {**others, **{each: each for each in names}})
    return Field(name, known, description, values=values, names=names)


FIELDS = (
    _choice("log", LOGS, "The kind of log, or `alert`"),
    _choice(
        "kind",
        KINDS,
        "What the event is, with `login` and `logout` for `connection`, or the kind of an error log's "
        'message as *Errors* names it, such as `kind:"replication error"`',
        OTHER_KINDS,
        MESSAGES,
    ),
    Field("user", types.NAME, "The account's user name", ("account",)),
    Field(
        "client",
        types.CLIENT,
        "The client's address in any form, or its host name if the log has no address",
        ("ip", "host"),
    ),
    Field("cluster", types.NAME, "The cluster of the server"),
    Field("instance", types.NAME, "The server", ("server",)),
    Field("database", types.NAME, "The default database", ("db",)),
    Field("table", types.NAME, "A table that the statement reads or changes; with or without its database"),
    Field("reads", types.NAME, "A table that the statement reads; with or without its database"),
    Field(
        "changes", types.NAME, "A table that the statement changes; with or without its database", ("writes",)
    ),
    Field("class", types.NAME, "A data class that the statement touches", ("data_class",), has_top=False),
    Field("verb", types.UPPER, "The first word of the statement, such as `SELECT`"),
    Field(
        "command",
        types.NAME,
        "The command of an audit record, or the kind of an error log's message, as *Errors* names it",
    ),
    Field("query", types.QUERY, "The query id", ("query_id",)),
    Field("session", types.COUNT, "The connection id", ("connection",)),
    Field("status", types.INTEGER, "The error code of the server; 0 for success", ("errno",)),
    Field(
        "duration",
        types.DURATION,
        "The execution time, in seconds unless a unit is given",
        ("query_time",),
        has_top=False,
    ),
    Field(
        "lock", types.DURATION, "The time that the statement waited for locks", ("lock_time",), has_top=False
    ),
    Field("rows_sent", types.COUNT, "Rows that were sent to the client", has_top=False),
    Field("rows_examined", types.COUNT, "Rows that the server read", has_top=False),
    Field("rows_affected", types.COUNT, "Rows that the statement changed", has_top=False),
    Field("application", types.NAME, "The application that a comment of the statement names", ("app",)),
    Field(
        "endpoint",
        types.NAME,
        "The route, controller or job that a comment of the statement names",
        ("route",),
    ),
    Field("program", types.NAME, "The client's program"),
    Field("trace", types.NAME, "The trace id", ("trace_id",), has_top=False),
    Field("plan", types.NAME, "The plan of the execution, if the log contains it", ("plan_hash",)),
    Field(
        "level",
        types.NAME,
        "The level of an error log's message, such as `Error`, or the severity of an alert",
    ),
    Field("code", types.NAME, "The code of an error log's message, such as `MY-010914`"),
    Field("rule", types.NAME, "The title of the alert's rule"),
    Field("flag", types.NAME, "A flag of the event, such as `truncated`"),
    Field("id", types.ID, "The id of the event or alert", has_top=False),
)

BY_NAME: Mapping[str, Field] = {name: each for each in FIELDS for name in (each.name, *each.other_names)}

TIMES: Mapping[str, str] = {
    "last": "The time before now: `last:90m`, `last:24h`, `last:7d`",
    "from": "The begin, in UTC: `from:2026-11-24` or `from:2026-11-24T14:00`",
    "to": "The end, in UTC, which is not included",
    "around": "The id of an alert: events of its entity near its time; `around:ID~2h` changes the 30 minutes",
}
"""Words before a colon that are not fields; each may be used once, outside of parentheses."""

PIPES: Mapping[str, str] = {
    "top": "`| top FIELD [N]`: the N most frequent values of a field, by default 10, at most 1000",
    "timeline": "`| timeline 5m`: the number of events per 5 minutes, at most 5000 bars",
    "count": "`| count`: the number of events by log",
}
