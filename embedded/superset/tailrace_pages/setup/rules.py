"""Rules that cannot fire on a server, grouped by what would change it.

The detect job reports which fields or event classes the logs of a server lack (docs/DETECTION.md). Which log
contains them is in docs/TAXONOMY.md.
"""

import fnmatch
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailrace_pages.rule_reasons import in_few_words
from tailrace_pages.setup.servers import LOGS

_ALL_CLASSES = (
    "an audit log that contains all event classes: audit_log_policy = ALL (MySQL Enterprise Audit, Percona"
    " Server); server_audit of MariaDB writes none of this class"
)
CLASSES = {
    "connection": (
        "an audit log with logins: audit_log_policy = ALL (MySQL Enterprise Audit, Percona Server), or"
        " server_audit_events with CONNECT (MariaDB)"
    ),
    "query": "an audit log, a general log or a slow query log",
    "table": "an audit log that names tables: server_audit_events = 'CONNECT,QUERY,TABLE' (MariaDB)",
    "message": "the error log",
    "admin": _ALL_CLASSES,
    "server": _ALL_CLASSES,
}
"""What contains the events of a class."""
FIELDS = (
    (
        ("attribute.using_password", "detail.using_password"),
        "the error log with refused logins: log_error_verbosity = 3 (MySQL), log_warnings = 2 (MariaDB)",
    ),
    (("query_time", "lock_time", "rows_sent", "rows_examined", "plan_flag"), "the slow query log"),
    (
        ("rows_affected", "bytes_sent"),
        "a slow query log with log_slow_verbosity = full (Percona Server, MariaDB)",
    ),
    (("level", "subsystem", "kind", "message", "detail.*"), "the error log"),
    (
        ("data_class*", "data_basis", "data_access"),
        "data classes: data-classes.yaml, then tailrace rules push",
    ),
    (
        ("trace_id", "span_id", "tag.*"),
        "comments with traceparent or tags in the statements of the application",
    ),
    (
        ("outcome", "status", "error_code"),
        "an audit log: a general log does not contain results of statements",
    ),
    (
        (
            "program",
            "priv_user",
            "proxy_user",
            "os_user",
            "src_port",
            "connection_*",
            "command_class",
            "event_name",
        ),
        "an audit log in a format with this field, such as JSON of MySQL Enterprise Audit or Percona Server",
    ),
    (("server_query_id",), "the audit log of MariaDB"),
    (("login", "command"), "an audit log or a general log"),
    (("src_ip",), "skip_name_resolve = ON: this format contains a name or an address, not both"),
)
"""Patterns of fields, and what contains them."""
OTHER = "another format of the log: docs/TAXONOMY.md lists the fields of each"


@dataclass(frozen=True)
class Group:
    """Rules of a server that the same change would enable."""

    reason: str
    """Why they cannot fire, in a few words."""
    missing: str
    """Missing event classes and fields; empty if the rules need another kind of log."""
    change: str
    rules: Sequence[Mapping[str, Any]]


def groups(rows: Iterable[Mapping[str, Any]], watched: Iterable[str]) -> list[Group]:
    """Returns the groups of the rules that cannot fire, the largest first.

    Parameters
    ----------
    watched : the kinds of logs of the server that are read
    """
    found = defaultdict(list)
    absent = [kind for kind in LOGS if kind not in {*watched}]
    for row in rows:
        if not row["can_fire"]:
            found[in_few_words(row["reason"]), missing(row), change(row, absent)].append(row)
    made = [Group(*key, rules) for key, rules in found.items()]
    return sorted(made, key=lambda group: (-len(group.rules), group.reason, group.missing))


def missing(row: Mapping[str, Any]) -> str:
    """Returns the missing event classes and fields as a text."""
    return ", ".join(
        [*(f"events of the class {name}" for name in row["missing_classes"]), *row["missing_fields"]]
    )


def change(row: Mapping[str, Any], absent: Sequence[str]) -> str:
    """Returns what would enable a rule, as a text."""
    wanted = [CLASSES.get(name, OTHER) for name in row["missing_classes"]]
    wanted += [_field(name) for name in row["missing_fields"]]
    if not wanted:
        useful = [kind for kind in row["fires_on"] if kind in absent] or absent
        titles = [LOGS[kind] for kind in useful if kind in LOGS]
        wanted = [f"{' or '.join(titles)} of this server"] if titles else [OTHER]
    return "; ".join(dict.fromkeys(wanted))


def _field(name: str) -> str:
    for patterns, log in FIELDS:
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            return log
    return OTHER
