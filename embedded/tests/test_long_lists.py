"""With thousands of logs, `tailrace ledger` and `tailrace health` print first what needs attention."""

from argparse import Namespace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from prometheus_client.core import GaugeMetricFamily

from tailrace.cli.commands import health
from tailrace.cli.exit_codes import Exit
from tailrace.ledger import formatting
from tailrace.ledger.balance import LedgerBalance
from tailrace.ledger.records import Account, LogFile
from tailrace.ledger.shown_files import MAX_FILES

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LOGS = 1000
READ = {"entries": 1, "events": 1, "entry_bytes": 100, "event_bytes": 100}
NOTHING = {
    "dead_letters": 0,
    "dead_letter_bytes": 0,
    "framing_bytes": 0,
    "gap_bytes": 0,
    "duplicates": 0,
    "duplicate_bytes": 0,
    "aged": False,
}


def account(number: int, **changes: object) -> Account:
    """Returns the account of a log of which 100 bytes were written and read."""
    file = LogFile(f"db-{number}", "slowlog", "/log/slow.log", 1)
    times = {"census_at": NOW.timestamp(), "size": 100, "frontier": 100, "accounted": 100}
    known = {"cluster": "shop", "path": "/log/slow.log", **times}
    return Account(file, **{**known, **READ, **NOTHING, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"gap_bytes": 7},
        {"dead_letters": 1},
        {"size": 150},
        {"frontier": 120},
        {"census_at": 0},
        {"aged": True},
    ],
    ids=lambda changes: "".join(changes),
)
def test_of_many_logs_the_ledger_prints_those_that_lack_something_first(capsys, changes):
    accounts = [account(number) for number in range(LOGS)]
    accounts.append(account(LOGS, **changes))
    formatting.show(LedgerBalance(NOW, accounts, (), (), (), ()))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    printed = [line[0] for line in lines if line and line[0].startswith("db-")]
    assert printed == [f"db-{LOGS}", *(f"db-{number}" for number in range(MAX_FILES - 1))]
    assert f"… and {LOGS + 1 - MAX_FILES} more; --json has all".split() in lines


def test_of_few_logs_the_ledger_keeps_their_order(capsys):
    formatting.show(LedgerBalance(NOW, [account(1), account(2, gap_bytes=7)], (), (), (), ()))
    out = capsys.readouterr().out
    assert out.index("db-1") < out.index("db-2") and "more" not in out


def test_health_prints_ten_alerts_of_a_rule_and_the_number_of_others(capsys):
    gaps = GaugeMetricFamily("tailrace_gap_bytes", "", labels=["instance", "source"])
    for number in range(LOGS):
        gaps.add_metric([f"db-{number}", "audit"], 7)
    context = SimpleNamespace(health_metrics=lambda: [gaps])
    assert health.run(Namespace(output="table"), context) == Exit.FAILED
    out = capsys.readouterr().out
    assert out.count("TailraceGaps:") == health.MAX_OF_RULE
    assert f"… and {LOGS - health.MAX_OF_RULE} more; --json has all" in out
    assert out.count("what to do:") == 1
