"""Only rows that ClickHouse refuses are lost, each is a dead letter of its file; the ledger balances."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from e2e.comparison import Stored
from e2e.health import await_alert, await_cleared
from e2e.stack import Stack, wait_until
from e2e.test_bad_input import BANNER, entry
from e2e.wait_for_idle import tailrace
from e2e.workload.manifest import LogManifest
from tailrace.ledger import balance as ledger_balance
from tailrace.sources.sources_file import Source

ENTRIES = 3000
POISONOUS = frozenset({0, 1, 1234, ENTRIES - 1})


@contextmanager
def refusing(stack: Stack, what: str) -> Iterator[None]:
    """ClickHouse refuses rows of query_events for which the condition does not hold."""
    clickhouse = stack.clickhouse()
    clickhouse.execute(f"ALTER TABLE tailrace.query_events ADD CONSTRAINT no_poison CHECK {what}")
    try:
        yield
    finally:
        clickhouse.execute("ALTER TABLE tailrace.query_events DROP CONSTRAINT no_poison")


def test_only_the_poisonous_rows_are_lost_also_through_a_restart(stack: Stack, tmp_path: Path):
    log = _watched(stack, tmp_path)
    stored = Stored(stack.clickhouse(), log)
    with refusing(stack, f"rows_examined != 666 OR instance != '{log.instance}'"):
        _write(log)
        wait_until(lambda: stored.entry_count() > 0, "the first postings")
        stack.kill("flink")
        stack.await_healthy()
        wait_until(
            lambda: stored.dead_letter_codes() == {"REFUSED_BY_STORE": len(POISONOUS)},
            "a dead letter for each poisonous row",
        )
        wait_until(lambda: stored.event_count() == ENTRIES - len(POISONOUS), "all rows that can be stored")
        labels = {"instance": log.instance, "code": "REFUSED_BY_STORE"}
        await_alert(stack, "TailraceDeadLetters", **labels)
    await_cleared(stack, "TailraceDeadLetters", recent_seconds=10, **labels)
    expected = (ENTRIES, ENTRIES - len(POISONOUS), len(POISONOUS))

    def are_in_the_ledger() -> bool:
        """Rows of a checkpoint that is still being posted are stored, and not in the ledger yet."""
        files = ledger_balance.read(stack.clickhouse(), log.instance).to_json()["files"]
        return [(each["entries"], each["events"], each["dead_letters"]) for each in files] == [expected]

    wait_until(are_in_the_ledger, "all entries in the ledger")
    ledger = json.loads(tailrace(stack, "ledger", "--json", "--instance", log.instance))
    (letters,) = (detail for detail in ledger["details"] if detail["kind"] == "DEAD_LETTER")
    assert (letters["stage"], letters["detail"], letters["log"]) == ("SINK", "REFUSED_BY_STORE", log.path)
    ids = stored.row(
        f"SELECT uniqExact(event_id) AS n FROM {stored.events} WHERE instance = {{instance:String}}"
    )
    assert ids["n"] == ENTRIES - len(POISONOUS)


def _watched(stack: Stack, directory: Path) -> LogManifest:
    path = directory / "slow.log"
    path.write_bytes(BANNER)
    log = LogManifest("poisoned", "slowlog", "mysql-8.0", str(path.resolve()))
    stack.watch_sources([Source(log.instance, "slowlog", path.resolve(), "poison")])
    return log


def _write(log: LogManifest) -> None:
    entries = (_entry(number) for number in range(ENTRIES))
    with open(log.path, "ab") as file:
        file.write(b"".join(entries))


def _entry(number: int) -> bytes:
    plain = entry(b"SELECT %d FROM plain" % number)
    return plain.replace(b"Rows_examined: 2\n", b"Rows_examined: 666\n") if number in POISONOUS else plain
