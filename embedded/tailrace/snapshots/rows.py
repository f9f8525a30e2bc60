"""Converts records of tailrace.snapshots (schemas/snapshot.schema.json) to rows of ClickHouse."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from tailrace.clickhouse.client import Row
from tailrace.snapshots import records
from tailrace.snapshots.errant_transactions import KIND, Verdict

SNAPSHOTS, FACTS, CHANGES = "server_snapshots", "server_facts", "server_changes"
TABLE_SIZES = "table_sizes"
SIZES = ("rows", "data_bytes", "index_bytes", "free_bytes")
DIGESTS, DIGEST_SAMPLES = "digests", "digest_samples"
HISTOGRAMS = "digest_histograms"
METADATA_LOCKS, LOCK_WAITS = "metadata_locks", "metadata_lock_waits"
SIDES = ("waiting", "holding")
SESSION, NUMBERS = ("lock", "user", "host", "command"), ("connection", "seconds")
PULL_COSTS = "pull_costs"
COSTS = ("requests", "received_bytes", "line_bytes")
COUNTERS = (
    *(
        "statements",
        "timer_ps",
        "lock_ps",
        "errors",
        "warnings",
        "rows_affected",
        "rows_sent",
        "rows_examined",
    ),
    *("tmp_tables", "tmp_disk_tables", "sort_rows", "no_index_used"),
)
SAMPLE = "sample"
"""A statement with its literals, from which the loader computes the query id. It is not stored."""
OK = "ok"
GTID = "gtid"
"""Kinds that differ in every snapshot and are evaluated immediately: only the last row is stored, at a fixed
time."""
FIRST_MOMENT = 0.0
LAST_MOMENT = 4_102_444_800
"""2100. Later times are rejected here: ClickHouse would refuse the complete block with them."""
CHANGE = ("added", "changed", "removed")


class RecordError(ValueError):
    """A record violates the schema; the message states how."""


def rows_of_verdict(verdict: Verdict) -> list[tuple[str, Row]]:
    """Returns the rows of a verdict about errant transactions; the fact and the change only if there are
    any."""
    whose = {"cluster": verdict.member.cluster, "instance": verdict.member.instance, "kind": KIND}
    rows: list[tuple[str, Row]] = []
    if verdict.errant:
        fact = {"key": KIND, "since": verdict.since, "attributes": verdict.attributes}
        rows.append(_fact(whose, fact, instant(verdict.at)))
    if verdict.is_new:
        rows.append((CHANGES, _errant_change(whose, verdict)))
    known = {"product": verdict.member.product, "version": verdict.member.version, "error": ""}
    complete = {"reason": "change", "status": OK, "part": 1, "parts": 1, "truncated": False}
    return [
        *rows,
        (
            SNAPSHOTS,
            {**whose, **known, **complete, "at": instant(verdict.at), "facts": int(bool(verdict.errant))},
        ),
    ]


def _errant_change(whose: Row, verdict: Verdict) -> Row:
    kind = "changed" if verdict.errant and verdict.before else "added" if verdict.errant else "removed"
    return {
        **whose,
        "key": KIND,
        "at": instant(verdict.at),
        "change": kind,
        "before": {"gtids": verdict.before} if verdict.before else {},
        "after": verdict.attributes if verdict.errant else {},
    }


def rows_of(record: object) -> list[tuple[str, Row]]:
    """Returns tables and rows; facts precede the snapshot's row, which makes them count. Raises
    RecordError."""
    try:
        return list(_rows(record))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise RecordError(f"not a snapshot: {error!r}") from error


def _rows(record: Mapping) -> Iterator[tuple[str, Row]]:
    if record["v"] != 1:
        raise ValueError(f"version {record['v']!r} is not known")
    whose = {name: str(record[name]) for name in ("cluster", "instance", "kind")}
    at = instant(record["at"])
    if whose["kind"] == records.KIND:  # a log of its own, and no state of a server
        yield from records.rows_of(record, at)
        return
    if whose["kind"] == PULL_COSTS:
        yield from (_cost(whose, fact, at) for fact in record["facts"])
        return
    row_of = OF_KIND.get(whose["kind"], _fact)
    yield from (row_of(whose, fact, at) for fact in record["facts"])
    for change in record["changes"]:
        yield (
            CHANGES,
            {
                **whose,
                "key": str(change["key"]),
                "at": at,
                "change": _one_of(CHANGE, change["change"]),
                "before": texts(change["before"]),
                "after": texts(change["after"]),
            },
        )
    yield SNAPSHOTS, _snapshot(whose, record, at)


def _snapshot(whose: Row, record: Mapping, at: str) -> Row:
    names = ("product", "version", "reason", "status", "error")
    return {
        **whose,
        "at": at,
        **{name: str(record[name]) for name in names},
        "part": int(record["part"]),
        "parts": int(record["parts"]),
        "truncated": bool(record["truncated"]),
        "facts": len(record["facts"]),
    }


def _fact(whose: Row, fact: Mapping, at: str) -> tuple[str, Row]:
    return FACTS, {
        **whose,
        "key": str(fact["key"]),
        "since": instant(FIRST_MOMENT if whose["kind"] == GTID else fact["since"]),
        "last_seen": at,
        "attributes": texts(fact["attributes"]),
    }


def _size(whose: Row, fact: Mapping, at: str) -> tuple[str, Row]:
    attributes = fact["attributes"]
    return TABLE_SIZES, {
        "cluster": whose["cluster"],
        "instance": whose["instance"],
        "at": at,
        **{name: str(attributes[name]) for name in ("database", "table", "engine")},
        **{name: _size_in_range(int(attributes[name])) for name in SIZES},
    }


def _of_digest(whose: Row, attributes: Mapping) -> Row:
    """Returns the columns that samples and histograms of a digest have in common."""
    return {
        "cluster": whose["cluster"],
        "instance": whose["instance"],
        "database": str(attributes["db"]),
        "digest": str(attributes["digest"]),
        "at": instant(attributes["server_at"]),
        "first_seen": instant(attributes["first_seen"]),
    }


def _digest(whose: Row, fact: Mapping, _: str) -> tuple[str, Row]:
    """Returns the sample of a digest at the time of the server, with a statement that the loader replaces by
    its query id."""
    attributes = fact["attributes"]
    return DIGEST_SAMPLES, {
        **_of_digest(whose, attributes),
        "digest_text": str(attributes["digest_text"]),
        SAMPLE: str(attributes[SAMPLE]),
        **{name: _size_in_range(int(attributes[name])) for name in COUNTERS},
    }


def _histogram(whose: Row, fact: Mapping, _: str) -> tuple[str, Row]:
    """Returns the histogram of a digest at the time of the server: `buckets` is `NUMBER:COUNT …`."""
    attributes = fact["attributes"]
    buckets = (each.partition(":") for each in str(attributes["buckets"]).split())
    return HISTOGRAMS, {
        **_of_digest(whose, attributes),
        "buckets": {str(int(number)): int(count) for number, _, count in buckets},
    }


def _lock_wait(whose: Row, fact: Mapping, at: str) -> tuple[str, Row]:
    """Returns a session that waits for a metadata lock at the time of the snapshot, and one that has a lock
    of the object."""
    attributes = fact["attributes"]
    names = ("object_type", "object_name", *(f"{side}_{name}" for side in SIDES for name in SESSION))
    return LOCK_WAITS, {
        "cluster": whose["cluster"],
        "instance": whose["instance"],
        "at": at,
        "database": str(attributes["object_schema"]),
        **{name: str(attributes[name]) for name in names},
        **{
            # A thread of the server, such as that of a replica, has no connection.
            f"{side}_{name}": _size_in_range(max(0, int(attributes[f"{side}_{name}"] or 0)))
            for side in SIDES
            for name in NUMBERS
        },
    }


OF_KIND = {DIGESTS: _digest, HISTOGRAMS: _histogram, METADATA_LOCKS: _lock_wait, TABLE_SIZES: _size}
"""What makes a row of a fact of a kind, if it is not a fact of the state of a server."""


def _cost(whose: Row, fact: Mapping, at: str) -> tuple[str, Row]:
    """Returns what a pulled log cost in a period that ends `at`."""
    attributes = fact["attributes"]
    return PULL_COSTS, {
        "cluster": whose["cluster"],
        "instance": whose["instance"],
        "source": str(attributes["source"]),
        "log": str(attributes["log"]),
        "since": instant(float(attributes["since"])),
        "at": at,
        **{name: _size_in_range(int(attributes[name])) for name in COSTS},
    }


def instant(seconds: float) -> str:
    """Formats seconds since 1970 for DateTime64(3); it would read a small number as a date."""
    millis = round(float(seconds) * 1000)
    if not 0 <= millis < LAST_MOMENT * 1000:
        raise ValueError(f"{seconds} s are not a valid time of a snapshot")
    return f"{datetime.fromtimestamp(millis // 1000, UTC):%Y-%m-%d %H:%M:%S}.{millis % 1000:03}"


def _one_of(known: tuple[str, ...], text: object) -> str:
    if text not in known:
        raise ValueError(f"expected one of {', '.join(known)}, found {text!r}")
    return str(text)


def _size_in_range(size: int) -> int:
    if not 0 <= size < 2**64:
        raise ValueError(f"{size} is no size")
    return size


def texts(attributes: Mapping) -> dict[str, str]:
    return {str(name): str(value) for name, value in attributes.items()}
