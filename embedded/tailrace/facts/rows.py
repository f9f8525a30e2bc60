"""From a record of tailrace.snapshots (schemas/snapshot.schema.json) to rows of ClickHouse."""

from collections.abc import Iterator, Mapping

from tailrace.clickhouse import Row
from tailrace.facts.errant import KIND, Verdict

SNAPSHOTS, FACTS, CHANGES = "server_snapshots", "server_facts", "server_changes"
TABLE_SIZES = "table_sizes"
SIZES = ("rows", "data_bytes", "index_bytes", "free_bytes")
OK = "ok"


class RecordError(ValueError):
    """A record that does not keep the contract; the message names what is wrong with it."""


def rows_of_verdict(verdict: Verdict) -> list[tuple[str, Row]]:
    """What was found out about a replica's errant transactions; the fact and the change only where there
    are."""
    whose = {"cluster": verdict.member.cluster, "instance": verdict.member.instance, "kind": KIND}
    rows: list[tuple[str, Row]] = []
    if verdict.errant:
        fact = {"key": KIND, "since": verdict.since, "attributes": verdict.attributes}
        rows.append(_fact(whose, fact, instant(verdict.at)))
    if verdict.is_new:
        rows.append((CHANGES, _errant_change(whose, verdict)))
    known = {"product": verdict.member.product, "version": verdict.member.version, "error": ""}
    looked = {"reason": "change", "status": OK, "part": 1, "parts": 1, "truncated": False}
    return [
        *rows,
        (
            SNAPSHOTS,
            {**whose, **known, **looked, "at": instant(verdict.at), "facts": int(bool(verdict.errant))},
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
    """Table and row, the rows of facts before that of the look which makes them count. Raises RecordError."""
    try:
        return list(_rows(record))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"not a snapshot: {error!r}") from error


def _rows(record: Mapping) -> Iterator[tuple[str, Row]]:
    if record["v"] != 1:
        raise ValueError(f"version {record['v']!r} is not known")
    whose = {name: str(record[name]) for name in ("cluster", "instance", "kind")}
    at = instant(record["at"])
    for fact in record["facts"]:
        yield _size(whose, fact, at) if whose["kind"] == TABLE_SIZES else _fact(whose, fact, at)
    for change in record["changes"]:
        yield (
            CHANGES,
            {
                **whose,
                "key": str(change["key"]),
                "at": at,
                "change": str(change["change"]),
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
        "since": instant(fact["since"]),
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
        **{name: int(attributes[name]) for name in SIZES},
    }


def instant(seconds: float) -> str:
    """Seconds since 1970 as DateTime64(3) reads them."""
    return f"{float(seconds):.3f}"


def texts(attributes: Mapping) -> dict[str, str]:
    return {str(name): str(value) for name, value in attributes.items()}
