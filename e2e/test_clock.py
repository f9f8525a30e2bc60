"""A collector whose clock is wrong."""

import time

import msgpack
from confluent_kafka import Producer

from e2e.health import await_alert, await_cleared
from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack

AHEAD_SECONDS = 3600
"""However slow the machine is, the census arrives long before its time."""


def test_a_clock_that_is_ahead_raises_an_alert(stack: Stack):
    census = {
        "at": time.time() + AHEAD_SECONDS,
        "cluster": "clock",
        "instance": "clock-ahead",
        "source": "audit",
        "path": "/clock-ahead/server_audit.log",
        "inode": 7,
        "size": 10,
        "head_length": 0,
        "head_hash": "d41d8cd98f00b204e9800998ecf8427e",
        "mtime": time.time(),
    }
    lines = Producer({"bootstrap.servers": stack.status("kafka").address})
    lines.produce("tailrace.audit.lines", msgpack.packb(census), census["instance"], 0)
    assert lines.flush(LIMIT_SECONDS) == 0
    await_alert(stack, "TailraceClockAhead", instance=census["instance"], source="audit")

    stack.clickhouse().execute(
        "ALTER TABLE tailrace.ledger DELETE WHERE instance = {instance:String}",
        {"instance": census["instance"]},
        mutations_sync=2,
    )
    await_cleared(stack, "TailraceClockAhead", instance=census["instance"])
