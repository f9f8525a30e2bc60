"""The options of `tailrace search` for scheduled searches, and when a run is due."""

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from tailrace.cli.commands import search as command
from tailrace.cli.commands import search_schedule
from tailrace.clickhouse.client import ClickHouse
from tailrace.errors import ReportedError
from tailrace.search.scheduled import saved, slots
from tailrace.search.scheduled.saved import ScheduledSearch


@dataclass
class Stack:
    """The context of a command whose stack is the test's server."""

    settings: SimpleNamespace
    clickhouse: Callable[[str], ClickHouse]


@pytest.fixture
def run(_migrated, server, tmp_path, capsys) -> Callable[..., str]:
    """Runs `tailrace search` with words; returns what it prints."""
    server.user("admin").execute("TRUNCATE TABLE tailrace.scheduled_searches")
    hook = {"name": "hook", "kind": "webhook", "url": "https://example.test/", "secret_file": "secret"}
    (tmp_path / "secret").write_text("the secret key")
    (tmp_path / "alerts.yaml").write_text(json.dumps({"channels": [hook]}))

    def with_words(*words: str) -> str:
        parser = argparse.ArgumentParser()
        command.configure(parser)
        stack = Stack(SimpleNamespace(alerts_config=tmp_path / "alerts.yaml"), server.user)
        command.run(parser.parse_args(words), stack)
        return capsys.readouterr().out

    return with_words


SCHEDULE = ("--save", "mine", "--every", "1h", "--deliver", "hook", "--owner", "eve")


def test_the_command_saves_lists_and_removes_a_search(run):
    assert "runs every 1h as security" in run("user:etl   log:slow", *SCHEDULE)
    (listed,) = json.loads(run("--scheduled", "--output", "json"))["scheduled"]
    assert listed.keys() == search_schedule.KEYS.keys()
    assert (listed["search"], listed["every"], listed["channels"]) == ("user:etl log:slow", "1h", ["hook"])
    assert (listed["last"], listed["outcome"], listed["events"]) == (None, None, None)
    assert "user:etl log:slow" in run("--scheduled")
    run("--remove", "mine", "--owner", "eve")
    assert "no scheduled search" in run("--scheduled")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("log:audit", "--role", "developers", *SCHEDULE), "which the role developers does not have"),
        (("x", "--save", "mine", "--every", "1h"), "needs --save NAME, --every SPAN and --deliver"),
        (("x", *SCHEDULE, "--deliver", "other"), "--deliver other: the channels of alerts.yaml are: hook"),
        (("x", *SCHEDULE, "--every", "1m"), "from 5 minutes to 31 days"),
        (("x", *SCHEDULE, "--every", "soon"), "a span such as 30s"),
        (("x", *SCHEDULE, "--save", ""), "1 to 60 printable characters"),
    ],
)
def test_the_command_refuses_to_save(run, server, words, message):
    with pytest.raises(ReportedError, match=message):
        run(*words)
    assert not saved.load(server.user("analyst"))


def at(hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 3, 1, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "last", "expected"),
    [
        (at(8, 30), None, None),  # saved at 8:10: the first run ends at 9
        (at(9, 0), None, None),  # events of the last seconds are on their way
        (at(9, 1), None, (at(8), at(9), 0)),
        (at(9, 30), at(9), None),
        (at(12, 5), at(9), (at(11), at(12), 2)),
        (at(12, 5), None, (at(11), at(12), 3)),
    ],
)
def test_the_run_that_is_due(now, last, expected):
    search = ScheduledSearch("eve", "mine", "security", "x", timedelta(hours=1), ["hook"], at(8, 10), last)
    found = slots.due(search, now)
    assert (found and (found.since, found.until, found.missed)) == expected
