"""Parses the entries of a log: signed ranges, their results, digests of rows, and registered keys."""

import base64
import binascii
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tailrace_verify.findings import Report
from tailrace_verify.trust import HostKey, KeyFileError, host_keys

CHECK = "leaves"
TABLES = (
    *("query_events", "audit_events", "error_events", "legal_hold_actions"),
    *("alert_actions", "silences", "reviews", "evidence_exports", "unmasked_looks"),
)
"""Tables of which the log has each row: append-only, with `event_time` and `ingested_at`."""
ALERTS, ARCHIVED = "alerts", "archived_days"
REPLACED = (ALERTS, ARCHIVED)
"""Tables of which the log has the hash of each version of a row: a newer row replaces an older one."""
STATE_TEXTS = {ALERTS: 7, ARCHIVED: 3}
"""The number of texts in `Version.state` by table; `tailrace_verify.versions` has their meanings."""
MISMATCH = "mismatch"
MINUTE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:00Z")
HEX_32 = re.compile(r"[0-9a-f]{64}")
MAX_RECORDS = 256
"""Signed records of one leaf."""
MAX_RECORDS_BYTES = 1 << 20
"""Bytes of the records of one leaf before compression."""
TABLE = re.compile(r"[A-Za-z0-9_.]+")


@dataclass(frozen=True)
class RowsLeaf:
    """The digest of rows of one table and minute; `part` is from 1."""

    index: int
    table: str
    minute: str
    part: int
    rows: int
    root: bytes
    columns: Sequence[str]
    ingested: Sequence[str] = ()
    """When the rows were stored: [first, end), by which ClickHouse tells the parts of a minute apart."""


@dataclass(frozen=True)
class Version:
    """A row of a table in which a newer row of the same `key` replaces it. `version` orders the rows of a
    key; `hash` is the leaf hash of the row in canonical form. `state` is empty in leaves of earlier
    versions."""

    key: str
    minute: str
    version: int
    hash: bytes
    state: Sequence[str] = ()


@dataclass(frozen=True)
class VersionsLeaf:
    """The versions that were stored in `ingested`, [first, end)."""

    index: int
    table: str
    columns: Sequence[str]
    ingested: Sequence[str]
    versions: Sequence[Version]


@dataclass(frozen=True)
class SignedRange:
    """A signed payload as it was written; `index` is that of its leaf."""

    index: int
    payload: str
    key: str
    signature: bytes


@dataclass(frozen=True)
class Mismatch:
    """The stream job received other bytes than those that record `sequence` of `key` covers."""

    index: int
    key: str
    sequence: int
    payload_sha256: str
    differing: tuple[int, int] | None = None
    """The ranges that differ, [from, to) in bytes; None if that is all that the record signs."""


@dataclass
class Leaves:
    """All leaves of one kind each, in the order of the log."""

    rows: dict[tuple[str, str, int], RowsLeaf] = field(default_factory=dict)
    """By table, minute and part."""
    versions: list[VersionsLeaf] = field(default_factory=list)
    ranges: list[SignedRange] = field(default_factory=list)
    mismatches: list[Mismatch] = field(default_factory=list)
    keys: Mapping[str, HostKey] | None = None
    """The registered keys: each leaf contains those that are new or changed."""


class _MalformedError(ValueError):
    pass


def add(index: int, entry: bytes, leaves: Leaves, report: Report) -> None:
    """Adds one entry. An entry of an unknown type is counted and noted: a newer Tailrace may write others."""
    try:
        document = json.loads(entry)
        kind = document["type"]
        if add_one := KINDS.get(kind):
            add_one(index, document, leaves, report)
            return
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        report.tampered(CHECK, f"entry {index} is malformed: {error!r}"[:300], leaf=index)
        return
    report.counts["leaves of an unknown type"] += 1


def _add_rows(index: int, document: Mapping, leaves: Leaves, report: Report) -> None:
    leaf = _rows(index, document)
    place = (leaf.table, leaf.minute, leaf.part)
    if before := leaves.rows.get(place):
        report.tampered(
            CHECK,
            f"entry {index} repeats part {leaf.part} of {leaf.table}, which is entry {before.index}",
            leaf=index,
            table=leaf.table,
            minute=leaf.minute,
        )
        return
    leaves.rows[place] = leaf


def _rows(index: int, document: Mapping) -> RowsLeaf:
    table, minute, root = document["table"], document["minute"], document["root"]
    part, rows, columns = document["part"], document["rows"], document["columns"]
    if not (TABLE.fullmatch(table) and MINUTE.fullmatch(minute) and HEX_32.fullmatch(root)):
        raise _MalformedError("table, minute or root")
    if type(part) is not int or type(rows) is not int or part < 1 or rows < 0:
        raise _MalformedError("part or rows")
    ingested = tuple(map(str, document.get("ingested", ())))
    return RowsLeaf(index, table, minute, part, rows, bytes.fromhex(root), tuple(map(str, columns)), ingested)


def _add_versions(index: int, document: Mapping, leaves: Leaves, report: Report) -> None:
    table, ingested = document["table"], tuple(map(str, document["ingested"]))
    versions = [_version(table, *each) for each in document["rows"]]
    if not TABLE.fullmatch(table) or len(ingested) != 2:
        raise _MalformedError("table or ingested")
    columns = tuple(map(str, document["columns"]))
    leaves.versions.append(VersionsLeaf(index, table, columns, ingested, versions))
    report.counts["versions of rows"] += len(versions)


def _version(
    table: str, key: str, minute: str, version: int, digest: str, state: Sequence[str] = ()
) -> Version:
    if not isinstance(key, str) or type(version) is not int:
        raise _MalformedError("key or version")
    if not (MINUTE.fullmatch(minute) and HEX_32.fullmatch(digest)):
        raise _MalformedError("minute or hash")
    texts = tuple(map(str, state))
    if texts and (
        len(texts) != STATE_TEXTS.get(table) or not all(map(str.isdecimal, _numbers(table, texts)))
    ):
        raise _MalformedError("state")
    return Version(key, minute, version, bytes.fromhex(digest), texts)


def _numbers(table: str, state: Sequence[str]) -> Sequence[str]:
    """Returns the texts of a state that are numbers; a metric may be negative."""
    return (state[0], state[2], state[3].removeprefix("-")) if table == ALERTS else (state[1],)


def _add_range(index: int, document: Mapping, leaves: Leaves, report: Report) -> None:
    try:
        signature = base64.b64decode(document["signature"], validate=True)
    except binascii.Error:
        signature = b""
    payload, key = document["payload"], document["key"]
    if not isinstance(payload, str) or not isinstance(key, str):
        raise _MalformedError("payload or key")
    leaves.ranges.append(SignedRange(index, payload, key, signature))


def _add_ranges(index: int, document: Mapping, leaves: Leaves, report: Report) -> None:
    """Adds the records of a leaf: [payload, key, signature] of each, as JSON in zlib's format in base64."""
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(base64.b64decode(document["records"], validate=True), MAX_RECORDS_BYTES)
    except zlib.error as error:
        raise _MalformedError(str(error)) from None
    if not unpacking.eof or unpacking.unused_data:
        raise _MalformedError("records")
    records = json.loads(text)
    if len(records) > MAX_RECORDS:
        raise _MalformedError(f"more than {MAX_RECORDS} records")
    for payload, key, signature in records:
        _add_range(index, {"payload": payload, "key": key, "signature": signature}, leaves, report)


def _add_result(index: int, document: Mapping, leaves: Leaves, report: Report) -> None:
    """Results other than a mismatch are for later versions."""
    key, sequence, payload = document["key"], document["sequence"], document["payload_sha256"]
    if not isinstance(key, str) or type(sequence) is not int or not isinstance(payload, str):
        raise _MalformedError("key, sequence or payload_sha256")
    differing = (document["from"], document["to"]) if "from" in document else None
    if differing and [type(each) for each in differing] != [int, int]:
        raise _MalformedError("from or to")
    if document["status"] == MISMATCH:
        leaves.mismatches.append(Mismatch(index, key, sequence, payload, differing))


def _add_keys(index: int, document: Mapping, leaves: Leaves, report: Report) -> None:
    try:
        keys = host_keys(document["hosts"])
    except KeyFileError as error:
        raise _MalformedError(str(error)) from None
    for name, known in (leaves.keys or {}).items():
        if name in keys and (keys[name].host, keys[name].public) != (known.host, known.public):
            report.tampered(CHECK, f"entry {index} gives key {name} to another host", leaf=index, key=name)
    leaves.keys = {**(leaves.keys or {}), **keys}


KINDS = {
    "rows": _add_rows,
    "versions": _add_versions,
    "signed_range": _add_range,
    "signed_ranges": _add_ranges,
    "range_result": _add_result,
    "keys": _add_keys,
}
