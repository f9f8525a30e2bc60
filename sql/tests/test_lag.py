"""Tests tailrace_lag_seconds of each log and its alert."""

from datetime import UTC, datetime, timedelta

import pytest
from ledger_fixture import LedgerRows

from tailrace.health import metrics as health_metrics
from tailrace.health import rules

RULE = [rule for rule in rules.load() if rule.name == "TailraceLag"]


@pytest.fixture
def lagging(admin) -> dict[str, float]:
    """Returns the seconds by instance for which the alert fires."""
    now = datetime.now(UTC)  # not NOW of ledger_fixture, which is the time of the first test

    def minutes_ago(minutes: float) -> datetime:
        return now - timedelta(minutes=minutes)

    LedgerRows("seen", at=minutes_ago(1)).read(2).store(admin)
    LedgerRows("seen-once", at=minutes_ago(5)).read(2).store(admin)
    LedgerRows("never-seen", at=minutes_ago(5)).post("FRONTIER", 0, 200).store(admin)
    LedgerRows("new", at=minutes_ago(1)).post("FRONTIER", 0, 200).store(admin)
    LedgerRows("left", at=minutes_ago(8 * 1440)).read(2).store(admin)
    LedgerRows("left-unseen", at=minutes_ago(8 * 1440)).post("FRONTIER", 0, 200).store(admin)
    found = rules.firing(RULE, health_metrics.ledger_metrics(admin))
    return {each.labels["instance"]: each.value for each in found}


def test_a_log_that_no_census_has_seen_lags_since_its_first_line(lagging: dict[str, float]):
    assert lagging.keys() == {"seen-once", "never-seen"}
    assert lagging["never-seen"] == pytest.approx(lagging["seen-once"], abs=2)
