"""The checks of a server's logging, with the setting that fixes each problem.

They need variables and facts only, no connection: the doctor reads them from the server, and the dashboards
from the last snapshot. So this module and those that it imports use the standard library only.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tailrace_capture.account_names import account
from tailrace_capture.doctor import audit_settings
from tailrace_capture.doctor.accounts import grants_for
from tailrace_capture.doctor.finding import ERROR, INFO, OK, WARNING, Finding
from tailrace_capture.product import MARIADB, PERCONA, Product

SLOW_ENOUGH_SECONDS = 1.0
LOGGED_BY = {
    "query_plan": "sorts and temporary tables",
    "innodb": "pages that InnoDB read",
}
"""What a word of log_slow_verbosity adds to the slow log."""
SHORT_STATEMENT = 8192
"""The minimum length in bytes at which an audit log should truncate statements."""
NOT_LOGGED = "the activity of users is not logged"
"""The message of the finding whose fix adds an audit log."""


class ServerState(Protocol):
    """The state of a server that these checks read."""

    product: Product
    variables: dict[str, str]
    account: str
    """The account that reads the server, as `user@host`."""

    def variable(self, *names: str) -> str:
        """Returns the first existing one of these variables; empty if there is none."""

    def is_on(self, *names: str) -> bool:
        """Returns whether the first existing one of these variables is on."""

    def fact(self, kind: str, key: str) -> dict[str, str]:
        """Returns a fact's attributes; none if it is missing."""


@dataclass(frozen=True)
class CapturedState:
    """The state of a server in its last snapshots. A variable that no snapshot contains is missing."""

    product: Product
    variables: dict[str, str]
    facts: Mapping[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """Attributes by kind and key."""
    account: str = "tailrace@%"

    def variable(self, *names: str) -> str:
        return next((self.variables[name] for name in names if name in self.variables), "")

    def is_on(self, *names: str) -> bool:
        return self.variable(*names).upper() in ("ON", "1", "YES")

    def fact(self, kind: str, key: str) -> dict[str, str]:
        return self.facts.get((kind, key), {})


def slow_log(seen: ServerState) -> Iterator[Finding]:
    """Checks that slow statements are logged to a file with all available details."""
    output = seen.variable("log_output").upper()
    if not seen.is_on("slow_query_log"):
        yield Finding(ERROR, "slow log", "it is off", setting(seen, "slow_query_log", "ON"))
    if "FILE" not in output:
        text = f"log_output is {output}: slow statements are not written to a file"
        yield Finding(ERROR, "slow log", text, setting(seen, "log_output", "'FILE'"))
    elif "TABLE" in output:
        text = "log_output is FILE,TABLE: the tables cost time and grow without limit"
        yield Finding(INFO, "slow log", text, setting(seen, "log_output", "'FILE'"))
    yield from _threshold(seen)
    yield from _sampling(seen)
    yield from _verbosity(seen)


def _threshold(seen: ServerState) -> Iterator[Finding]:
    seconds = float(seen.variable("long_query_time") or 10)
    if seconds > SLOW_ENOUGH_SECONDS:
        text = f"long_query_time is {seconds:g} s: faster statements are not logged"
        yield Finding(WARNING, "slow log", text, setting(seen, "long_query_time", "0.5"))
    else:
        yield Finding(OK, "slow log", f"statements of {seconds:g} s and more are logged")
    examined = int(seen.variable("min_examined_row_limit") or 0)
    if examined:
        text = f"min_examined_row_limit is {examined}: slow statements that read fewer rows are not logged"
        yield Finding(WARNING, "slow log", text, setting(seen, "min_examined_row_limit", "0"))
    throttle = int(seen.variable("log_throttle_queries_not_using_indexes") or 0)
    if seen.is_on("log_queries_not_using_indexes") and throttle:
        text = (
            f"of statements without an index only {throttle} a minute are logged, the others are summarized"
        )
        yield Finding(INFO, "slow log", text, setting(seen, "log_throttle_queries_not_using_indexes", "0"))


def _sampling(seen: ServerState) -> Iterator[Finding]:
    """Checks sampling: MariaDB and Percona Server can log every n-th statement or session."""
    rate = int(float(seen.variable("log_slow_rate_limit") or 1))
    if rate <= 1:
        return
    if seen.product.name == PERCONA:
        kind = seen.variable("log_slow_rate_type")
        text = f"one {kind} of {rate} is logged: the log contains the rate, and numbers are weighted by it"
        yield Finding(INFO, "sampling", text)
    else:
        text = f"one statement of {rate} is logged, but not the rate: numbers are too low by that factor"
        yield Finding(WARNING, "sampling", text, setting(seen, "log_slow_rate_limit", "1"))


def _verbosity(seen: ServerState) -> Iterator[Finding]:
    if seen.product.name == MARIADB:
        yield from _words(seen, "log_slow_verbosity", ("query_plan", "innodb"), "query_plan,innodb,explain")
    elif seen.product.name == PERCONA:
        yield from _words(seen, "log_slow_verbosity", ("query_plan", "innodb"), "full")
    elif "log_slow_extra" in seen.variables and not seen.is_on("log_slow_extra"):
        text = "log_slow_extra is off: the log lacks rows read, sorts and temporary tables"
        yield Finding(INFO, "slow log", text, setting(seen, "log_slow_extra", "ON"))


def _words(seen: ServerState, variable: str, wanted: tuple[str, ...], fix: str) -> Iterator[Finding]:
    value = seen.variable(variable).lower()
    has = set(value.split(","))
    if "standard" in has:  # of Percona Server: microtime,innodb
        has.add("innodb")
    missing = [word for word in wanted if word not in has]
    if variable in seen.variables and "full" not in has and missing:
        lacks = ", and ".join(LOGGED_BY[word] for word in missing)
        text = f"{variable} is {value or 'empty'}: the log lacks {lacks}"
        yield Finding(INFO, "slow log", text, setting(seen, variable, f"'{fix}'"))


def audit_log(seen: ServerState) -> Iterator[Finding]:
    """Checks that logins and statements of users are logged."""
    auditing = seen.fact("audit", "auditing")
    if auditing.get("active") == "yes":
        yield Finding(OK, "audit", f"{auditing['by']} writes {auditing['file'] or 'an audit log'}")
        yield from _audit_options(seen)
    elif switch := auditing.get("switched_off_by", ""):
        on = {"server_audit_logging": "ON", "audit_log_policy": "'ALL'", "audit_log_disable": "OFF"}
        text = f"{auditing['by']} is loaded and writes nothing ({switch})"
        yield Finding(ERROR, "audit", text, setting(seen, switch, on.get(switch, "ON")))
    elif seen.is_on("general_log") and "FILE" in seen.variable("log_output").upper():
        text = "only the general log: it contains statements and logins, but not whether a statement failed"
        yield Finding(INFO, "audit", text)
    elif auditing.get("active") == "unknown" and auditing.get("other_plugins"):
        text = f"unknown: {auditing['other_plugins']} may write an audit log"
        yield Finding(WARNING, "audit", text)
    elif auditing.get("active") == "unknown":
        fix = grants_for(seen.product, account_written(seen.account))["audit"]
        yield Finding(WARNING, "audit", f"unknown: may not read {auditing['not_readable']}", fix)
    else:
        yield Finding(ERROR, "audit", NOT_LOGGED, audit_settings.audit_log(seen.product).lines)


def _audit_options(seen: ServerState) -> Iterator[Finding]:
    if seen.variable("server_audit_output_type").lower() == "syslog":
        text = "the audit log goes to syslog, which truncates and reorders it"
        yield Finding(ERROR, "audit", text, setting(seen, "server_audit_output_type", "'file'"))
    limit = int(seen.variable("server_audit_query_log_limit") or SHORT_STATEMENT)
    if limit < SHORT_STATEMENT:
        text = f"statements are truncated after {limit} bytes"
        yield Finding(WARNING, "audit", text, setting(seen, "server_audit_query_log_limit", "65535"))
    events = seen.variable("server_audit_events").upper()
    if events and "CONNECT" not in events:
        text = f"server_audit_events is {events}: logins are not logged"
        yield Finding(WARNING, "audit", text, setting(seen, "server_audit_events", f"'CONNECT,{events}'"))
    left_out = seen.variable("server_audit_excl_users", "audit_log_exclude_accounts")
    if left_out not in ("", "NULL"):
        yield Finding(WARNING, "audit", f"the activity of these accounts is not logged: {left_out}")
    policy = seen.variable("audit_log_policy").upper()
    if policy in ("LOGINS", "QUERIES"):
        text = f"audit_log_policy is {policy}: all other events are not logged"
        yield Finding(WARNING, "audit", text, setting(seen, "audit_log_policy", "'ALL'"))


STANDARD_ERROR = "it is written to standard error and not to a file"


def error_log(seen: ServerState) -> Iterator[Finding]:
    """Checks that the error log is a file and contains failed logins."""
    value = seen.variable("log_error")
    if "log_error" in seen.variables and (not value or value.endswith("stderr")):
        fix = ("# my.cnf, only read at start", _section(seen), "log_error = /var/log/mysql/error.log")
        yield Finding(WARNING, "error log", STANDARD_ERROR, fix)
    noise = seen.variable("log_error_verbosity", "log_warnings")
    name = "log_error_verbosity" if "log_error_verbosity" in seen.variables else "log_warnings"
    least = 3 if name == "log_error_verbosity" else 2
    if noise.isdigit() and int(noise) < least:
        text = f"{name} is {noise}: refused logins are not in the error log"
        yield Finding(WARNING, "error log", text, setting(seen, name, str(least)))


def setting(seen: ServerState, variable: str, value: str) -> tuple[str, ...]:
    """Returns the fix that sets a variable now and permanently: MySQL 8 persists it, others need a line in
    their configuration."""
    if not seen.product.is_mariadb and seen.product.since(8):
        return (f"SET PERSIST {variable} = {value};",)
    plain = value.strip("'")
    return (
        f"SET GLOBAL {variable} = {value};",
        "# my.cnf, to keep it",
        _section(seen),
        f"{variable} = {plain}",
    )


def _section(seen: ServerState) -> str:
    return "[mariadbd]" if seen.product.is_mariadb else "[mysqld]"


def account_written(name: str) -> str:
    user, _, host = name.rpartition("@")
    return account(user, host)
