"""Measures the delay of alerts: `make bench-e2e ARGUMENTS="--alerts MINUTES"`.

    line → alert   1,000 statements/s for that many minutes (1), each of a connection of its own, go through
                   an audit log, two suspicious ones a second among them; from when such a line was
                   written until its alert can be queried

All parts run on this machine, with the repository's rules and detectors. The first ten seconds are not
counted: the JVM is still compiling then.
"""

import shutil
import tempfile
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread

from e2e.stack import PARTS, Stack
from e2e.test_detection import RULE, AuditLog, push
from tailrace.rules import push as rule_push

FIRST_PORT = 22140
STATEMENTS_PER_TURN = 100
TURN_SECONDS = 0.1
TURNS_PER_MINUTE = 600
TURNS_PER_ATTACK = 5
WARM_TURNS = 100
POLL_SECONDS = 0.05
MAX_WAIT_SECONDS = 60
SEEN = "SELECT DISTINCT user FROM tailrace.alerts WHERE rule_title = 'Refused login of a test'"


def measure(minutes: float = 1) -> None:
    """Prints the delays. Raises AssertionError if an alert is missing."""
    turns = round(minutes * TURNS_PER_MINUTE)
    directory = Path(tempfile.mkdtemp(prefix="tailrace-bench-"))
    detect = str(FIRST_PORT + 7)
    stack = Stack(directory / "home", FIRST_PORT, (*PARTS, "detect"), few_rows=False, port_detect=detect)
    try:
        stack.up()
        _measure(stack, AuditLog(stack, directory, "bench"), turns)
    finally:
        stack.down()
        shutil.rmtree(directory)


def _measure(stack: Stack, audit: AuditLog, turns: int) -> None:
    rule = RULE.format(id=uuid.uuid4(), level="low")
    assert push(stack, {**rule_push.files(rule_push.OWN), "bench.yml": rule}).accepted
    clickhouse = stack.clickhouse()
    written: dict[str, float] = {}
    seen: dict[str, float] = {}
    stopped = Event()
    writing = Thread(target=_write, args=(audit, turns, written, stopped))
    writing.start()

    deadline = time.monotonic() + turns * TURN_SECONDS + MAX_WAIT_SECONDS
    try:
        while writing.is_alive() or len(seen) < len(written):
            assert time.monotonic() < deadline, f"{len(written) - len(seen)} lines without an alert"
            for row in clickhouse.rows(SEEN):
                seen.setdefault(row["user"], time.monotonic())
            time.sleep(POLL_SECONDS)
    finally:
        stopped.set()
        writing.join()
    warm = list(written)[WARM_TURNS // TURNS_PER_ATTACK :]
    waited = sorted(seen[user] - written[user] for user in warm)
    p50, p99 = (waited[min(len(waited) - 1, int(len(waited) * share))] for share in (0.5, 0.99))
    rate = STATEMENTS_PER_TURN / TURN_SECONDS
    print(
        f"line → alert at {rate:,.0f} statements/s, {len(waited)} alerts: "
        f"p50 {p50:.2f} s, p99 {p99:.2f} s, max {waited[-1]:.2f} s"
    )


def _write(audit: AuditLog, turns: int, written: dict[str, float], stopped: Event) -> None:
    following = time.monotonic()
    for turn in range(turns):
        with audit.path.open("a") as log:
            log.write("".join(_statement(audit) for _ in range(STATEMENTS_PER_TURN)))
            if turn % TURNS_PER_ATTACK == 0:
                user = f"guessed{turn}"
                log.write(_line(audit, f"{user},10.0.0.9", "FAILED_CONNECT,,,1045"))
                log.flush()
                written[user] = time.monotonic()
        following += TURN_SECONDS
        if stopped.wait(max(0.0, following - time.monotonic())):
            return


def _statement(audit: AuditLog) -> str:
    return _line(audit, "app,10.0.0.1", "QUERY,shop,'select name from shop.product where id = 7',0")


def _line(audit: AuditLog, account: str, rest: str) -> str:
    audit.connection += 1
    now = datetime.now(UTC)
    return f"{now:%Y%m%d %H:%M:%S},{audit.instance},{account},{audit.connection},{audit.connection},{rest}\n"
