"""ClickHouse is verified against a transparency log, and evidence contains the proofs of its rows."""

import json
import shutil
import uuid
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tailrace.clickhouse.client import ClickHouse
from tailrace.evidence import framework, signing
from tailrace.evidence.export import Exporter
from tailrace.evidence.period import Period
from tailrace.migrations.rewind import Order, rewind
from tailrace.retention import record
from tailrace.retention.holds import stored_columns
from tailrace.verification import live, proofs
from tailrace.verification.stored_rows import StoredRows
from tailrace_verify import (
    check,
    command,
    files,
    leaves,
    merkle,
    minutes,
    notes,
    options,
    rewinds,
    rows,
    tiles,
)
from tailrace_verify.findings import Report, Status
from tailrace_verify.trust import Trust

DAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=3)
END, MINUTE = DAY + timedelta(days=1), timedelta(minutes=1)
FORM = check.FORM
COLUMNS = ["event_id", "event_time", "flags", "instance", "query_time", "rows_sent"]
LOG, WITNESS, EXPORTER = (Ed25519PrivateKey.generate() for _ in range(3))
ORIGIN, WITNESS_NAME = "tailrace/test", "witness.example/w1"


def event(minute: int, number: int, late: bool = False) -> dict[str, object]:
    at = DAY + timedelta(minutes=minute, milliseconds=number)
    stored = DAY + timedelta(minutes=minute + (600 if late else 1))
    return {
        "event_id": str(uuid.UUID(int=minute << 64 | number << 1 | late)),
        "instance": "db1",
        "source": "slowlog",
        "log": "/log/slow.log",
        "event_time": f"{at:%Y-%m-%d %H:%M:%S.%f}",
        "query_time": number / 7,
        "rows_sent": 2**63 + number,
        "flags": ["a/b", "\n"],
        "ingested_at": f"{stored:%Y-%m-%d %H:%M:%S}",
        "after_checkpoint": 8 if number > 2 else 7,
    }


PARTS = {(10, 1): 5, (11, 1): 3, (11, 2): 2, (700, 1): 4}
"""Rows by minute and part."""


def events() -> list[dict[str, object]]:
    return [event(minute, n, part == 2) for (minute, part), count in PARTS.items() for n in range(count)]


def leaf(minute: int, part: int) -> dict[str, object]:
    stored = DAY + timedelta(minutes=minute + (600 if part == 2 else 1))
    return {
        "type": "rows",
        "table": "query_events",
        "minute": (DAY + timedelta(minutes=minute)).strftime(FORM),
        "part": part,
        "columns": COLUMNS,
        "ingested": [stored.strftime(FORM), (stored + timedelta(minutes=1)).strftime(FORM)],
    }


def entries_of(clickhouse: ClickHouse, unread: list[dict[str, object]]) -> list[bytes]:
    """Returns entries whose digests are those of the rows that ClickHouse has now."""
    found, entries = leaves.Leaves(), []
    for index, each in enumerate(unread):
        entry = json.dumps({**each, "rows": 0, "root": merkle.EMPTY.hex()}).encode()
        leaves.add(index, entry, found, Report())
    for each, hashes in StoredRows(clickhouse).hashes(found.rows.values()):
        root = rows.root_of_hashes(hashes).hex()
        entries.append(json.dumps({**unread[each.index], "rows": len(hashes), "root": root}).encode())
    return entries


def write_log(clickhouse: ClickHouse, home: Path) -> None:
    publish(entries_of(clickhouse, [leaf(*place) for place in PARTS]), home, END)


def publish(entries: list[bytes], home: Path, at: datetime) -> None:
    hashes = [merkle.leaf_hash(entry) for entry in entries]
    directory = home / live.DIRECTORY
    text = notes.Checkpoint(ORIGIN, len(entries), merkle.root(hashes)).text()
    signed = (
        notes.sign(text, ORIGIN, LOG),
        notes.cosign(text, WITNESS_NAME, WITNESS, int(at.timestamp()) + 60),
    )
    for name, data in {
        "checkpoint": notes.assemble(text, signed),
        live.LOG_VKEY: notes.key_of(ORIGIN, LOG).vkey().encode(),
        live.WITNESSES: f"# URL, key\nhttp://127.0.0.1:1 {TRUST.witnesses[0].vkey()}\n".encode(),
        tiles.path(0, 0, len(entries)): b"".join(hashes),
        tiles.path(tiles.ENTRIES, 0, len(entries)): tiles.pack(entries),
    }.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(data)


TRUST = Trust(notes.key_of(ORIGIN, LOG), (notes.key_of(WITNESS_NAME, WITNESS, notes.COSIGNATURE),), {})


@pytest.fixture
def stored(admin, server, tmp_path) -> ClickHouse:
    admin.insert("tailrace.query_events", events())
    write_log(server.user("auditor"), tmp_path)
    return admin


def verified(server, home: Path, now: datetime = END) -> Report:
    return live.verify(server.user("auditor"), home, TRUST, None, {"query_events": 92}, now)


def test_unchanged_rows(stored, server, tmp_path):
    report = verified(server, tmp_path)
    assert (report.verdict, report.findings) == (Status.PROVEN, [])
    assert (report.counts["rows"], report.counts["minutes"]) == (14, 4)
    late = {**event(20, 1), "ingested_at": f"{END:%Y-%m-%d %H:%M:%S}"}
    stored.insert("tailrace.query_events", [late])
    report = verified(server, tmp_path)
    assert (report.verdict, report.counts["rows that wait for the log"]) == (Status.PROVEN, 1)
    report = verified(server, tmp_path, END + timedelta(minutes=12))
    assert [(each.status, each.check, each.message) for each in report.findings] == [
        (
            Status.UNDETERMINED,
            "coverage",
            f"the log was last cosigned at {END + MINUTE:{FORM}}: newer rows are not proven",
        ),
        (Status.UNDETERMINED, "ClickHouse", f"1 row is in no leaf of the log, stored since {END:{FORM}}"),
    ]


@pytest.mark.parametrize(
    ("statement", "minute", "message"),
    [
        ("UPDATE query_time = 9 WHERE rows_sent % 8 = 1", 10, "were changed"),
        ("DELETE WHERE ingested_at > '{late}' AND event_time < '{third}'", 11, "0 rows, 2 were recorded"),
        ("DELETE WHERE event_time < '{second}'", 10, "0 rows, 5 were recorded"),
    ],
)
def test_changed_and_deleted_rows(stored, server, tmp_path, statement, minute, message):
    times = {
        name: f"{DAY + timedelta(minutes=after):%Y-%m-%d %H:%M:%S}"
        for name, after in (("late", 610), ("second", 11), ("third", 12))
    }
    stored.execute(f"ALTER TABLE tailrace.query_events {statement.format(**times)}", mutations_sync=2)
    report = verified(server, tmp_path)
    assert report.verdict is Status.TAMPERED
    first = report.findings[0]
    assert message in first.message
    assert first.place["minute"] == (DAY + timedelta(minutes=minute)).strftime(FORM)


def test_rows_that_were_added_to_the_past(stored, server, tmp_path):
    stored.insert("tailrace.query_events", [event(11, 99), event(300, 1)])
    report = verified(server, tmp_path)
    assert report.verdict is Status.TAMPERED
    assert [(each.place["minute"][11:16], each.message) for each in report.findings] == [
        ("00:11", "it has 4 rows, 3 were recorded"),
        ("05:00", "1 row is in no leaf of the log"),
    ]


def test_rows_that_were_added_where_no_leaf_is(stored, server, tmp_path):
    """Before and after all leaves, with a future time of insert, and in a table without a leaf."""
    stored.insert(
        "tailrace.query_events",
        [
            {**event(5, 1), "ingested_at": f"{DAY + timedelta(minutes=6):%Y-%m-%d %H:%M:%S}"},
            {**event(900, 1), "ingested_at": f"{DAY + timedelta(minutes=9):%Y-%m-%d %H:%M:%S}"},
            {**event(11, 98), "ingested_at": f"{END + timedelta(days=2000):%Y-%m-%d %H:%M:%S}"},
        ],
    )
    stored.execute(
        "INSERT INTO tailrace.error_events (event_id, event_time, ingested_at) "
        "VALUES (generateUUIDv4(), {at:DateTime}, {at:DateTime})",
        {"at": f"{DAY:%Y-%m-%d %H:%M:%S}"},
    )
    report = verified(server, tmp_path)
    assert [(each.status, each.place["table"], each.place["minute"][11:16]) for each in report.findings] == [
        (Status.TAMPERED, "query_events", "00:05"),
        (Status.TAMPERED, "query_events", "00:11"),
        (Status.TAMPERED, "query_events", "15:00"),
        (Status.UNDETERMINED, "error_events", "00:00"),
    ]
    narrow = check.Scope(DAY + timedelta(minutes=4), DAY + timedelta(minutes=8))
    report = live.verify(server.user("auditor"), tmp_path, TRUST, narrow, {}, END)
    assert [each.place["minute"][11:16] for each in report.findings] == ["00:05"], "all leaves count"


def test_a_computed_column_does_not_stand_in_for_a_stored_one(stored, server, tmp_path):
    """It could show other values to others than the auditor."""
    stored.execute("ALTER TABLE tailrace.query_events RENAME COLUMN flags TO hidden", mutations_sync=2)
    stored.execute("ALTER TABLE tailrace.query_events ADD COLUMN flags Array(String) ALIAS hidden")
    try:
        report = verified(server, tmp_path)
        assert (report.verdict, report.findings[0].message) == (
            Status.TAMPERED,
            "query_events does not store flags: 14 recorded rows cannot be compared",
        )
    finally:
        stored.execute("ALTER TABLE tailrace.query_events DROP COLUMN flags")
        stored.execute("ALTER TABLE tailrace.query_events RENAME COLUMN hidden TO flags", mutations_sync=2)


def test_rows_of_the_last_second_before_a_bound_are_read(admin, server, tmp_path):
    """ClickHouse 26.7 skips a part of such rows if DateTime64 is compared with a DateTime."""
    last = DAY + timedelta(minutes=701, milliseconds=-400)
    admin.insert("tailrace.query_events", events())
    admin.insert("tailrace.query_events", [{**event(700, 9), "event_time": f"{last:%Y-%m-%d %H:%M:%S.%f}"}])
    write_log(server.user("auditor"), tmp_path)
    assert verified(server, tmp_path).counts["rows"] == 15


def recorded_leaf(clickhouse: ClickHouse) -> dict[str, object]:
    """Returns the leaf, without its digest, of what was recorded just now."""
    (row,) = clickhouse.rows(
        "SELECT DISTINCT toUnixTimestamp(toStartOfMinute(at)) AS minute, "
        "toUnixTimestamp(ingested_at) AS second FROM tailrace.legal_hold_actions"
    )
    times = [datetime.fromtimestamp(row["second"] + after, UTC).strftime(FORM) for after in (0, 1)]
    minute = datetime.fromtimestamp(row["minute"], UTC).strftime(FORM)
    table, columns = rewinds.TABLE, sorted(stored_columns(clickhouse)[rewinds.TABLE])
    common = {"type": "rows", "table": table, "minute": minute, "part": 1}
    return {**common, "columns": columns, "ingested": times}


def bundled(server, home: Path, end: datetime) -> Report:
    """What a verifier finds offline in the proofs of all rows."""
    content = home / "bundle" / end.strftime("%H%M")
    shutil.rmtree(content, ignore_errors=True)
    proofs.write(server.user("auditor"), home, DAY, end, content)
    with files.opened(content / "transparency") as found:
        return check.verify(found, replace(TRUST, hosts={}))


def test_rows_that_a_rewind_deleted_are_not_taken_for_manipulated(stored, server, tmp_path):
    entries = entries_of(server.user("auditor"), [leaf(*place) for place in PARTS])
    rewind(stored, 8, Order(server.user("auditor"), "ines", "a faulty parser"))
    later = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(hours=2)
    for is_recorded in (False, True):
        if is_recorded:
            entries += entries_of(server.user("auditor"), [recorded_leaf(stored)])
        publish(entries, tmp_path, later)
        for report in (verified(server, tmp_path), bundled(server, tmp_path, later)):
            expected = Status.UNDETERMINED if is_recorded else Status.TAMPERED
            assert report.verdict is expected, (is_recorded, report.findings)
    at = record.listed(stored, record.REWIND)[0].at
    by = f"rows were deleted by the rewind to checkpoint 8 by ines on {at} (a faulty parser)"
    for report in (verified(server, tmp_path), bundled(server, tmp_path, later)):
        found = [(each.place["minute"][11:16], each.message) for each in report.findings]
        assert found == [("00:10", f"2 of its 5 {by}"), ("11:40", f"1 of its 4 {by}")]

    def tampered() -> list[str]:
        report = verified(server, tmp_path)
        return [each.place["minute"][11:16] for each in report.findings if each.status is Status.TAMPERED]

    stored.execute(
        "ALTER TABLE tailrace.query_events DELETE WHERE toStartOfMinute(event_time) = {at:DateTime} "
        "AND after_checkpoint = 7 AND rows_sent % 2 = 0",
        {"at": f"{DAY + timedelta(minutes=10):%Y-%m-%d %H:%M:%S}"},
        mutations_sync=2,
    )
    assert tampered() == ["00:10"], "more rows are missing than the rewind has deleted"
    stored.execute(
        "ALTER TABLE tailrace.legal_hold_actions UPDATE reason = 'another' WHERE 1", mutations_sync=2
    )
    assert {"00:10", "11:40"} < {*tampered()}, "a changed record explains nothing"
    stored.execute("TRUNCATE TABLE tailrace.legal_hold_actions SYNC")


def test_evidence_contains_the_proofs(stored, server, tmp_path):
    path = tmp_path / "evidence.zip"
    exporter = Exporter(server.user("auditor"), EXPORTER, "ines", home=tmp_path)
    exporter.export(framework.load("pci"), Period(DAY, END), path)
    report = checked(path, tmp_path)
    assert (report.verdict, report.findings) == (Status.PROVEN, [])
    assert (report.counts["rows"], report.counts["leaves"]) == (14, 4)
    with zipfile.ZipFile(path) as bundle:
        name = minutes.file_name(minutes.ROWS, "query_events", leaf(11, 2)["minute"], 2)
        lines = bundle.read(f"transparency/{name}").splitlines()
    assert [json.loads(line)["rows_sent"] for line in lines]


def checked(path: Path, directory: Path) -> Report:
    """What `tailrace verify` prints, with keys from files."""
    files = {
        "--log-key": TRUST.log.vkey().encode(),
        "--witness-key": TRUST.witnesses[0].vkey().encode(),
        "--host-keys": b"{}",
        "--public-key": signing.public_pem(EXPORTER),
    }
    words = [str(path)]
    for option, data in files.items():
        (directory / option.strip("-")).write_bytes(data)
        words += [option, str(directory / option.strip("-"))]
    parser = options.argparse.ArgumentParser()
    options.configure(parser)
    return command.verified(path, parser.parse_args(words))
