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
from tailrace.search.scheduled.saved import LastRun, SavedSearch, Schedule


@dataclass
class Stack:
    """The context of a command whose stack is the test's server."""

    settings: SimpleNamespace
    clickhouse: Callable[[str], ClickHouse]


@pytest.fixture
def run(_migrated, server, tmp_path, capsys) -> Callable[..., str]:
    """Runs `tailrace search` with words; returns what it prints."""
    server.empty_tables("scheduled_searches")
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
    assert "no saved search" in run("--scheduled")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("log:audit", "--role", "developers", *SCHEDULE), "which the role developers does not have"),
        (("x", "--save", "mine", "--every", "1h"), "needs --save NAME, and for a schedule --every"),
        (
            ("x", *SCHEDULE, "--deliver", "other"),
            "no channel 'other'; the channels of alerts.yaml are: hook",
        ),
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


def hourly(**columns) -> SavedSearch:
    """A search that has run every hour since 8:10."""
    schedule = columns.pop("schedule", Schedule(timedelta(hours=1), ["hook"]))
    its = {"schedule": schedule, "saved_at": at(8, 10), "scheduled_at": at(8, 10), **columns}
    return SavedSearch("eve", "mine", "security", "x", **its)


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
    found = slots.due(hourly(last_until=last), now)
    assert (found and (found.since, found.until, found.missed)) == expected


def run_until(hour: int, outcome: str) -> dict[str, object]:
    is_finished = outcome not in ("error", "missed")
    last = LastRun(at(hour), at(hour, 2), outcome, 7 if is_finished else None, "")
    return {"last": last, "last_until": at(hour) if is_finished else None}


@pytest.mark.parametrize(
    ("now", "columns", "state", "following"),
    [
        (at(8, 30), {}, "waiting", at(9, 1)),
        (at(9, 5), {}, "waiting", at(9, 1)),  # due, and other searches may run before it
        (at(9, 11), {}, "overdue", at(9, 1)),
        (at(9, 30), run_until(9, "delivered"), "delivered", at(10, 1)),
        (at(9, 30), run_until(9, "failed"), "failed", at(10, 1)),
        (at(9, 30), run_until(9, "error"), "error", at(9, 1)),
        (
            at(10, 30),
            run_until(9, "delivered"),
            "overdue",
            at(10, 1),
        ),  # the last one was fine
        (at(10, 30), run_until(9, "error"), "overdue", at(10, 1)),
        (at(8, 30), run_until(8, "delivered"), "waiting", at(9, 1)),  # a run before the schedule was changed
        (at(9, 30), {"schedule": Schedule(timedelta(hours=1), ["hook"], paused=True)}, "paused", None),
        (at(9, 30), {"schedule": None}, "", None),
    ],
)
def test_the_state_of_a_schedule(now, columns, state, following):
    search = hourly(**columns)
    assert (slots.state_of(search, now), slots.next_run(search, now)) == (state, following)


def test_the_command_shares_pauses_and_resumes_a_search(run):
    run("user:etl", "--save", "plain", "--owner", "eve", "--share")
    run("user:etl", *SCHEDULE, "--min-events", "5")
    assert "paused" in run("--pause", "mine", "--owner", "eve")
    mine, plain = json.loads(run("--scheduled", "--json"))["scheduled"]
    assert (mine["state"], mine["next"], mine["min_events"], mine["shared"]) == ("paused", None, 5, False)
    assert (plain["state"], plain["every"], plain["channels"], plain["shared"]) == (None, None, [], True)
    assert "runs again" in run("--resume", "mine", "--owner", "eve")
    (mine, _) = json.loads(run("--scheduled", "--json"))["scheduled"]
    assert mine["state"] == "waiting" and mine["next"] and mine["min_events"] == 5
    with pytest.raises(ReportedError, match="no scheduled search 'plain'"):
        run("--pause", "plain", "--owner", "eve")
