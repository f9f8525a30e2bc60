"""Scheduled searches on a real ClickHouse and with a channel over HTTP: what is found, as which role, and
which runs are recorded."""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from search_events import NOW, TEXTS, rows_of_logs

from e2e.alert_rows import alert as e2e_alert
from e2e.siem_receivers import Posted, serving
from tailrace.alerts.delivery.config import Webhook
from tailrace.alerts.delivery.selection import Selection
from tailrace.cli.commands import search as command
from tailrace.cli.commands import search_schedule
from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.errors import ReportedError
from tailrace.search.scheduled import saved, slots
from tailrace.search.scheduled.runner import MOST_ATTEMPTS, Runner
from tailrace.search.scheduled.saved import ScheduledSearch, ScheduleError

EVERY = timedelta(hours=12)
DUE = NOW + timedelta(minutes=2)
"""NOW is at twelve, and all events are in the twelve hours before it."""
SAVED = NOW - timedelta(hours=11)


class Receiver:
    """Stores the documents that it gets; `statuses`: the next answers, 200 after them."""

    def __init__(self) -> None:
        self.documents: list[Mapping[str, Any]] = []
        self.keys: list[str] = []
        self.statuses: list[int] = []

    def __call__(self, request: Posted) -> tuple[int, object]:
        self.documents.append(json.loads(request.body))
        self.keys.append(request.headers["Idempotency-Key"])
        return (self.statuses.pop(0) if self.statuses else 200), {}


@pytest.fixture(scope="module")
def logs(_migrated, server) -> Mapping[str, list[dict[str, Any]]]:
    server.empty_tables()
    found = rows_of_logs()
    for table, rows in found.items():
        server.user("writer").insert(f"tailrace.{table}", rows)
    texts = [{"query_id": id_, "rule_set": "r", "fingerprint": text} for id_, text in TEXTS.items()]
    server.user("writer").insert("tailrace.fingerprints", texts)
    return found


@pytest.fixture
def receiver(server, logs) -> Iterator[Receiver]:
    for table in ("scheduled_searches", "search_runs"):
        server.user("admin").execute(f"TRUNCATE TABLE tailrace.{table}")
    yield Receiver()


@pytest.fixture
def runner(server, receiver, tmp_path) -> Iterator[Runner]:
    (tmp_path / "secret").write_text("the secret key")
    with serving(receiver) as url:
        hook = Webhook("hook", Selection(), url, tmp_path / "secret")
        yield Runner(
            server.user("delivery"), server.user, {"hook": hook}, "https://tailrace.test", lambda _: None
        )


@pytest.fixture
def save(server):
    """Saves a search as if it had been eleven hours before NOW."""

    def run(search: str, role: str = "security", **changed: Any) -> None:
        row = {"owner": "eve", "name": "mine", "action": "save", "role": role, "search": search}
        row |= {"every_seconds": int(EVERY.total_seconds()), "channels": ["hook"]}
        row |= {"at": f"{SAVED:%Y-%m-%d %H:%M:%S}", **changed}
        server.user("admin").insert("tailrace.scheduled_searches", [row])

    return run


def runs(server) -> list[tuple[str, str, int]]:
    """Returns channel, outcome and events of all attempts."""
    rows = server.user("delivery").rows(
        "SELECT channel, outcome, events FROM tailrace.search_runs ORDER BY at"
    )
    return [(row["channel"], row["outcome"], int(row["events"])) for row in rows]


def test_a_channel_receives_the_number_of_events_and_the_first_ones(server, runner, receiver, save, logs):
    save("user:etl log:slow")
    runner.run_due(DUE)
    expected = [row for row in logs["query_events"] if row["user"] == "etl"]
    (document,) = receiver.documents
    text = json.dumps(document)
    assert f"Scheduled search mine: {len(expected)} events" in text and len(expected) > 10
    latest = max(expected, key=lambda row: (row["event_time"], row["event_id"]))
    shown = document["tailrace"]["statements"]
    assert len(shown) == 10 and shown[0].startswith(f"{latest['event_time']} slow")
    assert runs(server) == [("hook", "delivered", len(expected))]
    runner.run_due(DUE)
    assert len(receiver.documents) == 1, "a run takes place once"


def test_a_run_finds_only_what_the_role_may_see(server, runner, receiver, save, logs):
    save("user:etl", role="developers")
    runner.run_due(DUE)
    rows = [*logs["query_events"], *logs["error_events"]]
    ((_, outcome, events),) = runs(server)
    assert (outcome, events) == ("delivered", sum(row["user"] == "etl" for row in rows))
    assert " audit " not in json.dumps(receiver.documents) and " alert " not in json.dumps(receiver.documents)


@pytest.mark.parametrize("search", ["log:audit", "class:pci", "rule:x", "| top program"])
def test_what_the_role_may_not_read_is_recorded_as_denied_and_nothing_is_sent(
    server, runner, receiver, save, search
):
    """The row as somebody who may write the table would forge it: the command refuses to save it."""
    save(search, role="developers")
    runner.run_due(DUE)
    runner.run_due(DUE)
    assert runs(server) == [("", "denied", 0)] and not receiver.documents


@pytest.mark.parametrize(
    "forged", [{"role": "nobody"}, {"name": "a\nb"}, {"every_seconds": saved.LONGEST.days * 86_400 + 1}]
)
def test_a_search_that_cannot_be_stops_no_other_one(server, runner, receiver, save, forged):
    """The account of analysts may write to the table; the same program delivers alerts."""
    save("log:slow", **{"name": "forged", **forged})
    save("user:nobody", name="z")
    assert "cannot run" in runner.run_due(DUE)
    assert runs(server) == [("", "nothing", 0)] and not receiver.documents
    (found,) = saved.load(server.user("analyst"))
    assert found.name == "z"
    saved.remove(server.user("analyst"), "eve", forged.get("name", "forged"))
    assert runner.run_due(DUE) == ""


def test_a_channel_that_fails_gets_the_same_run_again_with_the_same_key(server, runner, receiver, save):
    receiver.statuses = [503]
    save("log:slow | top user")
    runner.run_due(DUE)
    assert [outcome for _, outcome, _ in runs(server)] == ["failed"]
    runner.run_due(DUE)
    assert [outcome for _, outcome, _ in runs(server)] == ["failed", "delivered"]
    assert len(set(receiver.keys)) == 1 and len(receiver.keys) == 2


def test_a_search_without_events_sends_nothing(server, runner, receiver, save):
    save("user:nobody")
    runner.run_due(DUE)
    runner.run_due(DUE)
    assert runs(server) == [("", "nothing", 0)] and not receiver.documents


def test_missed_runs_are_recorded_and_reported_with_the_next_one(server, runner, receiver, save):
    save("user:nobody", at=f"{SAVED - 2 * EVERY:%Y-%m-%d %H:%M:%S}")
    runner.run_due(DUE)
    (listed,) = saved.rows(server.user("analyst"))
    assert (int(listed["missed"]), listed["last_outcome"]) == (2, "delivered")
    since = f"{NOW - 3 * EVERY:%Y-%m-%d %H:%M}"
    assert f"2 runs were missed, so no run covered {since} to" in json.dumps(receiver.documents)


def test_a_search_that_fails_is_tried_again_and_its_run_counts_as_missed(server, runner, receiver, save):
    save("around:aaaaaaaa-0000-4000-8000-ffffffffffff")
    for _ in range(MOST_ATTEMPTS + 2):
        runner.run_due(DUE)
    assert runs(server) == MOST_ATTEMPTS * [("", "error", 0)]
    save("user:nobody", at=f"{SAVED + timedelta(seconds=1):%Y-%m-%d %H:%M:%S}")
    runner.run_due(DUE + EVERY)
    assert [outcome for _, outcome, _ in runs(server)][-2:] == ["missed", "delivered"]


def total_missed(server) -> int:
    (listed,) = saved.rows(server.user("analyst"))
    return int(listed["missed"])


def test_missed_runs_are_recorded_although_the_first_attempt_fails(server, runner, receiver, save):
    """The alert of the search arrives after the first attempt."""
    alert = "aaaaaaaa-0000-4000-8000-fffffffffff0"
    save(f"around:{alert} user:nobody", at=f"{SAVED - 2 * EVERY:%Y-%m-%d %H:%M:%S}")
    runner.run_due(DUE)
    assert [outcome for _, outcome, _ in runs(server)] == ["missed", "error"] and total_missed(server) == 2
    times = dict.fromkeys(("event_time", "window_from"), f"{NOW - EVERY / 2:%Y-%m-%d %H:%M:%S}")
    server.user("writer").insert("tailrace.alerts", [e2e_alert(alert_id=alert, **times)])
    runner.run_due(DUE)
    assert [outcome for _, outcome, _ in runs(server)] == ["missed", "error", "delivered"]
    assert total_missed(server) == 2 and "2 runs were missed" in json.dumps(receiver.documents)


def test_a_channel_that_fails_is_told_of_the_missed_runs_when_it_answers_again(
    server, runner, receiver, save
):
    receiver.statuses = [503]
    save("user:nobody", at=f"{SAVED - 2 * EVERY:%Y-%m-%d %H:%M:%S}")
    runner.run_due(DUE)
    runner.run_due(DUE)
    assert [outcome for _, outcome, _ in runs(server)] == ["missed", "failed", "delivered"]
    first, second = (document["tailrace"] for document in receiver.documents)
    assert first == second and "2 runs were missed" in json.dumps(second)


def test_missed_runs_of_a_run_that_never_finished_count_once(server, runner, receiver, save):
    save("around:aaaaaaaa-0000-4000-8000-ffffffffffff", at=f"{SAVED - EVERY:%Y-%m-%d %H:%M:%S}")
    runner.run_due(DUE)
    assert total_missed(server) == 1
    runner.run_due(DUE + EVERY)
    assert total_missed(server) == 2, "the one before, and the one that failed"


def test_a_removed_search_does_not_run(server, runner, receiver, save):
    save("log:slow")
    with pytest.raises(ScheduleError, match="bob has no scheduled search 'mine'"):
        saved.remove(server.user("analyst"), "bob", "mine")
    saved.remove(server.user("analyst"), "eve", "mine")
    runner.run_due(DUE)
    assert not receiver.documents and not saved.load(server.user("analyst"))


def test_a_saved_search_has_the_time_and_account_of_the_server(server, receiver):
    analyst = server.user("analyst")
    saved.save(analyst, ScheduledSearch("eve", "mine", "security", "user:etl", EVERY, ["hook"]))
    (found,) = saved.load(analyst)
    assert (found.search, found.every, found.channels) == ("user:etl", EVERY, ("hook",))
    with pytest.raises(ClickHouseError):
        analyst.insert("tailrace.scheduled_searches", [{"owner": "eve", "name": "x", "account": "admin"}])


@dataclass
class Stack:
    """The context of a command whose stack is the test's server."""

    settings: SimpleNamespace
    clickhouse: Callable[[str], ClickHouse]


@pytest.fixture
def run(server, receiver, tmp_path, capsys) -> Callable[..., str]:
    """Runs `tailrace search` with words; returns what it prints."""
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
