"""The checks: each reads an examination and yields findings. None of them changes anything."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tailrace_capture.doctor.accounts import explain_account, grants_for, narrowed
from tailrace_capture.doctor.examination import Examination
from tailrace_capture.doctor.file_checks import files
from tailrace_capture.doctor.finding import INFO, OK, WARNING, Finding
from tailrace_capture.doctor.logging_checks import account_written, audit_log, error_log, setting, slow_log
from tailrace_capture.doctor.optional_kinds import performance_schema
from tailrace_capture.product import MARIADB

Check = Callable[[Examination], Iterator[Finding]]
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
    """Checks that the account can read every kind of fact, and has no other privileges. What is read from
    Performance Schema has a check of its own."""
    written = account_written(seen.account)
    needed = grants_for(seen.product, written)
    printed: set[str] = set()
    always = {kind: taken for kind, taken in seen.snapshots.items() if not taken.kind.is_optional}
    for kind, taken in always.items():
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
    elif all(taken.status == "ok" for taken in always.values()):
        yield Finding(OK, "permissions", f"{written} can read everything and change nothing")


def _own_account(seen: Examination) -> tuple[str, ...]:
    whose = "'tailrace'@'localhost'" if seen.is_local else "'tailrace'@'%'"
    grants = {line for lines in grants_for(seen.product, whose).values() for line in lines}
    return (f"CREATE USER {whose} IDENTIFIED BY '…' WITH MAX_USER_CONNECTIONS 2;", *sorted(grants))


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
            setting(seen, "log_timestamps", "'UTC'")
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
        text = f"{account_written(account.name)} has more privileges than reading data: {'; '.join(wide)}"
        yield Finding(WARNING, "plans", text, narrowed(account_written(account.name), account.grants))
    elif not any("SELECT" in grant.partition(" ON ")[0] for grant in account.grants):
        text = f"{account_written(account.name)} can read no schema: every EXPLAIN is denied"
        yield Finding(WARNING, "plans", text, explain_account(account_written(account.name))[1:])
    else:
        yield Finding(OK, "plans", f"{account_written(account.name)} can read data and nothing else")


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


CHECKS: tuple[Check, ...] = (
    *(version, permissions, performance_schema, slow_log, audit_log, error_log, time_zone, files, plans),
)


def findings(seen: Examination) -> list[Finding]:
    """Returns the findings of all checks."""
    return [finding for check in CHECKS for finding in check(seen)]
