"""What contains the events of a class, or a field, that the logs of a server lack: by the server's product.

docs/TAXONOMY.md lists the fields of each log. A text names only settings of the product if it is known.
"""

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass

from tailrace_capture.product import MARIADB, MYSQL, PERCONA

NO_EVENTS = "not possible with MariaDB: its audit log (server_audit) writes no such events"
NO_FIELD = "not possible with MariaDB: its audit log (server_audit) does not contain this field"
IMPOSSIBLE = "not possible"
"""The begin of a text that names no setting."""


@dataclass(frozen=True)
class Change:
    """What would help, with a text for each product; `unknown` if the product is not known."""

    unknown: str
    mysql: str = ""
    percona: str = ""
    mariadb: str = ""

    def on(self, product: str) -> str:
        """Returns the text for a product of tailrace_capture.product; empty: it is not known."""
        return {MYSQL: self.mysql, PERCONA: self.percona, MARIADB: self.mariadb}.get(product) or self.unknown


_ALL_CLASSES = Change(
    "an audit log that contains all event classes: audit_log_policy = ALL (MySQL Enterprise Audit, Percona"
    " Server); server_audit of MariaDB writes none of this class",
    mysql="an audit log that contains all event classes: audit_log_policy = ALL (MySQL Enterprise Audit)",
    percona="an audit log that contains all event classes: audit_log_policy = ALL",
    mariadb=NO_EVENTS,
)
CLASSES = {
    "connection": Change(
        "an audit log with logins: audit_log_policy = ALL (MySQL Enterprise Audit, Percona Server), or"
        " server_audit_events with CONNECT (MariaDB)",
        mysql="an audit log with logins: audit_log_policy = ALL (MySQL Enterprise Audit)",
        percona="an audit log with logins: audit_log_policy = ALL",
        mariadb="an audit log with logins: server_audit_events with CONNECT",
    ),
    "query": Change("an audit log, a general log or a slow query log"),
    "table": Change(
        "an audit log that names tables: server_audit_events = 'CONNECT,QUERY,TABLE' (MariaDB), or a filter"
        " with the class table_access (MySQL Enterprise Audit, audit_log_filter of Percona Server)",
        mysql="an audit log that names tables: a filter with the class table_access (MySQL Enterprise Audit)",
        percona="an audit log that names tables: audit_log_filter with the class table_access",
        mariadb="an audit log that names tables: server_audit_events = 'CONNECT,QUERY,TABLE'",
    ),
    "message": Change("the error log"),
    "admin": _ALL_CLASSES,
    "server": _ALL_CLASSES,
}
"""What contains the events of a class."""
_JSON = "an audit log in a format with this field, such as JSON"
_FIELDS = (
    (
        ("attribute.using_password", "detail.using_password"),
        Change(
            "the error log with refused logins: log_error_verbosity = 3 (MySQL), log_warnings = 2 (MariaDB)",
            mysql="the error log with refused logins: log_error_verbosity = 3",
            percona="the error log with refused logins: log_error_verbosity = 3",
            mariadb="the error log with refused logins: log_warnings = 2",
        ),
    ),
    (("attribute.startup_options",), _ALL_CLASSES),
    (
        ("query_time", "lock_time", "rows_sent", "rows_examined", "plan_flag"),
        Change("the slow query log"),
    ),
    (
        ("rows_affected",),
        Change(
            "a slow query log with log_slow_verbosity = full (Percona Server, MariaDB)",
            mysql="not possible with MySQL: its slow query log does not contain this field",
            percona="a slow query log with log_slow_verbosity = full",
            mariadb="a slow query log with log_slow_verbosity = full",
        ),
    ),
    (
        ("bytes_sent",),
        Change(
            "a slow query log with log_slow_verbosity = full (Percona Server, MariaDB) or log_slow_extra = ON"
            " (MySQL)",
            mysql="a slow query log with log_slow_extra = ON",
            percona="a slow query log with log_slow_verbosity = full",
            mariadb="a slow query log with log_slow_verbosity = full",
        ),
    ),
    (("level", "subsystem", "kind", "message", "detail.*"), Change("the error log")),
    (
        ("data_class*", "data_basis", "data_access"),
        Change("data classes: data-classes.yaml, then tailrace rules push"),
    ),
    (
        ("trace_id", "span_id", "tag.*"),
        Change("comments with traceparent or tags in the statements of the application"),
    ),
    (
        ("outcome", "status", "error_code"),
        Change("an audit log: a general log does not contain results of statements"),
    ),
    (
        ("connection_type",),
        Change(
            f"a general log, or {_JSON} of MySQL Enterprise Audit or Percona Server",
            mysql=f"a general log, or {_JSON} of MySQL Enterprise Audit",
            percona=f"a general log, or {_JSON}",
            mariadb="a general log",
        ),
    ),
    (
        ("proxy_user",),
        Change(
            f"{_JSON} of MySQL Enterprise Audit or Percona Server, or server_audit_events with CONNECT"
            " (MariaDB)",
            mysql=f"{_JSON} of MySQL Enterprise Audit",
            percona=_JSON,
            mariadb="an audit log with logins: server_audit_events with CONNECT",
        ),
    ),
    (
        ("program", "priv_user", "os_user", "src_port", "connection_*", "command_class", "event_name"),
        Change(
            f"{_JSON} of MySQL Enterprise Audit or Percona Server",
            mysql=f"{_JSON} of MySQL Enterprise Audit",
            percona=_JSON,
            mariadb=NO_FIELD,
        ),
    ),
    (
        ("server_query_id",),
        Change(
            "the audit log of MariaDB",
            mysql="not possible with MySQL: only the audit log of MariaDB contains this field",
            percona="not possible with Percona Server: only the audit log of MariaDB contains this field",
        ),
    ),
    (("login", "command"), Change("an audit log or a general log")),
    (("src_ip",), Change("skip_name_resolve = ON: this format contains a name or an address, not both")),
)
"""Patterns of fields, and what contains them."""
OTHER = "another format of the log: docs/TAXONOMY.md lists the fields of each"


def needed(classes: Sequence[str], fields: Sequence[str], product: str) -> list[str]:
    """Returns what contains the missing classes and fields. If one of them is not possible, nothing else."""
    found = [CLASSES[name].on(product) if name in CLASSES else OTHER for name in classes]
    found += [_of_field(name, product) for name in fields]
    found = list(dict.fromkeys(found))
    return [each for each in found if each.startswith(IMPOSSIBLE)] or found


def _of_field(name: str, product: str) -> str:
    for patterns, its_change in _FIELDS:
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            return its_change.on(product)
    return OTHER
