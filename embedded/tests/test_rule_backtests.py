"""Backtests that run for the dashboards: limits, one at a time, results; the process is a shell script."""

import json
import threading
import time
from pathlib import Path

import pytest

from e2e.limits import LIMIT_SECONDS
from tailrace.rules import backtests, catalog
from tailrace.rules.backtests import BacktestRefusedError, Backtests, BacktestState, Reader


class Script(Reader):
    """Runs a shell script in place of the JVM."""

    def command(self, rule: str, days: int) -> list[str]:
        return ["/bin/sh", str(self.jar), rule, str(days)]


@pytest.fixture
def runs(tmp_path):
    """Returns the backtests whose process is this script."""

    def make(script: str) -> Backtests:
        file = tmp_path / "script.sh"
        file.write_text(script)
        nothing = tmp_path / "password"
        return Backtests(tmp_path / "results", Script(file, tmp_path, "http://127.0.0.1:9", "x", nothing))

    return make


def ended(tests: Backtests, rule: str) -> BacktestState:
    limit = time.monotonic() + LIMIT_SECONDS
    while (state := tests.latest(rule)).state == backtests.RUNNING:
        assert time.monotonic() < limit
        time.sleep(0.02)
    return state


def test_a_result_is_kept_and_survives_a_restart(runs):
    tests = runs('echo "{\\"section\\": \\"rule\\", \\"rule\\": \\"$1\\", \\"alerts\\": \\"$2\\"}"')
    tests.start("r1", 30, "erin")
    state = ended(tests, "r1")
    assert (state.state, state.days, state.actor) == (backtests.DONE, 30, "erin")
    assert state.rows == [{"section": "rule", "rule": "r1", "alerts": "30"}]
    assert runs("").latest("r1") == state and tests.latest("other") is None


def test_the_message_of_a_failed_process_is_kept(runs):
    tests = runs("echo 'the rule was refused' >&2; exit 1")
    tests.start("r1", 7, "erin")
    assert (ended(tests, "r1").state, ended(tests, "r1").error) == (backtests.FAILED, "the rule was refused")


def test_only_one_runs_at_a_time(runs, tmp_path):
    tests = runs(f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done")
    tests.start("r1", 7, "erin")
    with pytest.raises(BacktestRefusedError, match="only one runs at a time"):
        tests.start("r2", 7, "erin")
    assert tests.running().rule == "r1"
    (tmp_path / "go").touch()
    assert ended(tests, "r1").state == backtests.DONE and tests.running() is None


def test_a_backtest_that_was_interrupted_has_failed(runs, tmp_path):
    state = BacktestState("a" * 32, "r1", 7, "erin", "2026-03-01T12:00:00+00:00")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / f"{state.id}.json").write_text(json.dumps(backtests.public(state)))
    assert runs("").latest("r1").error == backtests.INTERRUPTED


@pytest.mark.parametrize(
    ("rule", "days"),
    [("--clickhouse=http://x", 7), ("/etc/passwd", 7), ("../x.yml", 7), ("", 7), ("r1", 0), ("r1", 91)],
)
def test_options_paths_and_long_times_are_refused(runs, rule, days):
    with pytest.raises(BacktestRefusedError):
        runs("").start(rule, days, "erin")


def test_a_process_that_is_stopped_has_failed(runs, tmp_path):
    tests = runs(f"touch {tmp_path}/runs; while true; do sleep 0.05; done")
    tests.start("r1", 7, "erin")
    limit = time.monotonic() + LIMIT_SECONDS
    while not (tmp_path / "runs").exists():
        assert time.monotonic() < limit
        time.sleep(0.02)
    threading.Thread(target=tests.stop).start()
    assert ended(tests, "r1").state == backtests.FAILED


def test_no_process_starts_after_the_stop(runs, tmp_path):
    """A service can end between the request and the start of the process."""
    tests = runs(f"touch {tmp_path}/runs")
    tests.stop()
    tests.start("r1", 7, "erin")
    assert (ended(tests, "r1").state, ended(tests, "r1").error) == (backtests.FAILED, backtests.INTERRUPTED)
    assert not (tmp_path / "runs").exists()


def test_the_process_has_limits_and_reads_only(tmp_path):
    reader = Reader(Path("/cli.jar"), Path("/rules"), "http://store", "reader_security", Path("/password"))
    command = reader.command("r1", 30)
    assert "-Xmx512m" in command
    assert command[command.index("backtest") + 1 : command.index("backtest") + 4] == [
        "r1",
        "--rules",
        "/rules",
    ]
    assert command[command.index("--user") + 1] == "reader_security"


def test_results_are_hidden_from_an_audience_that_sees_less():
    assert backtests.may_read("security", ["security"])
    assert backtests.may_read("compliance", ["security"])
    assert not backtests.may_read("compliance", ["compliance"])


def test_the_catalog_has_every_rule_with_its_text_and_its_exceptions(tmp_path):
    rules = catalog.load()
    locked = rules["79f9114f-4482-5833-bdb4-9461f7149011"]
    assert (locked.title, locked.level, locked.file) == (
        "All tables locked for reading",
        "low",
        "data/all_tables_locked.yml",
    )
    assert "flush tables with read lock" in locked.definition and len(rules) > 200
    (tmp_path / "a.yml").write_text(
        "title: R\nname: r\ndetection: {s: {user: x}, condition: s}\n---\ntitle: E\nexception: {rule: R,"
        " selection: {user: etl}, reason: a, owner: b, expires: 2027-03-31}\n"
    )
    (tmp_path / "broken.yml").write_text("title: [\n")
    (rule,) = catalog.load(tmp_path).values()
    (exception,) = rule.exceptions
    assert (rule.key, exception.selection, exception.expires) == ("r", "user: etl", "2027-03-31")
