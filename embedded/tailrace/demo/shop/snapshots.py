"""Snapshots of the two MariaDB servers, as collectors/capture takes them: accounts, privileges, settings."""

import json
from collections.abc import Iterator, Mapping

from tailrace.demo.shop.people import CARLA, GRANTED
from tailrace.demo.shop.times import DAY, StoryTimes, iso

VERSION = "10.11.19-MariaDB-0+deb12u1-log"
Attributes = Mapping[str, str]
Facts = dict[str, Attributes]

ACCOUNTS = (
    ("anna", "10.20.9.%", 61),
    ("app_orders", "10.20.1.%", 30),
    ("ben", "10.20.9.%", 12),
    ("intern_2024", "10.20.9.%", 512),
    ("old_shop", "%", 1204),
    ("repl", "10.20.0.%", 201),
    ("reporting", "%", 730),
    ("root", "localhost", 90),
    ("warehouse", "10.20.1.%", 145),
)
"""User, host, and the days since the password was changed."""

PRIVILEGES = {
    "'anna'@'10.20.9.%'": "SELECT",
    "'app_orders'@'10.20.1.%'": "DELETE, INSERT, SELECT, UPDATE",
    "'intern_2024'@'10.20.9.%'": "SELECT",
    "'old_shop'@'%'": "INSERT, SELECT, UPDATE",
    "'reporting'@'%'": "SELECT",
    "'warehouse'@'10.20.1.%'": "SELECT, UPDATE",
}
ADMINISTRATORS = ("'ben'@'10.20.9.%'", "'root'@'localhost'")

SETTINGS = {
    "general_log": "OFF",
    "log_bin": "ON",
    "log_output": "FILE",
    "log_warnings": "4",
    "innodb_print_all_deadlocks": "ON",
    "log_slow_query": "ON",
    "slow_query_log": "ON",
    "log_slow_query_time": "0.000000",
    "long_query_time": "0.000000",
    "log_slow_rate_limit": "1",
    "log_slow_verbosity": "query_plan,explain",
    "log_slow_slave_statements": "ON",
    "log_slow_min_examined_row_limit": "0",
    "min_examined_row_limit": "0",
    "require_secure_transport": "OFF",
    "system_time_zone": "UTC",
    "time_zone": "+00:00",
}
AUDIT_SETTINGS = {
    "server_audit_events": "CONNECT,QUERY",
    "server_audit_logging": "ON",
    "server_audit_excl_users": "",
    "server_audit_incl_users": "",
    "server_audit_query_log_limit": "65535",
}


def lines(times: StoryTimes) -> Iterator[str]:
    """Yields the lines of the spool: both servers at the start, and the change of the story day."""
    for instance in ("shop-db-1", "shop-db-2"):
        for kind, facts in _kinds(times, instance).items():
            yield _line(instance, kind, times.start, "start", facts, times.start, [])
    granted = times.at(GRANTED) + 30
    account, privilege = (
        _account("carla", "10.20.9.%", granted),
        _privilege(CARLA, "table", "`shop`.`reviews`", "SELECT"),
    )
    yield _change(times, granted, "accounts", _accounts(times) | {CARLA: account}, CARLA)
    key = f"{CARLA} table `shop`.`reviews`"
    yield _change(times, granted, "grants_table", {key: privilege}, key)


def _change(times: StoryTimes, at: int, kind: str, facts: Facts, key: str) -> str:
    change = {"key": key, "change": "added", "before": {}, "after": facts[key]}
    return _line("shop-db-1", kind, at, "change", facts, times.start, [change])


def _line(
    instance: str, kind: str, at: int, reason: str, facts: Facts, since: int, changes: list[dict]
) -> str:
    new = {change["key"] for change in changes}
    listed = [
        {"key": key, "since": float(at if key in new else since), "attributes": dict(attributes)}
        for key, attributes in facts.items()
    ]
    return json.dumps(
        {
            "v": 1,
            "at": float(at),
            "cluster": "shop",
            "instance": instance,
            "product": "mariadb",
            "version": VERSION,
            "kind": kind,
            "reason": reason,
            "status": "ok",
            "error": "",
            "truncated": False,
            "part": 1,
            "parts": 1,
            "facts": listed,
            "changes": changes,
        }
    )


def _kinds(times: StoryTimes, instance: str) -> dict[str, Facts]:
    is_source = instance == "shop-db-1"
    settings = SETTINGS | (AUDIT_SETTINGS if is_source else {})
    return {
        "server": {
            "server": {"hostname": instance, "port": "3306", "product": "mariadb", "version": VERSION}
        },
        "settings": {key: {"value": value} for key, value in sorted(settings.items())},
        "audit": _audit() if is_source else {},
        "accounts": _accounts(times),
        "grants_global": {
            f"{grantee} global *.*": _privilege(grantee, "global", "*.*", "ALL PRIVILEGES")
            for grantee in ADMINISTRATORS
        },
        "grants_schema": {
            f"{grantee} schema `shop`.*": _privilege(grantee, "schema", "`shop`.*", privileges)
            for grantee, privileges in PRIVILEGES.items()
        },
        "grants_table": {},
        "replication": _replication(is_source),
    }


def _audit() -> Facts:
    active = {"active": "yes", "by": "SERVER_AUDIT", "not_readable": "", "switched_off_by": ""}
    plugin = {"library": "server_audit.so", "name": "SERVER_AUDIT", "status": "ACTIVE", "version": "1.4"}
    return {
        "auditing": {**active, "file": "/var/log/mysql/server_audit.log"},
        "plugin SERVER_AUDIT": plugin,
    }


def _replication(is_source: bool) -> Facts:
    role = {"role": "source" if is_source else "replica", "read_only": "OFF" if is_source else "ON"}
    facts: Facts = {"role": {**role, "super_read_only": ""}}
    if not is_source:
        facts["channel"] = {
            "channel": "",
            "source_host": "10.20.0.11",
            "source_port": "3306",
            "source_server_id": "1",
            "source_uuid": "",
            "io_running": "Yes",
            "sql_running": "Yes",
            "auto_position": "Slave_Pos",
            "last_io_errno": "0",
            "last_sql_errno": "0",
            "delay_seconds": "0",
        }
    return facts


def _accounts(times: StoryTimes) -> Facts:
    return {
        f"'{user}'@'{host}'": _account(user, host, times.midnight - days * DAY)
        for user, host, days in ACCOUNTS
    }


def _account(user: str, host: str, changed: int) -> Attributes:
    return {
        "user": user,
        "host": host,
        "locked": "no",
        "password": "set",
        "password_expired": "no",
        "password_changed_at": iso(changed),
        "password_lifetime_days": "",
        "role": "no",
        "tls": "none",
        "plugin": "mysql_native_password",
        "several_plugins": "no",
    }


def _privilege(grantee: str, level: str, of: str, privileges: str) -> Attributes:
    option = "yes" if privileges == "ALL PRIVILEGES" else "no"
    return {
        "grantee": grantee,
        "level": level,
        "object": of,
        "privileges": privileges,
        "grant_option": option,
    }
