"""A host signs its log, and the job compares the signatures with the bytes that arrive."""

import json
import time
from datetime import UTC, datetime
from pathlib import Path

import msgpack
import pytest
from confluent_kafka import Producer

from e2e.health import await_alert, await_cleared
from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack, wait_until
from e2e.wait_for_idle import tailrace
from tailrace.sources.sources_file import Source

INSTANCE = "signed-shop"
FORGED = "Signed range that cannot be verified"


@pytest.fixture(scope="module")
def stack(detecting: Stack) -> Stack:
    return detecting


def login(user: str) -> bytes:
    """A record of MariaDB's server_audit, without its line feed."""
    return f"{datetime.now(UTC):%Y%m%d %H:%M:%S},{INSTANCE},{user},10.9.8.7,7,0,CONNECT,,,0".encode()


def statuses(stack: Stack, instance: str = INSTANCE) -> set[str]:
    rows = stack.clickhouse().rows(
        "SELECT DISTINCT status FROM tailrace.signed_ranges FINAL WHERE instance = {instance:String}",
        {"instance": instance},
    )
    return {row["status"] for row in rows}


def verified(stack: Stack) -> list[tuple[int, int]]:
    rows = stack.clickhouse().rows(
        "SELECT from_offset, to_offset FROM tailrace.signed_ranges FINAL "
        "WHERE instance = {instance:String} AND status = 'verified' ORDER BY from_offset",
        {"instance": INSTANCE},
    )
    return [(row["from_offset"], row["to_offset"]) for row in rows]


def forged_alerts(stack: Stack) -> list[dict]:
    return stack.clickhouse().rows(
        "SELECT level FROM tailrace.alerts FINAL "
        "WHERE instance = {instance:String} AND rule_title = {title:String}",
        {"instance": INSTANCE, "title": FORGED},
    )


def test_a_forged_line_in_kafka_is_an_alert(stack: Stack, tmp_path: Path):
    path = (tmp_path / "server_audit.log").resolve()
    # A file is identified by its first 4 KiB: if those differ, the job waits ten minutes for another file.
    path.write_bytes((login("ann") + b"\n") * 2_000)
    stack.watch_sources([Source(INSTANCE, "audit", path, "shop", "UTC")])
    wait_until(lambda: statuses(stack) == {"verified"}, "the verified ranges")
    # One record signs several ranges, and one row has their result.
    assert verified(stack) == [(0, path.stat().st_size)]

    line = {
        "@timestamp": time.time(),
        "instance": INSTANCE,
        "origin": "audit|auto|UTC|shop",
        "path": str(path),
        "offset": path.stat().st_size,
        "log": login("eve"),
    }
    lines = Producer({"bootstrap.servers": stack.status("kafka").address})
    # The host's own line goes to the same partition, after the forged one. It is written at once: while a
    # newer census shows a file that ends before a line, the job waits for another file.
    lines.produce("tailrace.audit.lines", msgpack.packb(line), INSTANCE)
    assert lines.flush(LIMIT_SECONDS) == 0
    with path.open("ab") as log:
        log.write(login("bob") + b"\n")

    wait_until(lambda: stored_users(stack) == {"ann", "eve"}, "the forged event")
    wait_until(lambda: "mismatch" in statuses(stack), "the mismatch")
    wait_until(lambda: forged_alerts(stack), "the alert")
    assert {alert["level"] for alert in forged_alerts(stack)} == {"high"}
    assert statuses(stack) == {"verified", "mismatch"}
    ledger = json.loads(tailrace(stack, "ledger", "--instance", INSTANCE, "--output", "json"))
    assert [file["mismatches"] for file in ledger["signed_ranges"]] == [1]


def test_lines_of_a_host_that_no_longer_signs_are_an_alert(stack: Stack, tmp_path: Path):
    instance = "unsigned-shop"
    path = (tmp_path / "server_audit.log").resolve()
    path.write_bytes((login("ann") + b"\n") * 100)
    stack.watch_sources([Source(instance, "audit", path, "shop", "UTC")])
    wait_until(lambda: statuses(stack, instance) == {"verified"}, "the verified range")
    with stack.without("census"):
        with path.open("ab") as log:
            log.write(login("bob") + b"\n")
        wait_until(lambda: stored_users(stack, instance) == {"ann", "bob"}, "the unsigned event")
        await_alert(stack, "TailraceSignaturesMissing", limit=1, instance=instance, source="audit")
    await_cleared(stack, "TailraceSignaturesMissing", limit=1, instance=instance)
    assert statuses(stack, instance) == {"verified"}


def stored_users(stack: Stack, instance: str = INSTANCE) -> set[str]:
    rows = stack.clickhouse().rows(
        "SELECT DISTINCT user FROM tailrace.audit_events WHERE instance = {instance:String}",
        {"instance": instance},
    )
    return {row["user"] for row in rows}
