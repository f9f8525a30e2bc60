"""The checks: each reads an examination and yields findings. None of them changes anything."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tailrace_capture.doctor.accounts import explain_account, grants_for, narrowed
from tailrace_capture.doctor.examination import Examination
from tailrace_capture.doctor.file_checks import files
from tailrace_capture.doctor.finding import ERROR, INFO, OK, WARNING, Finding
from tailrace_capture.facts import account
from tailrace_capture.server import MARIADB, PERCONA

Check = Callable[[Examination], Iterator[Finding]]
SLOW_ENOUGH_SECONDS = 1.0
SHORT_STATEMENT = 8192
"""The minimum length in bytes at which an audit log should truncate statements."""
TOO_MUCH = ("ALL PRIVILEGES", "SUPER", "INSERT", "UPDATE", "DELETE", "FILE", "CREATE USER", "GRANT OPTION")


def version(seen: Examination) -> Iterator[Finding]:
    """Checks that Tailrace supports this version."""
    product = seen.product
    oldest = (10, 4) if product.name == MARIADB else (5, 7)
    if product.version[:2] < oldest:
        text = f"{product.text} is older than {'.'.join(map(str, oldest))}: some data cannot be read"
        yield Finding(WARNING, "version", text)
    else:
        yield Finding(OK, "version", f"{product.text}, {product.comment}")
    if not seen.is_local:
        text = (
            f"this machine is not {seen.variable('hostname') or 'the server'}: files, space and logrotate "
            "were not checked"
        )
        yield Finding(INFO, "host", text, ("# run it on the server's machine", "tailrace-capture doctor …"))


def permissions(seen: Examination) -> Iterator[Finding]:
    """Checks that the account can read every kind of fact, and has no other privileges."""
    written = _written(seen.account)
    needed = grants_for(seen.product, written)
    printed: set[str] = set()
    for kind, taken in seen.snapshots.items():
        if taken.status == "denied":
            text = f"{written} may not read {kind.replace('grants_', 'grants of level ')}"
            lines = needed.get(kind, ())
            fix = tuple(line for line in lines if line not in printed)
            printed.update(lines)
            yield Finding(WARNING, "permissions", text, fix or ("# the same as above",))
        elif taken.status != "ok":
            yield Finding(WARNING, "permissions", f"{kind}: {taken.status}: {taken.error}")
    everywhere = [grant for grant in seen.grants if " ON *.* " in grant]
    excess = [name for name in TOO_MUCH if any(name in grant.split(" ON ")[0] for grant in everywhere)]
    if excess or any("WITH GRANT OPTION" in grant for grant in seen.grants):
        listed = ", ".join(excess) or "GRANT OPTION"
        text = f"{written} has more privileges than it needs: {listed}"
        yield Finding(WARNING, "permissions", text, _own_account(seen))
    elif all(taken.status == "ok" for taken in seen.snapshots.values()):
        yield Finding(OK, "permissions", f"{written} can read everything and change nothing")


def _own_account(seen: Examination) -> tuple[str, ...]:
    whose = "'tailrace'@'localhost'" if seen.is_local else "'tailrace'@'%'"
    grants = {line for lines in grants_for(seen.product, whose).values() for line in lines}
    return (f"CREATE USER {whose} IDENTIFIED BY '…' WITH MAX_USER_CONNECTIONS 2;", *sorted(grants))


def _written(name: str) -> str:
    user, _, host = name.rpartition("@")
    return account(user, host)


def slow_log(seen: Examination) -> Iterator[Finding]:
    """Checks that slow statements are logged to a file with all available details."""
    output = seen.variable("log_output").upper()
    if not seen.is_on("slow_query_log"):
        yield Finding(ERROR, "slow log", "it is off", _set(seen, "slow_query_log", "ON"))
    if "FILE" not in output:
        text = f"log_output is {output}: slow statements are not written to a file"
        yield Finding(ERROR, "slow log", text, _set(seen, "log_output", "'FILE'"))
    elif "TABLE" in output:
        text = "log_output is FILE,TABLE: the tables cost time and grow without limit"
        yield Finding(INFO, "slow log", text, _set(seen, "log_output", "'FILE'"))
    yield from _threshold(seen)
    yield from _sampling(seen)
    yield from _verbosity(seen)


def _threshold(seen: Examination) -> Iterator[Finding]:
    seconds = float(seen.variable("long_query_time") or 10)
    if seconds > SLOW_ENOUGH_SECONDS:
        text = f"long_query_time is {seconds:g} s: faster statements are not logged"
        yield Finding(WARNING, "slow log", text, _set(seen, "long_query_time", "0.5"))
    else:
        yield Finding(OK, "slow log", f"statements of {seconds:g} s and more are logged")
    examined = int(seen.variable("min_examined_row_limit") or 0)
    if examined:
        text = f"min_examined_row_limit is {examined}: slow statements that read fewer rows are not logged"
        yield Finding(WARNING, "slow log", text, _set(seen, "min_examined_row_limit", "0"))
    throttle = int(seen.variable("log_throttle_queries_not_using_indexes") or 0)
    if seen.is_on("log_queries_not_using_indexes") and throttle:
        text = (
            f"of statements without an index only {throttle} a minute are logged, the others are summarized"
        )
        yield Finding(INFO, "slow log", text, _set(seen, "log_throttle_queries_not_using_indexes", "0"))


def _sampling(seen: Examination) -> Iterator[Finding]:
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
        yield Finding(WARNING, "sampling", text, _set(seen, "log_slow_rate_limit", "1"))


def _verbosity(seen: Examination) -> Iterator[Finding]:
    if seen.product.name == MARIADB:
        yield from _words(seen, "log_slow_verbosity", ("query_plan", "innodb"), "query_plan,innodb,explain")
    elif seen.product.name == PERCONA:
        yield from _words(seen, "log_slow_verbosity", ("full",), "full")
    elif seen.product.since(8, 0, 14) and not seen.is_on("log_slow_extra"):
        text = "log_slow_extra is off: the log lacks rows read, sorts and temporary tables"
        yield Finding(INFO, "slow log", text, _set(seen, "log_slow_extra", "ON"))


def _words(seen: Examination, variable: str, wanted: tuple[str, ...], fix: str) -> Iterator[Finding]:
    value = seen.variable(variable).lower()
    if value != "full" and not all(word in value for word in wanted):
        text = f"{variable} is {value or 'empty'}: the log lacks sorts and temporary tables"
        yield Finding(INFO, "slow log", text, _set(seen, variable, f"'{fix}'"))


def audit_log(seen: Examination) -> Iterator[Finding]:
    """Checks that logins and statements of users are logged."""
    auditing = seen.fact("audit", "auditing")
    if auditing.get("active") == "yes":
        yield Finding(OK, "audit", f"{auditing['by']} writes {auditing['file'] or 'an audit log'}")
        yield from _audit_options(seen)
    elif switch := auditing.get("switched_off_by", ""):
        on = {"server_audit_logging": "ON", "audit_log_policy": "'ALL'", "audit_log_disable": "OFF"}
        text = f"{auditing['by']} is loaded and writes nothing ({switch})"
        yield Finding(ERROR, "audit", text, _set(seen, switch, on.get(switch, "ON")))
    elif seen.is_on("general_log") and "FILE" in seen.variable("log_output").upper():
        text = "only the general log: it contains statements and logins, but not whether a statement failed"
        yield Finding(INFO, "audit", text)
    elif auditing.get("active") == "unknown":
        fix = grants_for(seen.product, _written(seen.account))["audit"]
        yield Finding(WARNING, "audit", f"unknown: may not read {auditing['not_readable']}", fix)
    else:
        yield Finding(ERROR, "audit", "the activity of users is not logged", _audit_plugin(seen))


def _audit_plugin(seen: Examination) -> tuple[str, ...]:
    product = seen.product
    if product.name == MARIADB:
        return (
            "INSTALL SONAME 'server_audit';",
            "SET GLOBAL server_audit_events = 'CONNECT,QUERY,TABLE';",
            "SET GLOBAL server_audit_query_log_limit = 65535;",
            "SET GLOBAL server_audit_logging = ON;",
            "# my.cnf, to keep it",
            "[mariadbd]",
            "plugin_load_add = server_audit",
            "server_audit_events = CONNECT,QUERY,TABLE",
            "server_audit_query_log_limit = 65535",
            "server_audit_logging = ON",
        )
    if product.name == PERCONA and product.since(8, 4):
        return (
            "# shell: creates its tables, then installs component_audit_log_filter",
            "mysql -D mysql < /usr/share/percona-server/audit_log_filter_linux_install.sql",
            "SELECT audit_log_filter_set_filter('all', '{\"filter\": {\"log\": true}}');",
            "SELECT audit_log_filter_set_user('%', 'all');",
        )
    if product.name == PERCONA:
        return (
            "INSTALL PLUGIN audit_log SONAME 'audit_log.so';",
            "# my.cnf: the format is only read at start",
            "[mysqld]",
            "audit_log_format = JSON",
            "audit_log_policy = ALL",
        )
    return (
        "# MySQL Community has no audit log. MySQL Enterprise and Percona Server do; otherwise use the",
        "# general log, which contains every statement and is expensive:",
        "SET PERSIST general_log = ON;" if product.since(8) else "SET GLOBAL general_log = ON;",
    )


def _audit_options(seen: Examination) -> Iterator[Finding]:
    if seen.variable("server_audit_output_type").lower() == "syslog":
        text = "the audit log goes to syslog, which truncates and reorders it"
        yield Finding(ERROR, "audit", text, _set(seen, "server_audit_output_type", "'file'"))
    limit = int(seen.variable("server_audit_query_log_limit") or SHORT_STATEMENT)
    if limit < SHORT_STATEMENT:
        text = f"statements are truncated after {limit} bytes"
        yield Finding(WARNING, "audit", text, _set(seen, "server_audit_query_log_limit", "65535"))
    events = seen.variable("server_audit_events").upper()
    if events and "CONNECT" not in events:
        text = f"server_audit_events is {events}: logins are not logged"
        yield Finding(WARNING, "audit", text, _set(seen, "server_audit_events", f"'CONNECT,{events}'"))
    left_out = seen.variable("server_audit_excl_users", "audit_log_exclude_accounts")
    if left_out not in ("", "NULL"):
        yield Finding(WARNING, "audit", f"the activity of these accounts is not logged: {left_out}")
    policy = seen.variable("audit_log_policy").upper()
    if policy in ("LOGINS", "QUERIES"):
        text = f"audit_log_policy is {policy}: all other events are not logged"
        yield Finding(WARNING, "audit", text, _set(seen, "audit_log_policy", "'ALL'"))


def error_log(seen: Examination) -> Iterator[Finding]:
    """Checks that the error log is a file and contains failed logins."""
    value = seen.variable("log_error")
    if not value or value.endswith("stderr"):
        fix = ("# my.cnf, only read at start", _section(seen), "log_error = /var/log/mysql/error.log")
        yield Finding(WARNING, "error log", "it is written to standard error and not to a file", fix)
    noise = seen.variable("log_error_verbosity", "log_warnings")
    name = "log_error_verbosity" if "log_error_verbosity" in seen.variables else "log_warnings"
    least = 3 if name == "log_error_verbosity" else 2
    if noise.isdigit() and int(noise) < least:
        text = f"{name} is {noise}: refused logins are not in the error log"
        yield Finding(WARNING, "error log", text, _set(seen, name, str(least)))


def time_zone(seen: Examination) -> Iterator[Finding]:
    """Checks that the zone of the times in the logs is known: an abbreviation does not identify a zone."""
    if seen.variable("log_timestamps").upper() == "UTC":
        yield Finding(OK, "time zone", "logs are in UTC")
        return
    zone = zone_of(seen)
    local = seen.variable("system_time_zone") or "unknown"
    if zone:
        yield Finding(OK, "time zone", f"logs are in {zone} ({local})")
    else:
        text = f"logs are in the server's local zone, of which only {local} is known. They are read as UTC"
        fix = (
            _set(seen, "log_timestamps", "'UTC'")
            if "log_timestamps" in seen.variables
            else (
                "# the IANA name of the server's zone at its start",
                "tailrace doctor … --tz Area/City",
            )
        )
        yield Finding(WARNING, "time zone", text, fix)


def zone_of(seen: Examination) -> str:
    """Returns the IANA zone of the local times in the logs; empty if it is unknown."""
    if seen.variable("log_timestamps").upper() == "UTC" or seen.variable("system_time_zone") == "UTC":
        return "UTC"
    if seen.zone or not seen.is_local:
        return seen.zone
    zone = seen.host.zone_of_process(seen.path("pid_file")) or seen.host.zone()
    return zone if seen.variable("system_time_zone") in _abbreviations(zone) else ""


def _abbreviations(zone: str) -> set[str]:
    """Returns a zone's abbreviations in winter and summer: a server reports the one of its start."""
    try:
        found = ZoneInfo(zone) if zone else None
    except (ZoneInfoNotFoundError, ValueError):
        found = None
    year = datetime.now(UTC).year
    return {datetime(year, month, 1, tzinfo=found).tzname() or "" for month in (1, 7)} if found else set()


def _set(seen: Examination, variable: str, value: str) -> tuple[str, ...]:
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


def _section(seen: Examination) -> str:
    return "[mariadbd]" if seen.product.is_mariadb else "[mysqld]"


def plans(seen: Examination) -> Iterator[Finding]:
    """Checks that an account for EXPLAIN exists, and that it has no other privileges."""
    account = seen.explainer
    if account is None:
        whose = "'tailrace_explain'@'localhost'" if seen.is_local else "'tailrace_explain'@'%'"
        text = "no statement is explained: that needs an account with access to data and to nothing else"
        yield Finding(INFO, "plans", text, explain_account(whose))
        return
    wide = [grant for grant in account.grants if _is_too_wide(grant)]
    if wide:
        text = f"{_written(account.name)} has more privileges than reading data: {'; '.join(wide)}"
        yield Finding(WARNING, "plans", text, narrowed(_written(account.name), account.grants))
    elif not any("SELECT" in grant.partition(" ON ")[0] for grant in account.grants):
        text = f"{_written(account.name)} can read no schema: every EXPLAIN is denied"
        yield Finding(WARNING, "plans", text, explain_account(_written(account.name))[1:])
    else:
        yield Finding(OK, "plans", f"{_written(account.name)} can read data and nothing else")


def _is_too_wide(grant: str) -> bool:
    """Checks a line of SHOW GRANTS; a role counts as too wide, because it may have any privilege."""
    privileges, _, rest = grant.removeprefix("GRANT ").partition(" ON ")
    where = rest.partition(" TO ")[0].replace("`", "")
    schema = where.partition(".")[0]
    is_system = schema == "*" or re.fullmatch(_as_expression(schema), "mysql", re.IGNORECASE) is not None
    names = {name.strip() for name in re.sub(r"\([^)]*\)", "", privileges).split(",")}
    return grant.endswith("WITH GRANT OPTION") or not (
        names == {"USAGE"} or (not is_system and names == {"SELECT"})
    )


def _as_expression(schema: str) -> str:
    """Converts a GRANT's pattern: % is any text, _ one character, unless a backslash precedes it."""
    parts = re.findall(r"\\.|.", schema, re.DOTALL)
    return "".join({"%": ".*", "_": "."}.get(part, re.escape(part[-1])) for part in parts)


CHECKS: tuple[Check, ...] = (version, permissions, slow_log, audit_log, error_log, time_zone, files, plans)


def findings(seen: Examination) -> list[Finding]:
    """Returns the findings of all checks."""
    return [finding for check in CHECKS for finding in check(seen)]
