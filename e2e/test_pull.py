"""Logs of managed servers, pulled from services that rotate, are late and fail while the puller is
killed."""

import base64
import json
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from e2e.attack_day import mariadb
from e2e.health import await_alert, await_cleared
from e2e.pulling import json_protocol, query_protocol
from e2e.pulling.event_hub import PARTITIONS, RECORDS, STREAMED_BY_AZURE, EventHub
from e2e.pulling.exporting_server import EXPORTED, ExportingServer
from e2e.pulling.fake_cloudwatch import FakeCloudWatch
from e2e.pulling.fake_objects import FakeObjects
from e2e.pulling.fake_objects import serve as serve_objects
from e2e.pulling.fake_rds import FakeRds
from e2e.pulling.log_tables import ARCHIVE, PULLER, TableServer
from e2e.pulling.otel_topic import COLLECTED, TOPIC, CollectedServer
from e2e.pulling.puller import Puller
from e2e.pulling.service_http import FaultError, serving
from e2e.stack import Stack, wait_until
from e2e.topics import committed
from e2e.wait_for_idle import await_exact, settle, tailrace
from e2e.workload.manifest import LogManifest
from e2e.workload.shapes import MySql8
from e2e.workload.statements import ordinary
from e2e.workload.writer import LogWriter
from tailrace.ledger import balance as ledger_balance
from tailrace_local import kafka as local_kafka
from tailrace_signing import keys

LIVE = "slowquery/mysql-slowquery.log"
LOG = {
    "instance": "pulled-rds",
    "cluster": "cloud",
    "source": "slowlog",
    "kind": "rds",
    "region": "eu-central-1",
    "db_instance": "pulled-rds",
}
STREAMED = {
    "instance": "pulled-stream",
    "cluster": "cloud",
    "source": "slowlog",
    "kind": "cloudwatch",
    "region": "eu-central-1",
    "db_instance": "prod-1",
}
PATH = "/cloudwatch/eu-central-1/prod-1/aws/rds/instance/prod-1/slowquery/prod-1.events"

TABLE = {"instance": "pulled-table", "cluster": "cloud", "source": "slowlog", "kind": "table"}
DATABASE_PORT = int(os.environ.get("PULL_DATABASE_PORT", "22650"))


class Server:
    """A server whose log only the service shows. It writes a real file, from which the service reads."""

    def __init__(self, directory: Path, fake: FakeRds) -> None:
        self._random = Random(7)
        self._fake = fake
        self._shown = 0
        self._hour = 0
        self._log = LogWriter(
            MySql8(self._random), LOG["instance"], LOG["cluster"], directory / "slow.log", self._random
        )
        self.manifest = self._log.manifest
        self.manifest.path = f"/rds/{LOG['region']}/{LOG['db_instance']}/{LIVE}"
        self.show()

    def write(self, entries: int) -> None:
        for _ in range(entries):
            self._log.write(ordinary(self._random))
        self.show()

    def rotate(self) -> None:
        self._log.finish()
        self.show()
        self._fake.rename(LIVE, f"{LIVE}.2026-11-26.{self._hour:02}")
        self._hour, self._shown = self._hour + 1, 0
        self._log.rotate()
        self.show()

    def finish(self) -> None:
        self._log.finish()
        self.show()

    def show(self) -> None:
        """Lets the service have what was written since the last time."""
        content = self._log.path.read_bytes()
        self._fake.write(LIVE, content[self._shown :])
        self._shown = len(content)


class StreamServer:
    """A server whose entries are events of a stream. Their times are an hour ago, and milliseconds apart."""

    def __init__(self, directory: Path, fake: FakeCloudWatch) -> None:
        self._random = Random(8)
        self._fake = fake
        self._shown = 0
        self._at = int(time.time() - 3600) * 1000
        self._log = LogWriter(
            MySql8(self._random), STREAMED["instance"], STREAMED["cluster"], directory / "log", self._random
        )
        self.manifest = self._log.manifest
        self.manifest.path = PATH
        self.show()

    def write(self, entries: int) -> None:
        for _ in range(entries):
            self._log.write(ordinary(self._random))
            self.show()

    def show(self) -> None:
        content = self._log.path.read_bytes()
        message = content[self._shown :].decode().removesuffix("\n")
        self._at, self._shown = self._at + 3, len(content)
        self._fake.put("prod-1", self._at, message, self._at + 900)


@pytest.fixture(autouse=True)
def no_puller_is_left() -> Iterator[None]:
    yield
    Puller.end_all()


@pytest.fixture
def fake() -> FakeRds:
    return FakeRds(seed=5, portion_bytes=20_000, portion_lines=500, fault_rate=0.03)


@pytest.fixture
def endpoint(fake: FakeRds) -> Iterator[str]:
    with serving(query_protocol.serve("rds", fake.handle)) as address:
        yield address


@pytest.fixture
def puller(stack: Stack, tmp_path: Path, endpoint: str) -> Puller:
    return Puller(local_kafka.connect(stack.settings, stack.home, "pull"), tmp_path, endpoint, LOG)


def test_a_pulled_log_is_stored_exactly_although_the_puller_is_killed(stack, fake, puller, tmp_path):
    server = Server(tmp_path, fake)
    server.write(400)
    run_and_kill(puller, "the first lines")
    server.write(300)
    server.rotate()
    server.write(300)
    puller.start()
    wait_until(lambda: puller.bytes() > 0, "lines after the kill")
    server.rotate()
    server.write(200)
    puller.kill()
    server.finish()
    finish_exactly(stack, puller, fake, server)
    check_signatures(stack, puller.key)


def run_and_kill(puller: Puller, awaited: str) -> None:
    """Kills the puller once it has stored something. `awaited` names it in the message of a timeout."""
    puller.start()
    wait_until(lambda: puller.bytes() > 0, awaited)
    puller.kill()


def finish_exactly(stack: Stack, puller: Puller, fake, server) -> None:
    """Starts the puller once more, without faults of the service. Everything must be stored exactly."""
    fake.settle()
    store_exactly(stack, puller, server.manifest)


def store_exactly(stack: Stack, puller: Puller, manifest: LogManifest) -> None:
    """Starts the puller once more. Everything must be stored exactly."""
    puller.start()
    missing = settle(stack, [manifest])
    puller.stop()
    assert not missing
    await_exact(stack, [manifest])


def check_signatures(stack: Stack, key: keys.HostKey) -> None:
    """The committed records have all numbers once, and sign as many bytes as were received."""
    found = committed(stack.settings, "tailrace.signed_ranges", "pull-e2e")
    own = [(json.loads(each["payload"]), each) for each in found if each["key"] == key.id]
    chain = sorted(own, key=lambda each: each[0]["sequence"])
    spans: dict[int, list[tuple[int, int]]] = {}
    assert [payload["sequence"] for payload, _ in chain] == list(range(1, len(chain) + 1))
    for payload, record in chain:
        assert keys.is_valid(base64.b64decode(key.public_key), record["payload"], record["signature"])
        span = payload.get("earlier_from", payload["from"]), payload["to"]
        spans.setdefault(payload["inode"], []).append(span)
    received = {
        (message["inode"], message["size"])
        for message in committed(stack.settings, "tailrace.files", LOG["instance"])
    }
    sizes = {inode: max(size for each, size in received if each == inode) for inode, _ in received}
    assert {inode: covered(each) for inode, each in spans.items()} == sizes


def covered(spans: list[tuple[int, int]]) -> int:
    """Returns how many bytes the spans cover. Each is its first byte and the one behind its last."""
    count = end = 0
    for first, last in sorted(spans):
        count += max(0, last - max(first, end))
        end = max(end, last)
    return count


def test_late_events_of_a_stream_are_stored_exactly_although_the_puller_is_killed(stack, tmp_path):
    fake = FakeCloudWatch(seed=5, page_events=200, fault_rate=0.03, late_rate=0.05)
    server = StreamServer(tmp_path, fake)
    server.write(300)
    with serving(json_protocol.serve("logs", fake.handle)) as address:
        kafka = local_kafka.connect(stack.settings, stack.home, "pull")
        puller = Puller(kafka, tmp_path, address, STREAMED)
        run_and_kill(puller, "the first events")
        fake.reveal(0.5)
        server.write(300)
        run_and_kill(puller, "events after the kill")
        finish_exactly(stack, puller, fake, server)


def test_objects_of_a_cloud_are_stored_exactly_although_the_puller_is_killed(stack, tmp_path, monkeypatch):
    monkeypatch.setenv("GOOGLE_SKIP_SIGNATURE", "true")
    fake = FakeObjects("gs", seed=5, page_objects=4, fault_rate=0.03)
    fake.now = datetime.now(UTC)
    server = ExportingServer(tmp_path, fake)
    server.write(12)
    with serving(serve_objects(fake)) as address:
        puller = Puller(local_kafka.connect(stack.settings, stack.home, "pull"), tmp_path, address, EXPORTED)
        run_and_kill(puller, "objects")
        server.write(12)
        finish_exactly(stack, puller, fake, server)


def test_records_of_an_event_hub_are_stored_exactly_although_the_puller_is_killed(stack, tmp_path):
    """Half of the records are of another server. Messages that are deleted unread are a gap."""
    kafka, name = local_kafka.connect(stack.settings, stack.home, "pull"), STREAMED_BY_AZURE["instance"]
    hub = EventHub(kafka.address)
    puller = Puller(kafka, tmp_path, f"plaintext://{kafka.address}", STREAMED_BY_AZURE)
    for _ in range(2):
        hub.send(30)
        run_and_kill(puller, "records")
    hub.send(30)
    puller.start()
    rows = 90 * RECORDS // 2
    wait_until(lambda: stored_events(stack, name) >= rows, "every record as an event")
    puller.stop()
    assert_balances(stack, name)
    hub.send(PARTITIONS)
    hub.delete()
    hub.send(PARTITIONS)
    puller.start()
    rows += PARTITIONS * RECORDS // 2
    wait_until(lambda: stored_events(stack, name) >= rows, "the records behind the gap")
    puller.stop()
    assert stored_events(stack, name) == rows
    sizes = [each["size"] for each in committed(stack.settings, "tailrace.files", name)]
    lines = committed(stack.settings, "tailrace.slowlog.lines", name)
    assert max(sizes) == sum(len(each["log"]) + 1 for each in lines if "log" in each) + PARTITIONS


def test_records_of_a_collector_are_stored_exactly_although_the_puller_is_killed(stack, tmp_path):
    """Events, ledger and rollups equal those of the server's file, also for messages that were sent twice."""
    kafka = local_kafka.connect(stack.settings, stack.home, "pull")
    server = CollectedServer(tmp_path, kafka.address)
    puller = Puller(kafka, tmp_path, "", {**COLLECTED, "url": f"kafka://{kafka.address}/{TOPIC}"})
    for _ in range(2):
        server.write(150)
        run_and_kill(puller, "records")
    server.write(50)
    server.finish()
    store_exactly(stack, puller, server.manifest)


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[TableServer]:
    """A MariaDB that logs to tables."""
    if os.geteuid() != 0:
        pytest.skip("Debian's packages are unpacked by root")
    cache = Path(os.environ.get("TAILRACE_CACHE") or Path.home() / ".cache" / "tailrace")
    server = mariadb.Server(
        mariadb.Installation.install(cache), tmp_path / "db", datetime.now(UTC), DATABASE_PORT, "127.0.0.1"
    )
    server.create()
    server.start()
    found = TableServer(server.socket, tmp_path)
    with found.logging():
        yield found
    server.stop()


def test_a_log_table_is_stored_exactly_although_the_puller_is_killed(stack, tables, tmp_path):
    chosen = Random(3)
    log = {**TABLE, "defaults_file": str(tables.option_file), "archive": ARCHIVE}
    puller = Puller(local_kafka.connect(stack.settings, stack.home, "pull"), tmp_path, "", log)
    tables.work(chosen, 100)
    puller.start()
    for _ in range(2):
        wait_until(lambda: puller.bytes() > 0, "rows")
        puller.kill()
        tables.work(chosen, 100)
        tables.rotate()
        tables.work(chosen, 100)
        puller.start()
    rows = tables.rows_of_others()
    wait_until(lambda: stored_events(stack) >= rows, "every row as an event")
    puller.stop()
    assert stored_events(stack) == rows
    assert_balances(stack, TABLE["instance"])


def assert_balances(stack: Stack, instance: str) -> None:
    """Events of a checkpoint that is still being posted are stored, and not in the ledger yet."""
    wait_until(lambda: ledger_balance.read(stack.clickhouse(), instance).accounts, "the ledger")
    tailrace(stack, "ledger", "--instance", instance)


def stored_events(stack: Stack, instance: str = TABLE["instance"]) -> int:
    (row,) = stack.clickhouse().rows(
        "SELECT count() AS events, uniqExact(event_id) AS ids FROM tailrace.query_events "
        f"WHERE instance = '{instance}' AND user != '{PULLER}'"
    )
    assert row["events"] == row["ids"]
    return int(row["ids"])


def test_a_refusal_raises_an_alert_that_names_the_right(stack, fake, endpoint):
    log = {**LOG, "instance": "refused-rds", "db_instance": "refused-rds"}
    puller = Puller(
        local_kafka.connect(stack.settings, stack.home, "pull"), stack.home.data("pull"), endpoint, log
    )
    refused = {"instance": "refused-rds", "right": "rds:DescribeDBLogFiles"}
    fake.settle()
    fake.between_calls = refuse
    puller.start()
    await_alert(stack, "TailracePullRefused", **refused)
    fake.settle()
    await_cleared(stack, "TailracePullRefused", **refused)
    puller.kill()
    puller.age(7200)
    await_alert(stack, "TailracePullUnread", instance="refused-rds")
    puller.start()
    wait_until(puller.beat.exists, "a report")
    await_cleared(stack, "TailracePullUnread", instance="refused-rds")
    puller.stop()
    assert not puller.beat.exists()


def refuse() -> None:
    raise FaultError("AccessDenied")
