"""The format of entries by server, copied field by field from real servers' logs in the corpora."""

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from zoneinfo import ZoneInfo

from e2e.workload.statements import Statement

DATABASES = ("shop", "billing", "журнал")
USERS = ("app", "report", "comma,user", "a[b]c", "администратор")


@dataclass(frozen=True)
class Entry:
    """One entry of a file, and what a reader must find in it."""

    content: bytes
    at: float
    """Event time, seconds since 1970, as the format can express it."""
    label: str
    """Slow log: class of the statement. Audit log: the command."""
    query_time_us: int = 0
    rows_sent: int = 0
    rows_examined: int = 0
    weight: int = 1
    ends_itself: bool = True
    """False if only the next entry's header shows its end."""


class Shape(ABC):
    """A format with its state between two entries of one file."""

    name: str
    source: str
    banner: bytes = b""
    tz = "UTC"

    def __init__(self, random: Random) -> None:
        self.random = random

    @abstractmethod
    def entry(self, statement: Statement, now: float) -> Entry:
        """Returns the next entry of the file, written at `now`."""

    def new_file(self, now: float) -> list[Entry]:
        """Resets the state for a new file; returns the entries with which it begins."""
        return []


class SlowLog(Shape):
    """The common parts of slow logs."""

    source = "slowlog"
    weight = 1

    def entry(self, statement: Statement, now: float) -> Entry:
        user, database = self.random.choice(USERS), self.random.choice(DATABASES)
        query_time_us = int(self.random.lognormvariate(7, 2))
        rows_sent, rows_examined = (
            self.random.randrange(500),
            self.random.randrange(100_000),
        )
        at = self._event_time(now)
        header = self._header(at, user, database, query_time_us, rows_sent, rows_examined)
        content = header.encode() + statement.sql + b";\n"
        return Entry(
            content,
            at,
            statement.query_class,
            query_time_us,
            rows_sent,
            rows_examined,
            self.weight,
            not statement.ends_in_comment,
        )

    def _event_time(self, now: float) -> float:
        return round(now, 6)

    @abstractmethod
    def _header(self, at, user, database, query_time_us, rows_sent, rows_examined) -> str:
        """Returns the lines before the statement."""


class MySql8(SlowLog):
    """MySQL 8.0 without log_slow_extra: `use` only when the database changes."""

    name = "mysql-8.0"
    banner = (
        b"/usr/sbin/mysqld, Version: 8.0.46-0ubuntu0.24.04.5 ((Ubuntu)). started with:\n"
        b"Tcp port: 3306  Unix socket: /var/run/mysqld/mysqld.sock\n"
        b"Time                 Id Command    Argument\n"
    )
    _database = None

    def _header(self, at, user, database, query_time_us, rows_sent, rows_examined) -> str:
        return (
            f"# Time: {_iso(at)}\n"
            f"# User@Host: {user}[{user}] @ web-{len(user)} [10.0.0.{len(user)}]  Id: {len(user):5}\n"
            f"# Query_time: {_seconds(query_time_us)}  Lock_time: 0.000002 Rows_sent: {rows_sent}"
            f"  Rows_examined: {rows_examined}\n"
            f"{self._use(database)}SET timestamp={int(at)};\n"
        )

    def _use(self, database: str) -> str:
        if database == self._database:
            return ""
        self._database = database
        return f"use {database};\n"

    def new_file(self, now: float) -> list[Entry]:
        self._database = None
        return []


class Percona(SlowLog):
    """Percona Server 5.7 with a sampled log: every entry represents ten executions."""

    name = "percona-5.7"
    weight = 10
    banner = (
        b"/usr/sbin/mysqld, Version: 5.7.20-18-18-log (Percona Server (GPL)). started with:\n"
        b"Tcp port: 3306  Unix socket: /var/run/mysqld/mysqld.sock\n"
        b"Time                 Id Command    Argument\n"
    )

    def _header(self, at, user, database, query_time_us, rows_sent, rows_examined) -> str:
        return (
            f"# Time: {_iso(at)}\n"
            f"# User@Host: {user}[{user}] @ web-1 [10.0.0.1]  Id: {len(user):5}\n"
            f"# Schema: {database}  Last_errno: 0  Killed: 0\n"
            f"# Query_time: {_seconds(query_time_us)}  Lock_time: 0.000000  Rows_sent: {rows_sent}"
            f"  Rows_examined: {rows_examined}  Rows_affected: 0\n"
            "# Bytes_sent: 11  Tmp_tables: 0  Tmp_disk_tables: 0  Tmp_table_sizes: 0\n"
            "# QC_Hit: No  Full_scan: Yes  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No\n"
            "# Filesort: No  Filesort_on_disk: No  Merge_passes: 0\n"
            "# No InnoDB statistics available for this query\n"
            "# Log_slow_rate_type: query  Log_slow_rate_limit: 10\n"
            f"SET timestamp={int(at)};\n"
        )


class MariaDb(SlowLog):
    """MariaDB 10.11: `# Time:` once per second, in local time; explain rows now and then."""

    name = "mariadb-10.11"
    tz = "Europe/Berlin"
    banner = (
        b"mariadbd, Version: 10.11.19-MariaDB-0+deb12u1-log (Debian 12). started with:\n"
        b"Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock\n"
        b"Time\t\t    Id Command\tArgument\n"
    )
    explain = (
        "#\n"
        "# explain: id\tselect_type\ttable\ttype\tpossible_keys\tkey\tkey_len\tref\trows\tr_rows\tfiltered"
        "\tr_filtered\tExtra\n"
        "# explain: 1\tSIMPLE\tt\tALL\tNULL\tNULL\tNULL\tNULL\t9\t9.00\t100.00\t1.00\t\n"
        "#\n"
    )
    _second = None

    def _event_time(self, now: float) -> float:
        return int(now)

    def _header(self, at, user, database, query_time_us, rows_sent, rows_examined) -> str:
        return (
            f"{self._time(at)}# User@Host: {user}[{user}] @ web-1 [10.0.0.1]\n"
            f"# Thread_id: {len(user)}  Schema: {database}  QC_hit: No\n"
            f"# Query_time: {_seconds(query_time_us)}  Lock_time: 0.000010  Rows_sent: {rows_sent}"
            f"  Rows_examined: {rows_examined}\n"
            "# Rows_affected: 0  Bytes_sent: 93\n"
            f"{self.random.choice(('', self.explain))}SET timestamp={int(at)};\n"
        )

    def _time(self, at: float) -> str:
        if at == self._second:
            return ""
        self._second = at
        local = datetime.fromtimestamp(at, ZoneInfo(self.tz))
        return f"# Time: {local:%y%m%d} {local.hour:2}:{local:%M:%S}\n"

    def new_file(self, now: float) -> list[Entry]:
        self._second = None
        return []


class MariaDbAudit(Shape):
    """MariaDB's server_audit: one line per record, local time, only the statement in quotes."""

    name = "mariadb-server_audit"
    source = "audit"
    tz = "Europe/Berlin"
    escapes = (
        (b"\\", b"\\\\"),
        (b"'", b"\\'"),
        (b"\n", b"\\n"),
        (b"\r", b"\\r"),
        (b"\t", b"\\t"),
    )
    commands = (
        "CONNECT",
        "DISCONNECT",
        "FAILED_CONNECT",
        "READ",
        "WRITE",
        "QUERY",
        "QUERY",
    )
    cut_at = 1000
    """The length in bytes after which the server truncates a statement, silently."""

    def entry(self, statement: Statement, now: float) -> Entry:
        at = int(now)
        local = datetime.fromtimestamp(at, ZoneInfo(self.tz))
        user, number = self.random.choice(USERS), self.random.randrange(10**6)
        command = self.random.choice(self.commands)
        start = f"{local:%Y%m%d %H:%M:%S},db-1,{user},10.0.0.1,{number % 99},{number},{command},"
        return Entry(start.encode() + self._rest(command, statement) + b"\n", at, command)

    def _rest(self, command: str, statement: Statement) -> bytes:
        if command == "QUERY":
            return b"shop,'" + self._escaped(statement.sql[: self.cut_at]) + b"',0"
        if command in ("READ", "WRITE"):
            return b"shop," + statement.query_class.encode() + b","
        return b"shop,,1045" if command == "FAILED_CONNECT" else b"shop,,0"

    def _escaped(self, sql: bytes) -> bytes:
        for plain, escaped in self.escapes:
            sql = sql.replace(plain, escaped)
        return sql


class PerconaAudit(Shape):
    """Percona's audit_log in JSON: one object per line."""

    name = "percona-audit_log"
    source = "audit"

    def new_file(self, now: float) -> list[Entry]:
        about = {
            "mysql_version": "5.7.20-18-18-log",
            "startup_optionsi": "--defaults-file=/etc/my.cnf",
            "os_version": "x86_64-debian-linux-gnu",
        }
        return [self._record("Audit", int(now), 1, about)]

    def entry(self, statement: Statement, now: float) -> Entry:
        command = self.random.choice(("Connect", "Quit", "Query", "Query", "Query"))
        number = self.random.randrange(10**6)
        about = {
            "connection_id": str(number % 99),
            "status": 0,
            **self._rest(command, statement),
        }
        return self._record(command, int(now), number, about)

    def _record(self, command: str, at: int, number: int, about: dict[str, object]) -> Entry:
        record = {
            "name": command,
            "record": f"{number}_2026-11-21T02:50:36",
            "timestamp": f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%S} UTC",
            **about,
        }
        content = json.dumps({"audit_record": record}, ensure_ascii=False, separators=(",", ":"))
        return Entry(content.encode("utf-8", "surrogateescape") + b"\n", at, command)

    def _rest(self, command: str, statement: Statement) -> dict[str, str]:
        who = {"host": "web-1", "ip": "10.0.0.1", "db": "shop"}
        if command == "Query":
            sql = statement.sql.decode("utf-8", "surrogateescape")
            user = "app[app] @ web-1 [10.0.0.1]"
            return {
                "command_class": "select",
                "sqltext": sql,
                "user": user,
                "os_user": "",
                **who,
            }
        return {
            "user": "app",
            "priv_user": "app",
            "os_login": "",
            "proxy_user": "",
            **who,
        }


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _seconds(microseconds: int) -> str:
    return f"{microseconds // 1_000_000}.{microseconds % 1_000_000:06}"
