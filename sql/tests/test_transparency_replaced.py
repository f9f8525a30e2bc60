"""Tables in which ClickHouse replaces rows are verified against the log: alerts, and signed ranges."""

import base64
import json
import uuid
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from test_transparency_proofs import DAY, END, TRUST, publish

from tailrace.clickhouse.client import ClickHouse
from tailrace.migrations.rewind import Order, rewind
from tailrace.transparency.collector import Collector
from tailrace.transparency.store import Store
from tailrace.verification import live
from tailrace_verify import chains
from tailrace_verify.findings import Report, Status
from tailrace_verify.trust import HostKey, key_id

HOST = Ed25519PrivateKey.generate()
HOST_KEY = HostKey("db1", HOST.public_key().public_bytes_raw())
KEY = key_id(HOST_KEY.public)
KEPT = {"alerts": 92, "signed_ranges": 92}
STORED = DAY + timedelta(hours=1)


class Log:
    """A transparency log of a ClickHouse; `append` records what was stored until a time."""

    def __init__(self, clickhouse: ClickHouse, home: object) -> None:
        self.clickhouse, self.home = clickhouse, home
        self.store, self.entries = Store(home / "state.sqlite"), []

    def append(self, until: datetime) -> None:
        collector = Collector(self.clickhouse, self.store, self.home / "hosts.json")
        collector.until = lambda: int(until.timestamp())
        batch = collector.collect()
        self.store.commit(batch.values, batch.minutes, len(self.entries))
        self.entries += batch.entries
        publish(self.entries, self.home, END)

    def verified(self) -> Report:
        trust = replace(TRUST, hosts={KEY: HOST_KEY})
        return live.verify(self.clickhouse, self.home, trust, None, KEPT, END)

    def found(self) -> list[tuple[Status, str]]:
        return [(each.status, each.message) for each in self.verified().findings]


@pytest.fixture
def log(admin, server, tmp_path) -> Log:
    return Log(server.user("auditor"), tmp_path)


def alert(number: int, version: int, **more: object) -> dict[str, object]:
    return {
        "alert_id": str(uuid.UUID(int=number)),
        "rule_id": "r",
        "level": "high",
        "instance": "db1",
        "facts": {"é": 'a"\n'},
        "event_time": f"{DAY + timedelta(minutes=number):%Y-%m-%d %H:%M:%S}.5",
        "updated_at": f"{STORED + timedelta(seconds=version):%Y-%m-%d %H:%M:%S}.25",
        "ingested_at": f"{STORED + timedelta(seconds=version):%Y-%m-%d %H:%M:%S}",
        "count": version,
        **more,
    }


def name(number: int) -> str:
    return f"the row r/{uuid.UUID(int=number)}"


def insert(admin: ClickHouse, *rows: dict[str, object]) -> None:
    admin.insert("tailrace.alerts", rows)


OF_SECOND = f"alert_id = '{uuid.UUID(int=2)}'"
LEVEL = "ALTER TABLE tailrace.alerts UPDATE level = 'low' WHERE "
DELETE = "ALTER TABLE tailrace.alerts DELETE WHERE "


def test_changed_deleted_and_added_alerts_are_located(admin, log):
    insert(admin, alert(1, 1), alert(1, 2), alert(2, 1), alert(3, 3))
    log.append(STORED + timedelta(seconds=3))
    assert json.loads(log.entries[-1])["type"] == "versions"
    report = log.verified()
    assert log.found() == [(Status.UNDETERMINED, f"{name(3)} is in no leaf of the log yet")]
    assert report.counts["versions of rows that are stored"] == 2
    log.append(STORED + timedelta(seconds=10))

    later = f"{END:%Y-%m-%d %H:%M:%S}"
    insert(admin, alert(2, 5, ingested_at=later), alert(4, 9, ingested_at=later), alert(1, 2))
    insert(admin, alert(3, 3, ingested_at=later))
    report = log.verified()
    assert (report.verdict, report.counts["rows that wait for the log"]) == (Status.PROVEN, 3)
    admin.execute("OPTIMIZE TABLE tailrace.alerts FINAL")
    log.append(END + timedelta(seconds=1))
    assert log.found() == [], "rows that were replaced are in the log, and nothing else is missing"

    insert(admin, alert(5, 1))
    admin.execute(LEVEL + OF_SECOND, mutations_sync=2)
    admin.execute(f"{DELETE} alert_id = '{uuid.UUID(int=3)}'", mutations_sync=2)
    admin.execute(f"{DELETE} alert_id = '{uuid.UUID(int=1)}'", mutations_sync=2)
    insert(admin, alert(1, 1))
    report = log.verified()
    assert {each.message for each in report.findings} == {
        f"{name(1)} is an older one than the recorded",
        f"{name(2)} was changed",
        f"{name(3)} was deleted",
        f"{name(5)} is in no leaf of the log",
    }
    assert {each.status for each in report.findings} == {Status.TAMPERED}
    minutes = {(DAY + timedelta(minutes=number)).strftime("%Y-%m-%dT%H:%M:%SZ") for number in (1, 2, 3, 5)}
    assert {each.place["minute"] for each in report.findings} == minutes


def test_another_version_of_an_alert_with_the_present_time_is_located(admin, log):
    """The attacker inserts a row that is newer than the one of the job; the log records it as any other."""
    for number in range(1, 7):
        insert(admin, alert(number, 1), alert(number, 2))
    log.append(STORED + timedelta(seconds=5))
    assert log.found() == []

    stored = [
        alert(1, 9, level="low"),
        alert(2, 9, user="somebody"),
        alert(3, 9, silenced=True),
        alert(4, 9, facts={"é": "nothing"}),
        alert(5, 9, user="somebody", seen_at=f"{STORED:%Y-%m-%d %H:%M:%S}"),
        alert(6, 9, count=1),
    ]
    insert(admin, *stored)
    log.append(STORED + timedelta(seconds=10))
    crash = "the job repeated matches after a crash, or somebody else stored it"
    assert log.found() == [
        (Status.UNDETERMINED, f"a version of {name(1)} has a lower level: {crash}"),
        (Status.TAMPERED, f"a version of {name(2)} has other values than entry 0: no job stored it"),
        (Status.UNDETERMINED, f"a version of {name(3)} has a suppression: {crash}"),
        (Status.UNDETERMINED, f"a version of {name(4)} has other facts: {crash}"),
        (Status.UNDETERMINED, f"a version of {name(5)} has another subject or place: {crash}"),
        (Status.UNDETERMINED, f"a version of {name(6)} has a lower count: {crash}"),
    ]
    insert(admin, *(alert(number, 20) for number in (1, 3, 4, 6)))
    log.append(STORED + timedelta(seconds=30))
    found = [status for status, _ in log.found()]
    assert found.count(Status.PROVEN) == 4, "the job has repeated all matches"
    assert found.count(Status.TAMPERED) == found.count(Status.UNDETERMINED) == 1


def ranges(count: int) -> list[dict[str, object]]:
    found, previous = [], ""
    for sequence in range(1, count + 1):
        at = STORED + timedelta(seconds=sequence)
        payload = json.dumps(
            {
                "host": "db1",
                "sequence": sequence,
                "previous": previous,
                "at": int(at.timestamp() * 1e6),
                "path": "/log/slow.log",
                "inode": 1,
                "from": 100 * sequence,
                "to": 100 * sequence + 100,
            }
        )
        previous = sha256(payload.encode()).hexdigest()
        found.append(
            {
                "key": KEY,
                "host": "db1",
                "sequence": sequence,
                "payload": payload,
                "payload_sha256": previous,
                "signature": base64.b64encode(HOST.sign(chains.PREFIX + payload.encode())).decode(),
                "status": "verified",
                "signed_at": f"{at:%Y-%m-%d %H:%M:%S}",
                "ingested_at": f"{at:%Y-%m-%d %H:%M:%S}",
                "after_checkpoint": sequence,
            }
        )
    return found


def test_deleted_and_changed_signed_ranges_are_located(admin, log):
    admin.insert("tailrace.signed_ranges", ranges(9))
    log.append(END)
    before = log.verified()
    assert before.counts["signed ranges that are stored"] == 9
    assert [each for each in before.findings if each.check == "ClickHouse"] == []
    admin.insert("tailrace.signed_ranges", ranges(9))
    assert log.verified().found == before.found, "the job stores records again"

    admin.execute("ALTER TABLE tailrace.signed_ranges DELETE WHERE sequence IN (3, 4, 5)", mutations_sync=2)
    admin.execute(
        "ALTER TABLE tailrace.signed_ranges UPDATE payload = replaceOne(payload, 'slow', 'fast') "
        "WHERE sequence = 8",
        mutations_sync=2,
    )
    located = [each for each in log.verified().findings if each.check == "ClickHouse"]
    assert [(each.status, each.message) for each in located] == [
        (Status.TAMPERED, "records 3 to 5 are not there as recorded"),
        (Status.TAMPERED, "record 8 is not there as recorded"),
    ]
    assert [(each.place["sequence"], each.place["from"], each.place["host"]) for each in located] == [
        (3, 300, "db1"),
        (8, 800, "db1"),
    ]


def test_signed_ranges_that_a_rewind_deleted_are_not_taken_for_deleted(admin, log):
    admin.insert("tailrace.signed_ranges", ranges(9))
    log.append(END)
    rewind(admin, 7, Order(log.clickhouse, "ines", "a faulty parser"))
    log.append(datetime.now(END.tzinfo) + timedelta(seconds=2))
    located = [each for each in log.verified().findings if each.check == "ClickHouse"]
    assert [each.status for each in located] == [Status.UNDETERMINED]
    assert located[0].message.startswith(
        "records 7 to 9 are not there after the rewind to checkpoint 7 by ines"
    )
    admin.insert("tailrace.signed_ranges", ranges(9))
    assert [each for each in log.verified().findings if each.check == "ClickHouse"] == []
    admin.execute("ALTER TABLE tailrace.signed_ranges DELETE WHERE sequence < 5", mutations_sync=2)
    located = [each for each in log.verified().findings if each.check == "ClickHouse"]
    assert [each.status for each in located] == [Status.TAMPERED], "more are missing than the rewind deleted"
    admin.execute("TRUNCATE TABLE tailrace.legal_hold_actions SYNC")
