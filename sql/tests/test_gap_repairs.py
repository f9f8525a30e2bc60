"""What the automatic repair records about a gap, and what the ledger and the metrics show of it."""

import pytest
from ledger_fixture import LedgerRows

from tailrace.backfill.ranges import ByteRange
from tailrace.backfill.repair import LOST, REPAIRED, Pace, Repairer, Round
from tailrace.clickhouse.client import ClickHouse
from tailrace.health import metrics as health_metrics
from tailrace.kafka.client import KafkaClient
from tailrace.ledger import balance as ledger_balance
from tailrace.ledger.balance import LedgerBalance
from tailrace.ledger.listed_logs import Entry, ListedLogs
from tailrace.ledger.records import LogFile
from tailrace.sources.sources_file import Source

INSTANCE = "repaired-db"


@pytest.fixture
def ledger(admin) -> LogFile:
    """A file with an open gap in bytes 300 to 500."""
    rows = LedgerRows(INSTANCE)
    rows.read(3).post("GAP", 300, 500, detail="lost").read(2, begin=500).store(admin)
    (gap,) = ledger_balance.gaps(admin, INSTANCE)
    return gap.file


def record(repair: ClickHouse, file: LogFile, state: str, reason: str, end: int = 500) -> None:
    watched = [Source(file.instance, file.source, file.log, "shop")]
    repairer = Repairer(repair, KafkaClient(""), watched, Pace(), lambda _: None)
    repairer.record(ByteRange(file, 250, end, 200), state, reason)


def read(reader: ClickHouse) -> LedgerBalance:
    return ledger_balance.read(reader, INSTANCE, patience_seconds=0)


def amounts(reader: ClickHouse) -> dict[str, float]:
    return {
        metric.name: sample.value
        for metric in health_metrics.ledger_metrics(reader)
        for sample in metric.samples
        if metric.name.startswith("tailrace_gap") and sample.labels["instance"] == INSTANCE
    }


def test_the_list_of_logs_is_recorded_although_repairs_fail(admin, user):
    unreachable = ClickHouse("http://127.0.0.1:1", "repair", "")
    listing = ListedLogs(user("repair"), [Entry("shop", "never", "audit", "/a.log")], "box")
    repairer = Repairer(unreachable, KafkaClient(""), [], Pace(), lambda _: None, listing=listing)
    rounds: list[Round] = []

    def first(done: Round) -> None:
        rounds.append(done)
        repairer.stop()

    repairer.run(first)
    assert "refused" in rounds[0].problem
    assert admin.rows("SELECT instance FROM tailrace.listed_logs") == [{"instance": "never"}]


def test_an_open_gap_has_no_loss_before_the_repair_gave_up(admin, ledger):
    (gap,) = read(admin).gaps

    assert read(admin).loss(gap) == ""
    assert amounts(admin) == {
        "tailrace_gap_bytes": 200,
        "tailrace_gap_lost_bytes": 0,
        "tailrace_gap_repaired_bytes": 0,
    }


def test_the_reason_of_a_loss_is_that_of_the_last_result(admin, user, ledger):
    repair, reader = user("repair"), user("reader_compliance")
    record(repair, ledger, LOST, "the file is gone")
    record(repair, ledger, LOST, "the file ends at 400")

    (gap,) = read(reader).to_json()["gaps"]
    assert gap["loss"] == "the file ends at 400"
    assert amounts(reader)["tailrace_gap_lost_bytes"] == 200


def test_a_repaired_range_is_counted_and_no_loss(admin, user, ledger):
    repair = user("repair")
    record(repair, ledger, LOST, "the file is gone")
    record(repair, ledger, REPAIRED, "")

    (gap,) = read(admin).gaps
    assert read(admin).loss(gap) == ""
    assert amounts(admin) == {
        "tailrace_gap_bytes": 200,
        "tailrace_gap_lost_bytes": 0,
        "tailrace_gap_repaired_bytes": 200,
    }


def test_the_same_loss_is_recorded_once(admin, user, ledger):
    repair = user("repair")
    for _ in range(2):
        record(repair, ledger, LOST, "the file is gone")
    record(repair, ledger, LOST, "the file is gone", end=600)

    (row,) = admin.rows("SELECT count() AS rows FROM tailrace.gap_repairs")
    assert row["rows"] == 2


def test_a_loss_beside_a_gap_is_not_that_of_the_gap(admin, user, ledger):
    record(user("repair"), ledger, LOST, "the file is gone", end=300)

    (gap,) = read(admin).gaps
    assert read(admin).loss(gap) == ""


def test_a_range_that_is_lost_again_after_its_repair_is_recorded_again(admin, user, ledger):
    repair = user("repair")
    record(repair, ledger, LOST, "the file is gone")
    record(repair, ledger, REPAIRED, "")
    record(repair, ledger, LOST, "the file is gone")

    (gap,) = read(admin).gaps
    assert read(admin).loss(gap) == "the file is gone"
    assert amounts(admin)["tailrace_gap_lost_bytes"] == 200
