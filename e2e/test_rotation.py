"""Renamed files with byte-identical banners, their lost bytes, and files from before the start."""

import gzip
import json
import os
import time
from pathlib import Path

import pytest

from e2e.stack import Stack, wait_until
from e2e.wait_for_idle import (
    assert_exact,
    assert_ledger_shows_missing_bytes,
    await_exact,
    backfill,
    settle,
    tailrace,
)
from e2e.workload.statements import ordinary
from tailrace import console
from tailrace.ledger import balance as ledger_balance
from tailrace.sources import active_sources, log_fixes, sources_file
from tailrace.sources.sources_file import Source
from tailrace_local.supervisor import control

ENTRY = b"""\
# Time: 2026-11-21T02:49:%02d.811511Z
# User@Host: app[app] @ web-1 [10.1.20.17]  Id:    41
# Query_time: 2.013251  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 90211
SET timestamp=1795229359;
SELECT * FROM %s WHERE id = 1;
"""


def test_rename_while_everything_runs(stack, watched):
    workload = watched(seed=1)
    with workload.writing(rate=200):
        for _ in range(3):
            before = workload.entries
            wait_until(
                lambda before=before: workload.entries >= before + 300,
                "entries between renames",
            )
            workload.rotate(late=20)
    assert_exact(stack, workload.manifests)


def test_short_files_that_begin_alike(stack, watched):
    workload = watched(seed=2)
    for _ in range(3):
        for log in workload.logs:
            log.write(ordinary(workload.random))
        assert not settle(stack, workload.manifests)
        workload.rotate()
    workload.write(50)
    workload.finish()
    assert_exact(stack, workload.manifests)


def test_rename_while_fluent_bit_is_down(stack, watched):
    workload = watched(seed=3)
    workload.write(500)
    workload.finish()
    assert not settle(stack, workload.manifests)
    with stack.without("fluentbit"):
        workload.write(500)
        workload.rotate(late=10)
        workload.write(200)
        workload.finish()
    missing = settle(stack, workload.manifests)
    assert missing.keys() == {"tail_lost"}
    assert_ledger_shows_missing_bytes(stack, workload.manifests)
    backfill(stack, workload.manifests)
    await_exact(stack, workload.manifests)


def test_a_newcomers_log_is_watched_once_it_is_listed(stack, newcomer):
    instance, log = newcomer
    shown = tailrace(stack, "up")
    assert f"{instance}  slowlog  {log}  is watched, {console.size(log.stat().st_size)}" in shown
    assert "2 rotated files next to it" in shown and "1 compressed file next to it" in shown
    assert f"{log.parent}/audit.log  does not exist yet" in shown
    wait_until(lambda: _entries(stack, instance) == 20, "the log to be read")
    wait_until(lambda: _unknown(stack, instance) == ["audit"], "its census")
    assert json.loads(tailrace(stack, "ledger", "--instance", instance, "--json"))["unread"]

    assert "1 log without a census" in tailrace(
        stack, "ledger", "--instance", instance, "--strict", expected=1
    )
    assert f"{log.parent}/audit.log does not exist yet" in tailrace(stack, "status")
    assert f"{log.parent}/audit.log does not exist yet" in tailrace(stack, "doctor", expected=1)
    named = tailrace(stack, "backfill", "--instance", instance, "--dry-run", expected=1)
    assert f"{log}.1" in named and f"{log}.2" in named
    with log.open("ab") as file:
        file.write(_written(20, b"later"))
    wait_until(lambda: _entries(stack, instance) == 40, "what is written later to be read")


def test_a_log_that_exists_is_named_until_a_census_of_it_arrives(stack, newcomer):
    instance, log = newcomer
    missing = f"{instance} slowlog {log}: its lines arrive without any census, so lost lines are not detected"
    with stack.without("census"):
        _, problem = control.take_list(stack.home)
        assert not problem
        wait_until(lambda: _entries(stack, instance) == 20, "the log to be read")
        for command in ("status", "doctor"):
            wait_until(lambda it=command: missing in tailrace(stack, it, expected=1), f"{command} to name it")
        assert log_fixes.INCOMPLETE_CENSUS in tailrace(stack, "doctor", expected=1)
    wait_until(lambda: _unknown(stack, instance) == ["audit"], "its census")
    assert f"{instance} slowlog" not in tailrace(stack, "doctor", expected=1)


def test_no_line_is_lost_while_lists_are_taken_over(stack, watched, tmp_path):
    workload = watched(seed=8)
    before = stack.settings.sources.read_text()
    try:
        with workload.writing(rate=200):
            for number in range(3):
                so_far = workload.entries
                wait_until(lambda so_far=so_far: workload.entries > so_far + 100, "more entries")
                other = tmp_path.resolve() / f"other-{number}.log"
                stack.watch_sources([Source(f"other-{number}", "slowlog", other, "shop")])
        workload.finish()

        assert settle(stack, workload.manifests) == {}
        await_exact(stack, workload.manifests)
    finally:
        stack.settings.sources.write_text(before)


@pytest.mark.long
def test_rotated_files_that_were_there_before_a_log_was_watched_are_read(stack, newcomer):
    instance, _ = newcomer
    tailrace(stack, "up")
    wait_until(lambda: len(_gaps(stack, instance)) == 2, "the rotated files to be gaps")
    tailrace(stack, "ledger", "--instance", instance, "--strict", expected=1)
    tailrace(stack, "backfill", "--instance", instance)

    wait_until(lambda: _entries(stack, instance) == 60, "all entries")
    assert _gaps(stack, instance) == []


@pytest.fixture
def newcomer(stack: Stack, tmp_path: Path, request):
    """Instance and path of a log with two rotated files of 20 entries each and a compressed one, and 20
    of its own. It is written to the list, and beside it an audit log that does not exist."""
    instance = request.node.name.removeprefix("test_")
    log = tmp_path.resolve() / "slow.log"
    for name in ("slow.log.2", "slow.log.1", "slow.log"):
        (log.parent / name).write_bytes(_written(20, name.encode().replace(b".", b"_")))
    for name in ("slow.log.2", "slow.log.1"):
        os.utime(log.parent / name, (time.time() - 3600,) * 2)
    (log.parent / "slow.log.3.gz").write_bytes(gzip.compress(b"older"))
    before = stack.settings.sources.read_text()
    added = [
        Source(instance, "slowlog", log, "shop"),
        Source(instance, "audit", log.parent / "audit.log", "shop"),
    ]
    sources_file.add(stack.settings.sources, added)
    yield instance, log
    stack.settings.sources.write_text(before)


def _written(entries: int, table: bytes) -> bytes:
    return b"".join(ENTRY % (second, table) for second in range(entries))


def _ledger(stack: Stack, instance: str) -> ledger_balance.LedgerBalance:
    return ledger_balance.read(stack.clickhouse(), instance, listed=active_sources.active(stack.home).since)


def _entries(stack: Stack, instance: str) -> int:
    """How many of them are stored."""
    return sum(account.events for account in _ledger(stack, instance).accounts)


def _unknown(stack: Stack, instance: str) -> list[str]:
    return [log.source for log in _ledger(stack, instance).unknown]


def _gaps(stack: Stack, instance: str) -> list[str]:
    return [gap.kind for gap in _ledger(stack, instance).gaps]
