"""Snapshots of the servers, as collectors/capture takes them: settings of all servers, and accounts and
privileges of the two MariaDB servers."""

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from tailrace.demo.shop.people import CARLA, GRANTED
from tailrace.demo.shop.settings import SERVERS, Attributes, Captured
from tailrace.demo.shop.times import DAY, StoryTimes, iso

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

SOURCE = "shop-db-1"
"""The server whose accounts change."""


def lines(times: StoryTimes) -> Iterator[str]:
    """Yields the lines of the spool: each server at the start and at the end, and the change of the story
    day."""
    for server in SERVERS:
        for kind, facts in _kinds(times, server).items():
            yield _line(server, kind, times.start, "start", facts, times.start, [])
    granted = times.at(GRANTED) + 30
    added = {
        "accounts": (CARLA, _account("carla", "10.20.9.%", granted)),
        "grants_table": (
            f"{CARLA} table `shop`.`reviews`",
            _privilege(CARLA, "table", "`shop`.`reviews`", "SELECT"),
        ),
    }
    yield _change(times, granted, "accounts", _accounts(times) | dict([added["accounts"]]), CARLA)
    yield _change(times, granted, "grants_table", dict([added["grants_table"]]), added["grants_table"][0])
    for server in SERVERS:
        new = added if server.instance == SOURCE else {}
        for kind, facts in _kinds(times, server).items():
            whole = facts | dict([new[kind]]) if kind in new else facts
            since = {new[kind][0]: granted} if kind in new else {}
            yield _line(server, kind, times.now, "hourly", whole, times.start, [], since)


def _change(times: StoryTimes, at: int, kind: str, facts: Facts, key: str) -> str:
    change = {"key": key, "change": "added", "before": {}, "after": facts[key]}
    (server,) = (each for each in SERVERS if each.instance == SOURCE)
    return _line(server, kind, at, "change", facts, times.start, [change])


def _line(
    server: Captured,
    kind: str,
    at: int,
    reason: str,
    facts: Facts,
    since: int,
    changes: list[dict],
    added: Mapping[str, int] = MappingProxyType({}),
) -> str:
    """Returns a line; `since` is the time since which its facts are known, `added` that of later ones, by
    key."""
    later = {**dict.fromkeys((change["key"] for change in changes), at), **added}
    listed = [
        {"key": key, "since": float(later.get(key, since)), "attributes": dict(attributes)}
        for key, attributes in facts.items()
    ]
    return json.dumps(
        {
            "v": 1,
            "at": float(at),
            "cluster": server.cluster,
            "instance": server.instance,
            "product": server.product,
            "version": server.version,
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


def _kinds(times: StoryTimes, server: Captured) -> dict[str, Facts]:
    about = {
        "hostname": server.instance,
        "port": "3306",
        "product": server.product,
        "version": server.version,
    }
    found: dict[str, Facts] = {
        "server": {"server": about},
        "settings": {key: {"value": value} for key, value in sorted(server.settings.items())},
        "audit": dict(server.auditing),
    }
    if server.has_accounts:
        found |= _privileges(times) | {"replication": _replication(server.instance == SOURCE)}
    return found


def _privileges(times: StoryTimes) -> dict[str, Facts]:
    return {
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
