"""Records of OpenTelemetry's mysqlreceiver and of Grafana Alloy, from a real Kafka to ClickHouse, while the
puller and the loader are killed."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.pulling.puller import Puller
from e2e.pulling.statements_topic import OBSERVED, TOPIC, ObservedServer
from e2e.stack import Stack, wait_until
from e2e.topics import committed
from e2e.wait_for_idle import tailrace
from tailrace.config.resources import REPOSITORY
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local import kafka as local_kafka

MESSAGES = 40


@pytest.fixture(autouse=True)
def no_puller_is_left() -> Iterator[None]:
    yield
    Puller.end_all()


@pytest.mark.parametrize(
    ("kills", "name"), [(1, "statements-1"), pytest.param(8, "statements-8", marks=pytest.mark.long)]
)
def test_records_are_rows_once_although_puller_and_loader_are_killed(keeping, tmp_path, kills, name):
    """Samples and counters equal what was sent, also for messages that were sent twice, and the ledger
    has each byte."""
    kafka = local_kafka.connect(keeping.settings, keeping.home, "pull")
    server = ObservedServer(kafka.address, name)
    log = {**OBSERVED, "instance": name, "match": f"service.instance.id={name}"}
    puller = Puller(kafka, tmp_path, "", {**log, "url": f"kafka://{kafka.address}/{TOPIC}"})
    for _ in range(kills):
        server.send(MESSAGES)
        before = len(rows(keeping, name))
        puller.start()
        wait_until(lambda: puller.bytes() > 0, "records")
        puller.kill()
        with loader(keeping, tmp_path):
            wait_until(lambda before=before: len(rows(keeping, name)) > before, "rows")
    server.send(MESSAGES)
    puller.start()
    sent = len(server.counted) + len(server.sampled) + server.waits
    with loader(keeping, tmp_path):
        wait_until(lambda: len(rows(keeping, name)) >= sent, "all rows")
        wait_until(lambda: received(keeping, name) > 0, "the costs of the log")
    puller.stop()
    check_rows(keeping, server, sent)


def check_rows(keeping: Stack, server: ObservedServer, sent: int) -> None:
    found = rows(keeping, server.name)
    counters = [int(row["statements"]) for row in found if row["kind"] == "top_query"]
    samples = [int(row["thread_id"]) for row in found if row["kind"] == "query_sample"]
    assert (Counter(counters), Counter(samples)) == (Counter(server.counted), Counter(server.sampled))
    (sums,) = keeping.clickhouse().rows(
        f"SELECT * FROM tailrace.performance_schema_ledger WHERE instance = '{server.name}'"
    )
    assert (int(sums["records"]), int(sums["ignored_records"])) == (sent, server.waits)
    assert (int(sums["from_offset"]), int(sums["missing_bytes"]), int(sums["gaps"])) == (0, 0, 0)
    shown = tailrace(keeping, "ledger", "--strict", "--instance", server.name, "--json")
    (file,) = json.loads(shown)["statement_records"]
    assert (file["records"], file["used"]) == (sent, sent - server.waits)
    facts = [
        fact["attributes"]
        for snapshot in committed(keeping.settings, "tailrace.snapshots", server.name)
        for fact in snapshot["facts"]
        if snapshot["kind"] == "performance_schema"
    ]
    assert sum(int(fact["bytes"]) for fact in facts) == int(sums["to_offset"])


def received(keeping: Stack, instance: str) -> int:
    (row,) = keeping.clickhouse().rows(
        f"SELECT sum(received_bytes) AS bytes FROM tailrace.pull_costs WHERE instance = '{instance}'"
    )
    return int(row["bytes"])


def rows(keeping: Stack, instance: str) -> list[dict]:
    return keeping.clickhouse().rows(
        "SELECT kind, statements, thread_id FROM tailrace.performance_schema_records FINAL"
        f" WHERE instance = '{instance}'"
    )


@contextmanager
def loader(keeping: Stack, directory: Path) -> Iterator[None]:
    """Runs the loader, and kills it: offsets that it did not commit are read again."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "tailrace.facts", "--heartbeat-file", directory / "facts"),
            *local_kafka.as_arguments(keeping.settings, keeping.home, "facts"),
            *local_clickhouse.as_arguments(keeping.settings, keeping.home, "facts"),
        ],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "embedded")},
    )
    try:
        yield
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
