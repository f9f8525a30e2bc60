"""With tens of thousands of logs, the ledger is read with work in proportion to their number."""

from datetime import UTC, datetime

import pytest

from tailrace.ledger import unknown_logs
from tailrace.ledger.balance import LedgerBalance
from tailrace.ledger.records import Gap, GapRepair, LogFile
from tailrace.ledger.unknown_logs import LogProgress, unknown

LOGS = 2000
NOW = 1_800_000_000.0


@pytest.fixture
def comparisons(monkeypatch) -> list[object]:
    """The pairs of logs and listed keys that are compared."""
    found: list[object] = []
    compare = unknown_logs._is_of
    monkeypatch.setattr(unknown_logs, "_is_of", lambda *pair: found.append(pair) or compare(*pair))
    return found


def test_listed_logs_are_compared_with_those_of_their_server(comparisons):
    logs = [LogProgress(f"db-{n}", "slowlog", "/slow.log", NOW, NOW, NOW) for n in range(LOGS)]
    listed = {(log.instance, log.source, log.log): NOW for log in logs}
    listed |= {(f"db-{n}", "slowlog", "/*.err"): NOW for n in range(LOGS)}
    found = unknown(logs, listed, NOW)
    assert len(found) == LOGS, "nothing has arrived of the patterns"
    assert len(comparisons) <= 4 * LOGS


def test_gaps_are_compared_with_repairs_of_their_file():
    compared = []

    class Counted(GapRepair):
        def overlaps(self, gap: Gap) -> bool:
            compared.append(gap)
            return super().overlaps(gap)

    files = [LogFile(f"db-{n}", "slowlog", "/slow.log", 1) for n in range(LOGS)]
    gaps = [Gap(file, "lost", 10, 20, NOW) for file in files]
    repairs = [Counted(file, 10, 20, 10, "lost", "the file is gone") for file in files]
    ledger = LedgerBalance(datetime.now(UTC), (), (), (), gaps, (), repairs=repairs)
    assert {ledger.loss(gap) for gap in gaps} == {"the file is gone"}
    assert len(compared) == LOGS
