"""Reads the counters of statement digests from Performance Schema: `events_statements_summary_by_digest`.

Counters are cumulative. ClickHouse computes what was counted between two samples (view `digest_load_1m`), so
neither a lost sample nor a restart of capture loses a count.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tailrace_capture import performance_schema
from tailrace_capture.facts import Fact, text
from tailrace_capture.server import Server

COUNTERS = {
    "statements": "COUNT_STAR",
    "timer_ps": "SUM_TIMER_WAIT",
    "lock_ps": "SUM_LOCK_TIME",
    "errors": "SUM_ERRORS",
    "warnings": "SUM_WARNINGS",
    "rows_affected": "SUM_ROWS_AFFECTED",
    "rows_sent": "SUM_ROWS_SENT",
    "rows_examined": "SUM_ROWS_EXAMINED",
    "tmp_tables": "SUM_CREATED_TMP_TABLES",
    "tmp_disk_tables": "SUM_CREATED_TMP_DISK_TABLES",
    "sort_rows": "SUM_SORT_ROWS",
    "no_index_used": "SUM_NO_INDEX_USED",
}
"""Columns of ClickHouse and of the server. Times are picoseconds."""

RECENT_SECONDS = 300
"""A poll reads digests that were seen in this time; at the start, and hourly, all of them."""
MAX_DIGESTS = 20_000
MAX_SAMPLE_BYTES = 1000
"""The server cuts samples at performance_schema_max_sql_text_length, by default 1024 bytes."""
OTHER = "other"
"""Digest of the row in which the server counts statements for which its table has no room."""

READ = "digests"
"""The key of Server.memory with the counters that this poll has read; without it, it has read none."""

CONSUMER = "statements_digest"


Key = tuple[str | None, str | None]
"""Schema and digest as the server has them; both are NULL for statements for which its table had no room."""


@dataclass(frozen=True)
class Counted:
    """How long the statements of a digest took together, in picoseconds, and when it was first seen."""

    key: Key
    timer_ps: int
    first_seen: str


def read(server: Server) -> Iterator[Fact]:
    """Yields the digests that were seen lately."""
    yield from _read(server, f"WHERE LAST_SEEN >= NOW(6) - INTERVAL {RECENT_SECONDS} SECOND")


def read_all(server: Server) -> Iterator[Fact]:
    yield from _read(server, "")


def _read(server: Server, condition: str) -> Iterator[Fact]:
    server.memory.pop(READ, None)
    require_counting(server)
    columns = ", ".join(f"{column} AS {name}" for name, column in COUNTERS.items())
    sample = "QUERY_SAMPLE_TEXT" if has_samples(server) else "NULL"
    rows = server.rows(
        f"SELECT SCHEMA_NAME AS db, DIGEST AS digest, DIGEST_TEXT AS digest_text, {sample} AS sample,"
        f" {columns}, UNIX_TIMESTAMP(FIRST_SEEN) AS first_seen, UNIX_TIMESTAMP(NOW(6)) AS server_at"
        f" FROM performance_schema.events_statements_summary_by_digest {condition} LIMIT {MAX_DIGESTS}"
    )
    server.memory[READ] = [
        Counted((row["db"], row["digest"]), int(row["timer_ps"]), text(row["first_seen"])) for row in rows
    ]
    for row in rows:
        digest = text(row["digest"]) or OTHER
        attributes = {name: text(value) for name, value in row.items() if name != "sample"}
        yield Fact(
            f"{text(row['db'])}.{digest}",
            {**attributes, "digest": digest, "sample": complete_sample(row["sample"])},
        )


def require_counting(server: Server) -> None:
    """Raises ServerError with the statement that lets the server count digests."""
    performance_schema.require_on(server)
    performance_schema.require_consumer(server, CONSUMER)


def has_samples(server: Server) -> bool:
    """Returns whether the server keeps a sample and a histogram of each digest: MySQL 8."""
    return not server.product.is_mariadb and server.product.since(8)


def complete_sample(value: object) -> str:
    """Returns a complete sample of the statement; empty if there is none or it may have been cut."""
    sample = text(value)
    return sample if len(sample.encode(errors="replace")) < MAX_SAMPLE_BYTES else ""
