"""From a released version with its data and state to this one, in the same home directory.

The stack of the release reads the demo's logs. This version then starts on its data, checkpoints and topics,
and reads the same logs once more: each table of events has all rows of the release unchanged, and as many
again. docs/UPGRADING.md has the steps.
"""

import io
import json
import os
import subprocess
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka.admin import AdminClient

from e2e.release_state import COMPONENTS, Release
from tailrace.config.resources import REPOSITORY
from tailrace.migrations import rollups

FIRST_PORT = int(os.environ.get("UPGRADE_RELEASE_FIRST_PORT", "24760"))
RELEASES = {"0.1.0": "bc4d751"}
"""The commit of each release."""
EVENTS = ("query_events", "audit_events", "error_events", "data_access", "dead_letters")
"""Tables with one row per entry of a log: the same logs give as many rows again."""
ALIASES = {
    "alerts": {"seen_at": "detected_at"},
    "dead_letters": {"seen_at": "rejected_at"},
    "fingerprints": {"seen_at": "last_seen_at"},
    "rule_coverage": {"told_at": "reported_at", "in_force": "active"},
    "data_access": {"mode": "access_mode"},
}
ADDED = {"data_access": "database = '' AND source = 'slowlog' AND has(tables, 'customers')"}
"""Rows that only this version writes: the exclusion of mysql.* covered tables whose database is unknown."""
WAIT_SECONDS = "400"
EVENTS_TOPIC = "tailrace.events"
DETECT_GROUP = "tailrace-detect"

pytestmark = [pytest.mark.long, pytest.mark.timeout(2400)]


@pytest.fixture(params=RELEASES, ids=str)
def release(request, tmp_path: Path) -> Path:
    """The files of the release."""
    commit = RELEASES[request.param]
    archive = subprocess.run(["git", "-C", REPOSITORY, "archive", commit], capture_output=True, check=False)
    if archive.returncode:
        pytest.skip(f"the repository has no commit {commit}: the clone is not complete")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(tmp_path / "release", filter="data")
    return tmp_path / "release"


@pytest.fixture
def stacks(release: Path, tmp_path: Path) -> Iterator[tuple[Release, Release]]:
    """The stack of the release and the one of this version, of which one runs at a time."""
    old, new = (Release(files, tmp_path / "home", FIRST_PORT, COMPONENTS) for files in (release, REPOSITORY))
    yield old, new
    for stack in (old, new):
        stack.run("down")


def test_data_state_and_topics_of_a_release_remain_usable(stacks):
    old, new = stacks
    old.run("demo", "--wait", WAIT_SECONDS)
    await_detection(old)
    columns = {table: columns_of(old, table) for table in EVENTS}
    before = {table: rows(old, table, columns[table]) for table in EVENTS}
    alerts = rows(old, "alerts", "alert_id")
    old.run("down")

    new.run("up")
    assert json.loads(new.run("ledger", "--wait", WAIT_SECONDS, "--json"))["balances"]
    await_detection(new)
    for table in EVENTS:
        assert rows(new, table, columns[table]) == before[table], f"{table}: nothing is read again"
    assert_rollups_count_every_event_once(new)

    new.run("demo", "--samples", "--wait", WAIT_SECONDS)
    await_detection(new)
    for table in EVENTS:
        after = rows(new, table, columns[table])
        assert not before[table] - after, f"{table}: rows of the release are unchanged"
        added = rows(new, table, columns[table], ADDED.get(table, "0"))
        assert not before[table] & added, f"{table}: the release did not write such rows"
        again = after - before[table] - added
        assert again.total() == before[table].total(), f"{table}: {kinds(again)}, {kinds(before[table])}"
    assert_rollups_count_every_event_once(new)
    assert not alerts - rows(new, "alerts", "alert_id")
    for table, names in ALIASES.items():
        different = " OR ".join(f"{former} != {name}" for former, name in names.items())
        (found,) = new.clickhouse().rows(
            f"SELECT count() AS n, countIf({different}) AS other FROM tailrace.{table}"
        )
        assert int(found["n"]) > 0 and int(found["other"]) == 0, table


def await_detection(stack: Release) -> None:
    """Waits until a checkpoint of the detect job contains all events, after which their rows are stored."""
    ends = {(EVENTS_TOPIC, number): end for number, end in enumerate(stack.ends()[EVENTS_TOPIC]) if end}
    admin, asked = AdminClient(stack.kafka()), ConsumerGroupTopicPartitions(DETECT_GROUP)
    deadline = time.monotonic() + float(WAIT_SECONDS)
    while time.monotonic() < deadline:
        found = admin.list_consumer_group_offsets([asked])[DETECT_GROUP].result().topic_partitions
        read = {(each.topic, each.partition): each.offset for each in found}
        if all(read.get(partition, -1) >= end for partition, end in ends.items()):
            return
        time.sleep(1)
    raise TimeoutError(f"the detect job has read {read} of {ends}")


def columns_of(stack: Release, table: str) -> str:
    """The stored columns of a table, separated by commas, without the time of the insert and the action.

    The detect job writes rows since its latest checkpoint again, and equal rows replace each other. Then the
    logs may arrive in another order, and an action has the id of its first event (docs/DETECTION.md).
    """
    found = stack.clickhouse().rows(
        "SELECT name FROM system.columns WHERE database = 'tailrace' AND table = {table:String} "
        "AND default_kind != 'ALIAS' AND name NOT IN ('ingested_at', 'action_id')",
        {"table": table},
    )
    return ", ".join(f"`{row['name']}`" for row in found)


def assert_rollups_count_every_event_once(stack: Release) -> None:
    """Also the rollups that the upgrade added: the normalize job inserted the blocks of its last checkpoint
    again."""
    compared = "SELECT instance, toDate({time}, 'UTC') AS day, {count} AS n, round(sum(weight), 3) AS w"
    events = stack.clickhouse().rows(
        f"{compared.format(time='event_time', count='count()')} FROM tailrace.query_events GROUP BY ALL "
        "ORDER BY ALL"
    )
    assert events
    for rollup in (each for each in rollups.ROLLUPS if each.events == "query_events"):
        selected = compared.format(time=rollup.time, count="sum(count)")
        own = f"tailrace.{rollup.table} WHERE {rollup.own} AND {rollup.once}"
        assert stack.clickhouse().rows(f"{selected} FROM {own} GROUP BY ALL ORDER BY ALL") == events, rollup


def rows(stack: Release, table: str, columns: str, where: str = "1") -> Counter[str]:
    """How often each row occurs, without those that a later row replaces."""
    found = stack.clickhouse().rows(
        f"SELECT {columns} FROM tailrace.{table} WHERE {where} SETTINGS final = 1"
    )
    return Counter(json.dumps(row) for row in found)


def kinds(found: Counter[str]) -> dict[str, int]:
    """The numbers of rows by source, tables and basis, for messages."""
    names = ("instance", "source", "database", "tables", "basis")
    described: Counter[str] = Counter()
    for row, number in found.items():
        values = json.loads(row)
        described[" ".join(str(values.get(name)) for name in names)] += number
    return dict(described)
