"""Three Kafka brokers that are restarted, killed, filled and grown while logs are read: every row once.

The stack has no Kafka of its own; collector and normalize job use a secured cluster with three replicas, two
in sync.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from e2e.brokers import EXPIRATION_MILLIS, Brokers, await_time
from e2e.limits import LIMIT_SECONDS
from e2e.stack import PORTS, Stack, wait_until
from e2e.test_full_disk import full, mount
from e2e.wait_for_idle import assert_exact, await_exact, settle, tailrace
from e2e.workload.writer import Workload
from tailrace.credentials import certificates
from tailrace_local import kafka as local_kafka
from tailrace_local.supervisor import control
from tailrace_pull.log import PulledLog
from tailrace_pull.reading import LineRun, Round
from tailrace_pull.shipping import Shipper, ShippingError, UnknownOutcomeError
from tailrace_pull.state import LogState, PulledFile

FIRST_PORT = int(os.environ.get("BROKERS_FIRST_PORT", "23320"))
PARTS = ("clickhouse", "flink", "census", "fluentbit")
LINES, AUDIT, EVENTS = "tailrace.slowlog.lines", "tailrace.audit.lines", "tailrace.events"
RATE = 40
DISK_MEBIBYTES = 256
CERTIFICATE_SECONDS = 240
TERMINATED = 128 + signal.SIGTERM
GROWN = 8

pytestmark = [pytest.mark.brokers, pytest.mark.timeout(2400)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Brokers]:
    """The running stack and its brokers, of which the third has a small disk."""
    directory = tmp_path_factory.mktemp("brokers")
    internal = str(FIRST_PORT + len(PORTS))
    stack = Stack(
        directory / "home", FIRST_PORT, PARTS, port_kafka_internal=internal, sign_logs="0", gap_timeout="60"
    )
    brokers = Brokers(stack, directory, FIRST_PORT + len(PORTS) + 1)
    small = brokers.all[2].disk
    mount(small, DISK_MEBIBYTES)
    try:
        brokers.start()
        stack.up()
        yield brokers
    finally:
        stack.down()
        brokers.stop()
        subprocess.run(["umount", small], check=False, capture_output=True)


@pytest.fixture
def watched(cluster: Brokers, tmp_path: Path, request) -> Iterator[Workload]:
    """Logs of servers that are named after the test; at the end all brokers are in sync."""
    workload = Workload(tmp_path / "logs", 1, request.node.name.removeprefix("test_"))
    cluster.stack.watch(workload.logs)
    yield workload
    cluster.start_ended()  # those of a failed test
    cluster.await_all()
    cluster.stack.unwatch(workload.logs)


def await_more(workload: Workload, entries: int = 200) -> None:
    before = workload.entries
    wait_until(lambda: workload.entries >= before + entries, "more entries")


def await_rows(cluster: Brokers, workload: Workload) -> None:
    """Returns when the first entries of the workload are stored."""
    query = "SELECT count() AS rows FROM tailrace.query_events WHERE instance = {instance:String}"
    instance = {"instance": workload.manifests[0].instance}
    wait_until(lambda: cluster.stack.clickhouse().rows(query, instance)[0]["rows"] > 0, "the first rows")


def test_leaders_are_killed(cluster: Brokers, watched: Workload):
    with watched.writing(RATE):
        await_rows(cluster, watched)
        for topic, partition in ((LINES, 0), (AUDIT, 1), (EVENTS, 0)):
            old = cluster.leader(topic, partition)
            with cluster.without(old, signal.SIGKILL):
                wait_until(lambda t=topic, p=partition, o=old: cluster.leader(t, p) is not o, "a new leader")
                await_more(watched)
    assert_exact(cluster.stack, watched.manifests, LIMIT_SECONDS)


def test_topics_get_more_partitions_while_logs_grow(cluster: Brokers, watched: Workload):
    """The lines of a log move to another partition. The job reads both, and the framer orders them."""
    stack = cluster.stack
    with watched.writing(RATE):
        await_rows(cluster, watched)
        control.stop_component(stack.home, "flink")
        await_more(watched)
        add_partitions(cluster, watched)
        control.start_component(stack.home, "flink")
        await_more(watched)
    assert settle(stack, watched.manifests, LIMIT_SECONDS) == {}
    await_exact(stack, watched.manifests, LIMIT_SECONDS)


def test_a_running_job_reads_new_partitions(cluster: Brokers, watched: Workload):
    """The job looks for new partitions every ten seconds."""
    with watched.writing(RATE):
        await_rows(cluster, watched)
        add_partitions(cluster, watched)
        await_more(watched)
    assert settle(cluster.stack, watched.manifests, LIMIT_SECONDS) == {}
    await_exact(cluster.stack, watched.manifests, LIMIT_SECONDS)


def add_partitions(cluster: Brokers, workload: Workload) -> None:
    """Adds partitions to the topics of lines, and returns when a log has lines in a new one."""
    before = cluster.partition_count(LINES)
    after = max(GROWN, 2 * before)
    cluster.apply_topics(after)
    with cluster.stack.without("fluentbit"):  # librdkafka reads the number of partitions every five minutes
        await_more(workload)
    added = range(before, after)
    wait_until(lambda: cluster.end_offset(LINES, added) > 0, "lines in a new partition")


def test_the_disk_of_a_broker_is_full(cluster: Brokers, watched: Workload):
    """Its process ends; the others continue. With free space it starts again and catches up."""
    small = cluster.all[2]
    with watched.writing(RATE):
        await_rows(cluster, watched)
        with full(small.disk):
            small.await_end()
            assert "No space left on device" in small.log
            await_more(watched)
        small.start()
        await_more(watched)
        cluster.await_all()
    assert_exact(cluster.stack, watched.manifests, LIMIT_SECONDS)


def test_producers_continue_after_a_long_pause(cluster: Brokers, watched: Workload):
    """Kafka has forgotten the ids of transactions and of idempotent producers."""
    watched.write(100)
    watched.finish()
    pulled = Pulled(cluster)
    used = cluster.partition(LINES, watched.manifests[0].instance)
    pulled.ship()
    assert Pulled.TRANSACTIONS in cluster.transactional_ids()
    assert cluster.producers(LINES, used)
    assert_exact(cluster.stack, watched.manifests, LIMIT_SECONDS)
    with cluster.stack.without("census"):  # otherwise the collector writes a message every three seconds
        await_time(time.time() + EXPIRATION_MILLIS / 1000)
        wait_until(lambda: Pulled.TRANSACTIONS not in cluster.transactional_ids(), "an id to be forgotten")
        wait_until(lambda: not cluster.producers(LINES, used), "producers to be forgotten")
        watched.write(100)
    watched.finish()
    try:
        pulled.ship()
    except (ShippingError, UnknownOutcomeError):  # the process ends, and the next one reads the stored state
        pulled.restart()
        pulled.ship()
    pulled.ship()
    assert_exact(cluster.stack, watched.manifests, LIMIT_SECONDS)
    wait_until(lambda: len(pulled.rows()) >= pulled.shipped, "the pulled entries")
    assert pulled.rows() == pulled.expected_rows()
    tailrace(cluster.stack, "ledger", "--instance", Pulled.LOG.instance)


def test_a_rolling_restart(cluster: Brokers, watched: Workload):
    with watched.writing(RATE):
        await_rows(cluster, watched)
        for broker in cluster.all:
            with cluster.without(broker):
                assert broker.exit_code == TERMINATED
                await_more(watched)
    assert_exact(cluster.stack, watched.manifests, LIMIT_SECONDS)


def test_two_of_three_are_killed(cluster: Brokers, watched: Workload):
    """One replica alone accepts nothing: the lines wait in the collector's queue and in their files."""
    with watched.writing(RATE):
        await_rows(cluster, watched)
        used = cluster.partition(LINES, watched.manifests[0].instance)
        alone = cluster.leader(LINES, used)  # it continues to answer for this partition
        first, second = (broker for broker in cluster.all if broker is not alone)
        with cluster.without(second, signal.SIGKILL):
            first.end(signal.SIGKILL)
            before = cluster.end_offset(LINES, [used])
            await_more(watched)
            assert cluster.end_offset(LINES, [used]) == before
            first.start()
        wait_until(lambda: cluster.end_offset(LINES, [used]) > before, "the lines that waited")
    assert_exact(cluster.stack, watched.manifests, LIMIT_SECONDS)


def test_an_expired_certificate_is_replaced(cluster: Brokers, watched: Workload, monkeypatch):
    """Until then no new connection is possible, and lines wait in their files."""
    stack, held = cluster.stack, cluster.certificates
    with watched.writing(RATE):
        await_rows(cluster, watched)
        monkeypatch.setattr(
            certificates, "LEAF_DAYS", timedelta(seconds=CERTIFICATE_SECONDS) / timedelta(days=1)
        )
        held.renew()
        monkeypatch.undo()
        for broker in cluster.all:
            broker.end()
            broker.start()
        cluster.await_all()
        await_time(held.certificate("kafka").not_valid_after_utc.timestamp())

        with stack.without("fluentbit"):
            await_more(watched)
        refused = "certificate verify failed"
        log = stack.home.log("fluentbit")
        wait_until(lambda: refused in log.read_text(errors="replace"), "Fluent Bit to say why")
        first = cluster.all[0]
        first.end()
        first.start()
        first.await_end()
        assert "Exiting Kafka due to fatal exception during startup" in first.log
        assert "CertificateExpiredException" in first.log

        held.renew()
        for broker in cluster.all:
            broker.end(signal.SIGKILL)  # an ordered stop would wait for a controller
            broker.start()
        cluster.await_all()
    assert_exact(stack, watched.manifests, LIMIT_SECONDS)


class Pulled:
    """A slow log of a service, whose entries the puller's producer writes in transactions."""

    ENTRY = (
        "# Time: 2026-11-21T02:49:19.811511Z\n# User@Host: app[app] @ web-1 [10.1.20.17]  Id:    41\n"
        "# Query_time: 2.013251  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 90211\n"
        "SET timestamp=1795229359;\nSELECT {};\n"
    )
    LOG = PulledLog("pulled-db", "shop", "slowlog", "/rds/eu/pulled-db/slow.log")
    NAME = "test"
    TRANSACTIONS = f"tailrace-pull-{NAME}"
    """The transactional id of the producer."""

    def __init__(self, cluster: Brokers) -> None:
        self._cluster = cluster
        self._file = PulledFile(7, "slow.log")
        self.shipped = 0
        self.restart()

    def restart(self) -> None:
        """Continues from the state in Kafka, as the next process does."""
        client = local_kafka.connect(self._cluster.stack.settings, self._cluster.stack.home, "pull")
        self._shipper = Shipper(client.settings({}), self.NAME)
        for state in self._shipper.states().values():
            (self._file,) = state.files
        self.shipped, rest = divmod(self._file.offset, self._entry_bytes())
        assert not rest

    def ship(self) -> None:
        """Writes one entry in a transaction."""
        lines = self.ENTRY.format(self.shipped).encode()
        file = PulledFile(**vars(self._file))
        file.extend_head(lines)
        run = LineRun(file, file.offset, lines)
        file.offset = file.size = file.offset + len(lines)
        now = time.time()
        self._shipper.ship({self.LOG: Round(now, LogState([file]), [run])})
        self._file = file
        self.shipped += 1

    def rows(self) -> list[tuple[int, int]]:
        """Returns offset and bytes of the stored entries."""
        query = (
            "SELECT entry_offset, entry_bytes FROM tailrace.query_events WHERE instance = {instance:String}"
            " ORDER BY ALL"
        )
        found = self._cluster.stack.clickhouse().rows(query, {"instance": self.LOG.instance})
        return [(row["entry_offset"], row["entry_bytes"]) for row in found]

    def expected_rows(self) -> list[tuple[int, int]]:
        size = self._entry_bytes()
        return [(number * size, size) for number in range(self.shipped)]

    def _entry_bytes(self) -> int:
        return len(self.ENTRY.format(0))
