"""Entries of the transparency log from a real ClickHouse: each stored row is in exactly one leaf."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tailrace.clickhouse import replica_progress
from tailrace.clickhouse.client import ClickHouse
from tailrace.transparency import collector as collecting
from tailrace.transparency.collector import Collector
from tailrace.transparency.log import TransparencyLog
from tailrace_verify import rows as canonical_rows
from tailrace_verify import tiles
from tailrace_verify.findings import Report
from tailrace_verify.leaves import Leaves, add

LAST_HOUR = int(time.time()) // 3600 * 3600 - 5 * 86400
"""The hour of the events, in seconds since 1970 UTC: within the retention of all tables."""
INSERTED = LAST_HOUR + 7200
HOSTILE = 'a"\\/\b\f\n\r\t\x00\x1f\x7f\u2028é\U0001f600'
JSON_ROWS = "INSERT INTO tailrace.query_events FORMAT JSONEachRow"


def row(number: int, minute: int, ingested_at: int, **more: object) -> dict[str, object]:
    return {
        "event_id": f"00000000-0000-4000-8000-{number:012x}",
        "instance": "db-1",
        "event_time": f"{LAST_HOUR + minute * 60}.25",
        "ingested_at": ingested_at,
        "query_time": number / 7,
        "rows_sent": (1 << 64) - 1 - number,
        "attributes": {"z": HOSTILE, "a": ""},
        "tables_read": ["s.t", HOSTILE],
        **more,
    }


class CollectorAt(Collector):
    """Reads up to a given second, if there is one."""

    second = 0

    def until(self) -> int:
        return self.second or super().until()


@pytest.fixture
def log(tmp_path: Path) -> TransparencyLog:
    return TransparencyLog(tmp_path / "log", "tailrace/test", Ed25519PrivateKey.from_private_bytes(bytes(32)))


@pytest.fixture
def collector(
    user: Callable[[str], ClickHouse], admin: ClickHouse, log: TransparencyLog, tmp_path: Path
) -> CollectorAt:
    return CollectorAt(user("auditor"), log.store, tmp_path / "hosts.json")


def append(log: TransparencyLog, collector: Collector) -> list[dict]:
    """Appends what there is; returns the new leaves."""
    start = log.size
    while True:
        batch = collector.collect()
        log.append(batch)
        if batch.is_complete:
            return leaves_of(log, start)


def leaves_of(log: TransparencyLog, start: int = 0) -> list[dict]:
    read = tiles.Tiles(tiles.reader(log.directory), log.size)
    bundles = [read.entries(index) for index in range(-(-log.size // tiles.WIDTH))]
    return [json.loads(entry) for bundle in bundles for entry in bundle][start:]


def digest_of_rows(reader: ClickHouse, leaf: dict, tmp_path: Path) -> tuple[int, str]:
    """Returns the number and the digest of the leaf's rows as a verifier computes them, from their JSON."""
    first, last = (text.replace("T", " ").rstrip("Z") for text in leaf["ingested"])
    minute = leaf["minute"].replace("T", " ").rstrip("Z")
    condition = (
        f"toStartOfMinute(event_time) = toDateTime('{minute}', 'UTC')"
        f" AND ingested_at >= toDateTime('{first}', 'UTC') AND ingested_at < toDateTime('{last}', 'UTC')"
    )
    query = canonical_rows.query(f"tailrace.{leaf['table']}", leaf["columns"], condition)
    query = query.replace(
        " FORMAT", f" SETTINGS {', '.join(f'{k}={v!r}' for k, v in canonical_rows.SETTINGS.items())} FORMAT"
    )
    with (tmp_path / "rows").open("w+b") as file:
        reader.copy(query, file)
        file.seek(0)
        lines = file.read().splitlines()
    loaded = [canonical_rows.load(line) for line in lines]
    assert [canonical_rows.canonical(each) for each in loaded] == lines
    return len(lines), canonical_rows.minute_root(loaded).hex()


def names(leaves: Sequence[dict]) -> list[tuple]:
    return [(leaf["table"], leaf["minute"][11:16], leaf["part"], leaf["rows"]) for leaf in leaves]


def minute_name(minute: int) -> str:
    return time.strftime("%H:%M", time.gmtime(LAST_HOUR + minute * 60))


def test_each_row_is_in_one_leaf_however_late_it_is(admin, collector, log, tmp_path):
    collector.second = INSERTED + 100
    admin.insert("tailrace.query_events", [row(n, n % 2, INSERTED) for n in range(5)])
    admin.insert(
        "tailrace.audit_events",
        [{**row(9, 0, INSERTED), "query_time": None}],
        input_format_skip_unknown_fields=1,
    )
    leaves = append(log, collector)
    assert names(leaves) == [
        ("query_events", minute_name(0), 1, 3),
        ("query_events", minute_name(1), 1, 2),
        ("audit_events", minute_name(0), 1, 1),
    ]
    assert append(log, collector) == [], "nothing is appended twice"

    admin.insert("tailrace.query_events", [row(10, 1, INSERTED + 100), row(11, 2, INSERTED + 100)])
    collector.second = INSERTED + 200
    late = append(log, collector)
    assert names(late) == [
        ("query_events", minute_name(1), 2, 1),
        ("query_events", minute_name(2), 1, 1),
    ]
    for leaf in [*leaves, *late]:
        assert digest_of_rows(admin, leaf, tmp_path) == (leaf["rows"], leaf["root"])
    assert collector.differing("query_events", 0) == {}


def test_a_row_in_the_last_second_of_its_minute_is_in_a_leaf(admin, collector, log):
    admin.insert("tailrace.query_events", [row(1, 0, INSERTED)])
    admin.insert("tailrace.query_events", [row(2, 0, INSERTED, event_time=f"{LAST_HOUR + 59}.5")])
    collector.second = INSERTED + 1
    assert [leaf["rows"] for leaf in append(log, collector)] == [2]


def now_of(admin: ClickHouse) -> int:
    return admin.rows("SELECT toUnixTimestamp(now()) AS now")[0]["now"]


def test_rows_are_anchored_in_bounded_steps_of_whole_seconds(admin, collector, log, monkeypatch):
    monkeypatch.setattr(collecting, "MAX_ROWS", 4)
    admin.insert("tailrace.error_events", [error(n, INSERTED + n // 3) for n in range(12)])
    first = collector.collect()
    assert not first.is_complete
    assert [json.loads(entry)["rows"] for entry in first.entries] == [6], "two whole seconds"
    assert [leaf["rows"] for leaf in append(log, collector)] == [6, 6]


def error(number: int, ingested_at: int) -> dict[str, object]:
    return {
        "message": HOSTILE,
        "instance": "db-1",
        "event_time": f"{LAST_HOUR}.5",
        "ingested_at": ingested_at,
        "thread_id": number,
    }


def test_a_changed_deleted_or_inserted_row_differs_from_the_log(admin, collector, log, tmp_path):
    admin.insert("tailrace.error_events", [error(n, INSERTED) for n in range(3)])
    (leaf,) = append(log, collector)
    admin.execute(
        "ALTER TABLE tailrace.error_events UPDATE message = 'x' WHERE thread_id = 1"
        " SETTINGS mutations_sync = 2"
    )
    count, root = digest_of_rows(admin, leaf, tmp_path)
    assert (count, root != leaf["root"]) == (3, True)
    admin.execute("ALTER TABLE tailrace.error_events DELETE WHERE thread_id = 1 SETTINGS mutations_sync = 2")
    assert collector.differing("error_events", 0) == {LAST_HOUR: (2, 3)}
    admin.insert("tailrace.error_events", [error(n, INSERTED) for n in range(7, 9)])
    assert collector.differing("error_events", 0) == {LAST_HOUR: (4, 3)}, (
        "a row with an old time of insertion"
    )
    assert append(log, collector) == []


def test_rows_of_a_running_insert_wait(admin, collector, log):
    until = collector.collect().values["position query_events"]
    assert until <= now_of(admin) - replica_progress.MARGIN_SECONDS
    admin.insert("tailrace.query_events", [row(1, 0, now_of(admin) + 3600)])
    assert append(log, collector) == []
    assert collector.waiting()["query_events"] == (1, 1)


def test_the_auditor_reads_how_far_replicas_are(user):
    """Of one server twice, without replicated tables: it tests the grants and the statements alone."""
    clock = iter((0.0, replica_progress.PASS_SECONDS))
    of_two = replica_progress.ReplicaProgress([user("auditor")] * 2, ("query_events",), lambda: next(clock))
    first = replica_progress.ReplicaProgress([user("auditor")], ("query_events",)).until()
    assert of_two.until() == 0
    assert of_two.until() >= first
    known = user("auditor").rows(
        "SELECT table, is_readonly, is_session_expired, absolute_delay FROM system.replicas"
    )
    assert known == []


def test_the_counts_come_from_the_projection(admin, collector, user):
    admin.insert("tailrace.query_events", [row(n, 0, INSERTED) for n in range(3)])
    query = collecting.CELLS.format(table="query_events", limit=9)
    plan = user("auditor").execute(f"EXPLAIN {query}", {"from": INSERTED, "until": INSERTED + 1})
    assert "by_ingestion" in plan


RANGES = """
CREATE TABLE tailrace.signed_ranges (payload String, payload_sha256 String, key String, signature String,
    sequence UInt64, status String, from_offset UInt64, to_offset UInt64, signed_at DateTime64(6, 'UTC'),
    ingested_at DateTime('UTC'))
ENGINE = MergeTree ORDER BY sequence
"""
"""Its columns that become leaves, for a schema that does not have the table."""


@pytest.fixture
def ranges(admin: ClickHouse) -> Iterator[Callable[..., None]]:
    """Stores signed ranges."""
    is_new = not admin.rows("EXISTS TABLE tailrace.signed_ranges")[0]["result"]
    if is_new:
        admin.execute(RANGES)

    def store(second: int, *sequences: int, status: str = "verified", **fields: object) -> None:
        row = {
            "key": "k",
            "signature": "c2ln",
            "from_offset": 5,
            "to_offset": 9,
            "signed_at": f"{LAST_HOUR}.0",
            "ingested_at": second,
        }
        found = [
            {"payload": f"{status} {each}", "payload_sha256": f"{status} {each}", "sequence": each}
            for each in sequences
        ]
        admin.insert(
            "tailrace.signed_ranges", [{**row, **each, "status": status, **fields} for each in found]
        )

    yield store
    if is_new:
        admin.execute("DROP TABLE tailrace.signed_ranges SYNC")


def payloads_until(log, collector: CollectorAt, second: int) -> tuple[list[str], Report]:
    """Returns the payloads in the leaves of rows until this second, and what the verifier finds in them."""
    collector.second = second
    report, held = Report(), Leaves()
    for index, leaf in enumerate(append(log, collector)):
        add(index, json.dumps(leaf).encode(), held, report)
    return [each.payload for each in held.ranges], report


def test_each_signed_range_is_in_one_leaf_and_a_forged_one_in_none(admin, log, tmp_path, ranges):
    collector = CollectorAt(admin, log.store, tmp_path / "hosts.json")

    def payloads(second: int) -> list[str]:
        found, report = payloads_until(log, collector, second)
        assert report.findings == []
        return found

    ranges(INSERTED, 2, 1, 4)
    ranges(INSERTED, 3, status="bad_signature")
    assert payloads(INSERTED + 1) == ["verified 1", "verified 2", "verified 4"]
    ranges(INSERTED + 2, 2, 3)  # the job stores 2 again, with a later result
    ranges(INSERTED + 2, 4, status="broken_chain")
    assert payloads(INSERTED + 3) == ["verified 3", "broken_chain 4"]
    assert log.store.get("sequences k") == [[1, 4]]


def test_a_broken_record_of_several_ranges_is_in_one_leaf_and_a_fork_as_well(admin, log, tmp_path, ranges):
    collector = CollectorAt(admin, log.store, tmp_path / "hosts.json")
    for start in (5, 20):
        ranges(INSERTED, 1, status="broken_chain", from_offset=start)
    assert payloads_until(log, collector, INSERTED + 1)[0] == ["broken_chain 1"]
    for start in (20, 30):
        ranges(INSERTED + 1, 1, status="broken_chain", from_offset=start)
        fork = {"payload": "fork", "payload_sha256": "fork", "from_offset": start}
        ranges(INSERTED + 1, 1, status="broken_chain", **fork)
    assert payloads_until(log, collector, INSERTED + 2)[0] == ["fork"]


def test_each_mismatch_of_a_record_is_recorded(admin, log, tmp_path, ranges):
    collector = CollectorAt(admin, log.store, tmp_path / "hosts.json")
    for start in (5, 20, 20):
        ranges(INSERTED, 7, status="mismatch", from_offset=start, to_offset=start + 4)
    collector.second = INSERTED + 1
    results = [leaf for leaf in append(log, collector) if leaf["type"] == "range_result"]
    assert [(each["from"], each["to"]) for each in results] == [(5, 9), (20, 24)]


def test_a_mismatch_is_recorded_once_and_stays(admin, log, tmp_path, ranges):
    collector = CollectorAt(admin, log.store, tmp_path / "hosts.json")
    results = []
    for second, status in enumerate(("verified", "mismatch", "mismatch", "verified"), INSERTED):
        ranges(second, 7, status=status)
        collector.second = second + 1
        results += [leaf for leaf in append(log, collector) if leaf["type"] == "range_result"]
    names = ("key", "sequence", "status", "from", "to")
    assert [tuple(each[name] for name in names) for each in results] == [("k", 7, "mismatch", 5, 9)]


def test_registered_keys_are_appended_when_they_change(admin, collector, log, tmp_path):
    hosts = {"k1": {"host": "db-1"}}
    (tmp_path / "hosts.json").write_text(json.dumps(hosts))
    assert append(log, collector) == [{"type": "keys", "hosts": hosts}]
    (tmp_path / "hosts.json").write_text(json.dumps({**hosts, "k2": {"host": "db-2"}}))
    assert append(log, collector) == [{"type": "keys", "hosts": {"k2": {"host": "db-2"}}}]
    assert append(log, collector) == []
