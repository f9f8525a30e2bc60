"""Reads what a server has counted of each statement digest, for `tailrace digest --server`.

The report is of all that the server has counted, or of an interval: the difference of two readings. MySQL has
histograms of each digest since 8.0; MySQL 5.7 and MariaDB have sums and extremes.
"""

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tailrace_capture import digests
from tailrace_capture.server import Server, ServerError
from tailrace_pull.remote import PermissionMissingError, RemoteError

PERFORMANCE_SCHEMA, LOG_TABLES = "performance_schema", "log_tables"
WAYS = (PERFORMANCE_SCHEMA, LOG_TABLES)
"""What a report of a server may be read from."""
FILE = "counters.jsonl"
PICOSECONDS = 1e12
WRAP = 1 << 64
"""Times of a server are numbers of 64 bits, which begin again at 0."""
STATEMENT_SECONDS = 120

SUMS = {
    "count": "COUNT_STAR",
    "seconds": "SUM_TIMER_WAIT",
    "lock_seconds": "SUM_LOCK_TIME",
    "rows_sent": "SUM_ROWS_SENT",
    "rows_examined": "SUM_ROWS_EXAMINED",
    "rows_affected": "SUM_ROWS_AFFECTED",
    "errors": "SUM_ERRORS",
    "no_index": "SUM_NO_INDEX_USED",
}
"""Columns that add up. Those whose name ends with `seconds` are picoseconds at the server."""
DIGESTS = (
    "SELECT SCHEMA_NAME AS db, DIGEST AS digest, DIGEST_TEXT AS text, {sample} AS sample, {sums},"
    " MIN_TIMER_WAIT AS min, MAX_TIMER_WAIT AS max, UNIX_TIMESTAMP(FIRST_SEEN) AS first,"
    " UNIX_TIMESTAMP(LAST_SEEN) AS last FROM performance_schema.events_statements_summary_by_digest"
)
BUCKETS = (
    "SELECT SCHEMA_NAME AS db, DIGEST AS digest, BUCKET_TIMER_LOW AS low, BUCKET_TIMER_HIGH AS high,"
    " COUNT_BUCKET AS count FROM performance_schema.events_statements_histogram_by_digest"
    " WHERE COUNT_BUCKET > 0"
)
TABLES = ("events_statements_summary_by_digest", "events_statements_histogram_by_digest")
"""What the account must be allowed to read. The second one exists since MySQL 8.0."""
ACCOUNT = "SELECT CURRENT_USER() AS account"
OWN = (
    ("events_statements_summary_by_digest", "lock_seconds", "no_index"),
    ("events_statements_histogram_by_digest", "BUCKET_TIMER_LOW", "BUCKET_TIMER_HIGH"),
)
"""Names in the digests of DIGESTS and BUCKETS."""
LOGGING = "SELECT @@GLOBAL.log_output LIKE '%TABLE%' AS is_table, @@GLOBAL.slow_query_log AS is_on"
LOGGED = "SELECT 1 FROM mysql.slow_log LIMIT 1"
NOW = "SELECT UNIX_TIMESTAMP(NOW(6)) AS now"

Key = tuple[str, str]
"""Schema and digest; both are empty for statements for which the server's table had no room."""


@dataclass
class Counted:
    """What a server counted of one digest. Sums are in the unit of the server."""

    text: str
    sample: str
    sums: dict[str, int]
    first: float
    last: float
    extremes: tuple[float, float] | None
    """The shortest and the longest execution, in seconds; None if they are unknown."""
    buckets: dict[tuple[int, int], int] = field(default_factory=dict)
    """The number of executions by lower and upper bound, in picoseconds."""

    def since(self, before: "Counted | None") -> "Counted":
        """Returns what was counted after an earlier reading; all of it if the counters began again."""
        if before is None or before.first != self.first or before.sums["count"] > self.sums["count"]:
            return self
        sums = {name: (value - before.sums[name]) % WRAP for name, value in self.sums.items()}
        buckets = {each: count - before.buckets.get(each, 0) for each, count in self.buckets.items()}
        known = {each: count for each, count in buckets.items() if count > 0}
        return Counted(self.text, self.sample, sums, self.first, self.last, None, known)


@dataclass(frozen=True)
class Reading:
    """The counters of a server at one time, in seconds since 1970 UTC by the server's clock."""

    at: float
    digests: Mapping[Key, Counted]
    has_histograms: bool


def write(
    server: Server, where: str, seconds: float | None, directory: Path, wait: Callable[[float], None]
) -> None:
    """Writes the counters of a server to FILE in a directory, for the report. Raises RemoteError.

    `where` is the address of the server; `seconds` is the length of the interval, or None for all that it has
    counted.
    """
    try:
        before = _reading(server) if seconds is not None else None
        if seconds is not None:
            wait(seconds)
        now = _reading(server)
    except ServerError as error:
        raise _translated(error, server, where) from error
    rows = _since(now, before)
    begin = before.at if before else min((each.first for each in rows.values()), default=now.at)
    head = {
        "server": f"Performance Schema of {where}",
        "version": f"{server.product.text} {server.product.comment}".strip(),
        "from": math.floor(begin),
        "to": math.ceil(now.at),
        "is_since_server_counts": before is None,
    }
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / FILE).open("w") as file:
        file.write(json.dumps(head) + "\n")
        for key, counted in rows.items():
            file.write(json.dumps(_row(key, counted, now.has_histograms)) + "\n")


def logs_to_table(server: Server) -> bool:
    """Returns whether the slow query log is in a table that has rows or gets them. Raises ServerError."""
    (row,) = server.rows(LOGGING)
    if not row["is_table"] or row["is_on"]:
        return bool(row["is_table"])
    try:
        return bool(server.rows(LOGGED))
    except ServerError:  # no permission to read a log that is off
        return False


def seconds_of(text: str) -> float:
    """Parses `30s`, `5m` or `1h`. Raises ValueError."""
    units = {"s": 1, "m": 60, "h": 3600}
    number, unit = text[:-1], text[-1:]
    if unit not in units or not number.isdecimal() or int(number) == 0:
        raise ValueError(f"--for expects a duration such as 30s, 5m or 1h, found {text!r}")
    return float(int(number) * units[unit])


def wait_with_notes(seconds: float, report: Callable[[str], None]) -> None:
    report(f"counting statements for {seconds:g} s")
    time.sleep(seconds)


def _since(now: Reading, before: Reading | None) -> dict[Key, Counted]:
    earlier = before.digests if before else {}
    rows = {key: counted.since(earlier.get(key)) for key, counted in now.digests.items()}
    return {key: each for key, each in rows.items() if each.sums["count"] and not _is_own(each.text)}


def _is_own(text: str) -> bool:
    """Returns whether a digest is one of the two statements that read digests for this report."""
    return any(all(name in text for name in names) for names in OWN)


def _reading(server: Server) -> Reading:
    """Reads histograms before sums, so that no bucket has more executions than are counted."""
    try:
        digests.require_counting(server)
    except ServerError as error:
        if error.status != "denied":  # the account may not read the settings; the counters say the rest
            raise
    has_histograms = digests.has_samples(server)
    (row,) = server.rows(NOW)
    buckets = list(server.rows(BUCKETS)) if has_histograms else []
    sums = ", ".join(f"{column} AS {name}" for name, column in SUMS.items())
    sample = "QUERY_SAMPLE_TEXT" if has_histograms else "NULL"
    found = {_key(each): _counted(each) for each in server.rows(DIGESTS.format(sample=sample, sums=sums))}
    for each in buckets:
        if counted := found.get(_key(each)):
            counted.buckets[int(each["low"]), int(each["high"])] = int(each["count"])
    return Reading(float(row["now"]), found, has_histograms)


def _key(row: Mapping[str, object]) -> Key:
    return str(row["db"] or ""), str(row["digest"] or "")


def _counted(row: Mapping[str, object]) -> Counted:
    return Counted(
        str(row["text"] or ""),
        digests.complete_sample(row["sample"]),
        {name: int(row[name]) for name in SUMS},
        float(row["first"]),
        float(row["last"]),
        (int(row["min"]) / PICOSECONDS, int(row["max"]) / PICOSECONDS),
    )


def _row(key: Key, counted: Counted, has_histograms: bool) -> dict[str, object]:
    in_seconds = {
        name: value / PICOSECONDS if name.endswith("seconds") else value
        for name, value in counted.sums.items()
    }
    low, high = counted.extremes or (None, None)
    buckets = [[_middle(*bounds), count] for bounds, count in sorted(counted.buckets.items())]
    return {
        "schema": key[0],
        "digest": key[1],
        "text": counted.text,
        "sample": counted.sample,
        **in_seconds,
        "min": low,
        "max": high,
        "buckets": buckets if has_histograms else None,
        "first": counted.first,
        "last": counted.last,
    }


def _middle(low: int, high: int) -> float:
    """Returns the value that stands for a bucket, in seconds: the one with the least relative error."""
    return (math.sqrt(low * high) if low else high / 2) / PICOSECONDS


def _translated(error: ServerError, server: Server, where: str) -> RemoteError:
    if error.status != "denied":
        return RemoteError(f"{where}: {error}")
    tables = TABLES if digests.has_samples(server) else TABLES[:1]
    user, _, host = str(server.rows(ACCOUNT)[0]["account"]).rpartition("@")
    grants = "".join(
        f"\n  GRANT SELECT ON performance_schema.{each} TO '{user}'@'{host}';" for each in tables
    )
    return PermissionMissingError(f"{where}: {error}. The account needs, on the server:{grants}")
