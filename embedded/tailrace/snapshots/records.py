"""Converts snapshots of the kind `performance_schema` to rows.

Their facts are records of OpenTelemetry's mysqlreceiver and of Grafana Alloy, and gaps between them
(docs/PULL.md).
"""

import math
from collections.abc import Callable, Iterator, Mapping

from tailrace.clickhouse.client import Row

KIND = "performance_schema"
RECORDS = "performance_schema_records"
SAMPLE = "sample"
"""A complete statement with its literals, from which the loader computes the query id. It is not stored."""
FIRST_SECOND, LAST_SECOND = 946_684_800, 4_102_444_800
"""2000 and 2100: ClickHouse would refuse the complete block with another time."""
NAMES = ("tool", "kind", "ignored", "database", "digest", "digest_text", "state", "command", "stage", "wait")
COUNTS = (
    "thread_id",
    "thread_event_id",
    "statements",
    "rows_examined",
    "rows_sent",
    "rows_affected",
    "errors",
)
TIMES = ("seconds", "cpu_seconds", "wait_seconds")
PLACE = {"offset": "entry_offset", "bytes": "entry_bytes", "file": "file"}
"""Attribute and column of what identifies a record."""


def rows_of(record: Mapping, read_at: str) -> Iterator[tuple[str, Row]]:
    """Yields a row for each fact, with a statement that the loader replaces by its query id. A value that the
    record does not have is NULL. Raises KeyError, TypeError, ValueError."""
    for fact in record["facts"]:
        given = {str(name): str(value) for name, value in fact["attributes"].items()}
        yield (
            RECORDS,
            {
                "cluster": str(record["cluster"]),
                "instance": str(record["instance"]),
                **{name: given.get(name, "") for name in NAMES},
                "at": _moment(given["at"]),
                **{name: _known(given, name, _count) for name in COUNTS},
                **{name: _known(given, name, _time) for name in TIMES},
                "error_code": _known(given, "error_code", _count),
                "trace_id": given.get("trace_id", ""),
                SAMPLE: given.get(SAMPLE, ""),
                "path": given["path"],
                **{column: _count(given[name]) for name, column in PLACE.items()},
                "read_at": read_at,
            },
        )


def _known(given: Mapping[str, str], name: str, read: Callable[[str], float]) -> float | None:
    return read(given[name]) if given.get(name) else None


def _count(text: str) -> int:
    count = int(text)
    if not 0 <= count < 2**63:
        raise ValueError(f"{count} is no count")
    return count


def _time(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < math.inf:
        raise ValueError(f"{seconds} is no time")
    return seconds


def _moment(text: str) -> str:
    """Formats seconds since 1970 for DateTime64(6), which reads seconds with a fraction."""
    seconds, _, fraction = text.partition(".")
    if not FIRST_SECOND <= int(seconds) < LAST_SECOND or not (fraction or "0").isdigit():
        raise ValueError(f"{text} s are not a valid time of a record")
    return f"{int(seconds)}.{fraction[:6]:0<6}"
