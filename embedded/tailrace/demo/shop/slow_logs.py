"""Slow query logs with a threshold of 0 seconds, field by field as the servers write them."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from tailrace.demo.shop.events import Execution
from tailrace.demo.shop.log import Entry

EXPLAIN = "\t".join(
    (
        *("id", "select_type", "table", "type", "possible_keys", "key", "key_len", "ref", "rows", "r_rows"),
        *("filtered", "r_filtered", "Extra"),
    )
)

PAGE_BYTES, PAGE_ROWS, READ_ROWS = 16_384, 60, 4_000
READ_SECONDS = 0.0004
"""InnoDB: bytes and rows of a page, rows of a scan per page that is not in memory, and seconds to read it."""

_BANNER = "{}. started with:\nTcp port: 3306  Unix socket: /run/mysqld/mysqld.sock\n"
_COLUMNS = "Time                 Id Command    Argument\n"


def banner(server: str) -> bytes:
    """Returns the lines with which the server begins the file; `server` is program and version."""
    return (_BANNER.format(server) + _COLUMNS).encode()


def mariadb(executions: Iterable[Execution]) -> tuple[Entry, ...]:
    """MariaDB 10.11 with log_slow_verbosity=query_plan,explain: `# Time:` once per second."""
    second = -1
    entries = []
    for execution in executions:
        at = int(execution.at)
        time = f"# Time: {_short_time(at)}\n" if at != second else ""
        second = at
        entries.append(Entry(at, f"{time}{_mariadb_entry(execution, at)}".encode()))
    return tuple(entries)


def _mariadb_entry(execution: Execution, at: int) -> str:
    session = execution.session
    return (
        f"# User@Host: {_account(execution)} @  [{session.address}]\n"
        f"# Thread_id: {session.connection}  Schema: {session.database}  QC_hit: No\n"
        f"# Query_time: {execution.seconds:.6f}  Lock_time: {execution.lock_seconds:.6f}"
        f"  Rows_sent: {execution.rows_sent}  Rows_examined: {execution.rows_examined}\n"
        f"# Rows_affected: {execution.rows_affected}  Bytes_sent: {_bytes_sent(execution)}\n"
        f"{_mariadb_plan(execution)}SET timestamp={int(execution.at - execution.seconds)};\n"
        f"{execution.sql};\n"
    )


def _mariadb_plan(execution: Execution) -> str:
    if not execution.plan:
        return ""
    scans = "Yes" if any("\tALL\t" in row for row in execution.plan) and execution.verb == "select" else "No"
    sorts = "Yes" if any("filesort" in row for row in execution.plan) else "No"
    rows = "".join(f"# explain: {row}\n" for row in (EXPLAIN, *execution.plan))
    return (
        f"# Full_scan: {scans}  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No\n"
        f"# Filesort: {sorts}  Filesort_on_disk: No  Merge_passes: 0  Priority_queue: {sorts}\n"
        f"#\n{rows}#\n"
    )


def mysql(executions: Iterable[Execution]) -> tuple[Entry, ...]:
    """MySQL 8.0 without log_slow_extra: `use` when the database changes."""
    database = ""
    entries = []
    for execution in executions:
        changed = execution.session.database != database
        database = execution.session.database
        use = f"use {database};\n" if changed and database else ""
        entries.append(Entry(execution.at, _mysql_entry(execution, use).encode()))
    return tuple(entries)


def _mysql_entry(execution: Execution, use: str) -> str:
    session = execution.session
    return (
        f"# Time: {_iso(execution.at)}\n"
        f"# User@Host: {_account(execution)} @  [{session.address}]  Id: {session.connection:5}\n"
        f"# Query_time: {execution.seconds:.6f}  Lock_time: {execution.lock_seconds:.6f}"
        f" Rows_sent: {execution.rows_sent}  Rows_examined: {execution.rows_examined}\n"
        f"{use}SET timestamp={int(execution.at)};\n{execution.sql};\n"
    )


def percona(executions: Iterable[Execution]) -> tuple[Entry, ...]:
    """Percona Server 5.7 with log_slow_verbosity=full, with the counters of InnoDB."""
    return tuple(Entry(execution.at, _percona_entry(execution).encode("utf-8")) for execution in executions)


def _percona_entry(execution: Execution) -> str:
    session = execution.session
    scans = "Yes" if execution.rows_examined > 50 * max(1, execution.rows_sent) else "No"
    return (
        f"# Time: {_iso(execution.at)}\n"
        f"# User@Host: {_account(execution)} @  [{session.address}]  Id: {session.connection:5}\n"
        f"# Schema: {session.database}  Last_errno: {execution.error}  Killed: 0\n"
        f"# Query_time: {execution.seconds:.6f}  Lock_time: {execution.lock_seconds:.6f}"
        f"  Rows_sent: {execution.rows_sent}  Rows_examined: {execution.rows_examined}"
        f"  Rows_affected: {execution.rows_affected}\n"
        f"# Bytes_sent: {_bytes_sent(execution)}  Tmp_tables: 0  Tmp_disk_tables: 0  Tmp_table_sizes: 0\n"
        f"# QC_Hit: No  Full_scan: {scans}  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No\n"
        "# Filesort: No  Filesort_on_disk: No  Merge_passes: 0\n"
        f"{_innodb_counters(execution)}"
        f"SET timestamp={int(execution.at)};\n{execution.sql};\n"
    )


def _innodb_counters(execution: Execution) -> str:
    """The table of a scan is not completely in the buffer pool: each READ_ROWS rows cost one read."""
    reads = execution.rows_examined // READ_ROWS
    read_wait = min(0.6 * execution.seconds, reads * READ_SECONDS)
    return (
        f"#   InnoDB_IO_r_ops: {reads}  InnoDB_IO_r_bytes: {reads * PAGE_BYTES}"
        f"  InnoDB_IO_r_wait: {read_wait:.6f}\n"
        f"#   InnoDB_rec_lock_wait: {max(0.0, execution.lock_seconds - 0.001):.6f}"
        "  InnoDB_queue_wait: 0.000000\n"
        f"#   InnoDB_pages_distinct: {3 + execution.rows_examined // PAGE_ROWS}\n"
    )


SlowLogFormat = Callable[[Iterable[Execution]], tuple[Entry, ...]]


def _account(execution: Execution) -> str:
    user = execution.session.user
    return f"{user}[{user}]"


def _bytes_sent(execution: Execution) -> int:
    return 52 + 47 * execution.rows_sent


def _iso(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%S.%f}Z"


def _short_time(at: int) -> str:
    moment = datetime.fromtimestamp(at, UTC)
    return f"{moment:%y%m%d} {moment.hour:2}:{moment:%M:%S}"
