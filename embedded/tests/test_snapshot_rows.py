"""Invalid records are rejected one by one, because ClickHouse would refuse a complete block."""

import msgpack
import pytest

from tailrace.snapshots.loader import unpacked
from tailrace.snapshots.rows import RecordError, rows_of

SIZE = {"database": "d", "table": "t", "engine": "e", "rows": "1", "data_bytes": "1", "index_bytes": "1"}
RECORD = {
    "v": 1,
    "at": 1_795_307_187.25,
    "cluster": "shop",
    "instance": "db-1",
    "product": "mysql",
    "version": "8.4",
    "kind": "accounts",
    "reason": "hourly",
    "status": "ok",
    "error": "",
    "truncated": False,
    "part": 1,
    "parts": 1,
    "facts": [],
    "changes": [],
}


def test_an_empty_snapshot_is_a_row():
    ((table, row),) = rows_of(RECORD)
    assert (table, row["at"], row["facts"]) == ("server_snapshots", "2026-11-22 00:26:27.250", 0)


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        "text",
        {},
        {**RECORD, "v": 2},
        {**RECORD, "at": "soon"},
        {**RECORD, "at": -1},
        {**RECORD, "at": 1e300},
        {**RECORD, "at": float("nan")},
        {**RECORD, "facts": [{"key": "a"}]},
        {**RECORD, "facts": [{"key": "a", "since": 1, "attributes": []}]},
        {**RECORD, "changes": [{"key": "a", "change": "renamed", "before": {}, "after": {}}]},
        {
            **RECORD,
            "kind": "table_sizes",
            "facts": [{"key": "a", "since": 1, "attributes": {**SIZE, "free_bytes": "-1"}}],
        },
        {name: value for name, value in RECORD.items() if name != "status"},
    ],
)
def test_records_that_violate_the_schema_are_refused(record):
    with pytest.raises(RecordError):
        rows_of(record)


@pytest.mark.parametrize("value", [None, b"", b"\xc1", msgpack.packb(RECORD)[:-3], msgpack.packb(1) + b"x"])
def test_invalid_msgpack_is_refused(value):
    with pytest.raises(RecordError):
        unpacked(value)


def test_bytes_that_are_no_text_are_escaped():
    assert unpacked(b"\x81\xa1a\xa2\xff\xfe") == {"a": "\\xff\\xfe"}


def test_a_wait_for_a_thread_of_the_server_is_a_row():
    """The thread of a replica has no connection; a clock that was set back makes a time negative."""
    session = {"lock": "SHARED", "user": "", "host": "", "command": "", "connection": "", "seconds": "-3"}
    attributes = {
        f"{side}_{name}": value for side in ("waiting", "holding") for name, value in session.items()
    }
    attributes |= {"object_type": "TABLE", "object_schema": "shop", "object_name": "orders"}
    fact = {"key": "k", "since": 0.0, "attributes": attributes}
    (_, row), _ = rows_of({**RECORD, "kind": "metadata_locks", "facts": [fact]})
    assert (row["holding_connection"], row["waiting_seconds"], row["database"]) == (0, 0, "shop")
