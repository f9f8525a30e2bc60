"""What the collector really loses is a gap in the ledger within a minute; a repair or a backfill fills it
exactly."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.health import await_alert, await_cleared
from e2e.repair_process import repairing
from e2e.stack import Stack, wait_until
from e2e.wait_for_idle import assert_ledger_shows_missing_bytes, await_exact, backfill, settle, tailrace
from e2e.workload.writer import Workload


def lose(stack: Stack, workload: Workload, write: Callable[[], None]) -> None:
    """Has Fluent Bit read what `write` writes to the logs of the workload, and lose it.

    The broker is stopped until Fluent Bit is killed. The supervisor would restart a killed broker, which
    could store the lines before that.
    """
    with stack.without("kafka"):
        write()
        wait_until(lambda: stack.has_queued(workload.logs), "Fluent Bit to queue the lines")
        stack.kill("fluentbit")
    stack.await_healthy()


def entries(workload: Workload, number: int) -> None:
    workload.write(number)
    workload.finish()


def test_first_and_last_lines_are_lost_and_repaired_by_nobody(stack, watched, tmp_path):
    """The repair is killed, finds one file missing, and repairs it when a compressed copy is there."""
    workload = watched(seed=1)
    entries(workload, 400)
    assert not settle(stack, workload.manifests)

    def rename() -> None:
        workload.rotate(late=10)
        entries(workload, 400)

    lose(stack, workload, rename)
    entries(workload, 400)
    assert settle(stack, workload.manifests).keys() == {"tail_lost", "head_lost"}
    assert_ledger_shows_missing_bytes(stack, workload.manifests)
    rotated = Path(f"{workload.logs[0].path}.1")
    instance = workload.logs[0].manifest.instance
    aside = rotated.rename(tmp_path / "aside")

    with repairing(stack, workload.logs, tmp_path / "first") as repair:
        repair.await_line("shipped")
        repair.kill()
    with repairing(stack, workload.logs, tmp_path / "second") as repair:
        repair.await_line("cannot repair")
        await_alert(stack, "TailraceGapsLost", instance=instance)
    shown = json.loads(tailrace(stack, "ledger", "--instance", instance, "--json"))["gaps"]
    assert any("no longer on this machine" in gap["loss"] for gap in shown)

    with gzip.open(f"{rotated}.gz", "wb") as packed:
        packed.write(aside.read_bytes())
    with repairing(stack, workload.logs, tmp_path / "third"):
        await_exact(stack, workload.manifests)
    await_cleared(stack, "TailraceGapsLost", instance=instance)


def test_lines_in_the_middle_are_lost_and_a_backfill_is_killed(stack, watched):
    workload = watched(seed=2)
    entries(workload, 400)
    assert not settle(stack, workload.manifests)
    lose(stack, workload, lambda: entries(workload, 400))
    entries(workload, 400)
    assert settle(stack, workload.manifests).keys() == {"lost"}
    instance = workload.manifests[0].instance
    await_alert(stack, "TailraceGaps", instance=instance)
    backfill(stack, workload.manifests)
    stack.kill("flink")
    await_exact(stack, workload.manifests)
    await_cleared(stack, "TailraceGaps", instance=instance)


@pytest.mark.long
def test_the_last_lines_of_quiet_logs_are_lost(stack, watched, tmp_path):
    """They are no gap, because lines may be on their way: the logs are behind. A backfill or the repair ships
    them."""
    workload = watched(seed=3)
    entries(workload, 400)
    assert not settle(stack, workload.manifests)
    lose(stack, workload, lambda: entries(workload, 400))
    logs = {(log.instance, log.path) for log in workload.manifests}

    def are_found_missing() -> bool:
        found = json.loads(tailrace(stack, "backfill", "--dry-run", "--json"))["stretches"]
        return logs <= {(row["instance"], row["log"]) for row in found}

    wait_until(are_found_missing, "unread ends to be found")
    instance = workload.manifests[0].instance
    await_alert(stack, "TailraceCollectorBehind", instance=instance)
    backfill(stack, [log for log in workload.manifests if log.instance == instance])
    await_cleared(stack, "TailraceCollectorBehind", instance=instance)
    with repairing(stack, workload.logs, tmp_path / "repair"):
        await_exact(stack, workload.manifests)
