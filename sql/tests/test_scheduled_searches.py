"""Scheduled searches on a real ClickHouse and with a channel over HTTP: what is found, as which role, and
which runs are recorded."""

import json
import threading
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from lost_answers import losing
from search_events import NOW, TEXTS, rows_of_logs

from e2e.alert_rows import alert as e2e_alert
from e2e.limits import LIMIT_SECONDS
from e2e.siem_receivers import Posted, serving
from e2e.stack import wait_until
from tailrace.alerts.delivery.config import DeliveryConfig, Webhook
from tailrace.alerts.delivery.selection import Selection
from tailrace.clickhouse.client import ClickHouseError
from tailrace.outputs.backoff import WORKING, Backoff
from tailrace.search.scheduled import saved
from tailrace.search.scheduled.outbox import MOST_ATTEMPTS
from tailrace.search.scheduled.runner import Runner
from tailrace.search.scheduled.saved import SavedSearch, Schedule, ScheduleError

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
        self.headers: dict[str, str] = {}
        """Of the answers with an error status."""
        self.gate = threading.Event()
        """An answer waits for it."""
        self.gate.set()

    def __call__(self, request: Posted) -> tuple[int, object] | tuple[int, object, dict[str, str]]:
        self.documents.append(json.loads(request.body))
        self.keys.append(request.headers["Idempotency-Key"])
        assert self.gate.wait(LIMIT_SECONDS)
        return (self.statuses.pop(0), {}, self.headers) if self.statuses else (200, {})


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
    server.empty_tables("scheduled_searches", "search_runs")
    yield Receiver()


class Running:
    """The runner without threads, and its clock in seconds since 1970."""

    def __init__(self, server, *channels: Webhook) -> None:
        self.now = 0.0
        config = DeliveryConfig("https://tailrace.test", channels)
        self.backoffs = {each.name: Backoff(4, 60, 3, self._clock, lambda *_: 1.0) for each in channels}
        self.runner = Runner(
            server.user("delivery"), server.user, config, self.backoffs, lambda _: None, self._clock
        )

    def _clock(self) -> float:
        return self.now

    def run_due(self, now: datetime) -> str:
        """Runs what is due, then makes the attempts that are due; a day later than the last time."""
        self.now += 86_400
        said = self.runner.run_due(now)
        self.send_due()
        return said

    def send_due(self, seconds: float = 0) -> None:
        self.now += seconds
        for outbox in self.runner.outboxes.values():
            outbox.send_due()


@pytest.fixture
def runner(server, receiver, tmp_path) -> Iterator[Running]:
    (tmp_path / "secret").write_text("the secret key")
    with serving(receiver) as url:
        yield Running(server, Webhook("hook", Selection(), url, tmp_path / "secret", timeout=LIMIT_SECONDS))


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


def test_a_channel_that_fails_is_tried_after_pauses_that_double_at_most_twenty_times(
    server, runner, receiver, save
):
    receiver.statuses = [503] * 30
    save("log:slow")
    runner.run_due(DUE)
    for number, pause in enumerate((5, 10, 20, 40, 80), start=1):
        runner.send_due(pause - 1)
        assert len(receiver.keys) == number
        runner.send_due(1)
        assert len(receiver.keys) == number + 1
    runner.runner.run_due(DUE)
    for _ in range(20):
        runner.send_due(900)
    assert len(receiver.keys) == MOST_ATTEMPTS and len(set(receiver.keys)) == 1
    rows = server.user("delivery").rows("SELECT detail FROM tailrace.search_runs ORDER BY at DESC LIMIT 1")
    assert rows[0]["detail"].startswith("given up after 20 attempts: HTTP 503")
    runner.run_due(DUE)
    assert len(receiver.keys) == MOST_ATTEMPTS


def test_an_attempt_whose_insert_was_not_answered_is_recorded_once(server, runner, receiver, save):
    receiver.statuses = [503]
    save("log:slow")
    runner.runner.service = losing(server.user("delivery"), "tailrace.search_runs")
    runner.runner.run_due(DUE)
    with pytest.raises(ConnectionError, match="is lost"):
        runner.send_due()
    runner.send_due()
    assert [outcome for _, outcome, _ in runs(server)] == ["failed"]
    runner.send_due(900)
    assert [outcome for _, outcome, _ in runs(server)] == ["failed", "delivered"]
    assert len(receiver.keys) == 2


def test_a_result_that_is_sent_while_the_runner_reads_the_attempts_is_sent_once(
    server, runner, receiver, save, monkeypatch
):
    """The thread of the channel records and removes the result just after the attempts were read."""
    read = runner.runner._attempts

    def then_send(*run: Any) -> dict[str, tuple[int, str]]:
        before = read(*run)
        runner.send_due()
        return before

    save("log:slow")
    runner.runner.run_due(DUE)
    monkeypatch.setattr(runner.runner, "_attempts", then_send)
    runner.runner.run_due(DUE)
    assert len(receiver.keys) == 1, "it is sent during the second look"
    runner.send_due()
    assert len(receiver.keys) == 1
    assert [outcome for _, outcome, _ in runs(server)] == ["delivered"]


def test_a_receiver_that_asks_for_time_gets_it(runner, receiver, save):
    receiver.statuses, receiver.headers = [429], {"Retry-After": "600"}
    save("log:slow")
    runner.run_due(DUE)
    save("log:slow", name="another")
    runner.runner.run_due(DUE)
    runner.send_due(599)
    assert len(receiver.keys) == 1, "also no other result is sent to the channel"
    runner.send_due(1)
    assert len(receiver.keys) == 3 and runner.backoffs["hook"].state.state == WORKING


def test_a_channel_that_does_not_answer_delays_no_other_one(server, receiver, save, tmp_path):
    """The threads of the service: the receiver `hook` holds each request until the test ends it."""
    (tmp_path / "secret").write_text("the secret key")
    other, stop = Receiver(), threading.Event()
    receiver.gate.clear()
    with serving(receiver) as slow, serving(other) as quick:
        hooks = [
            Webhook(name, Selection(), url, tmp_path / "secret", timeout=LIMIT_SECONDS)
            for name, url in (("hook", slow), ("quick", quick))
        ]
        its = Running(server, *hooks)
        save("log:slow", channels=["hook", "quick"])
        save("user:etl", name="z", channels=["quick"])
        threads = [threading.Thread(target=run, args=(stop,)) for run in its.runner.threads[1:]]
        its.runner.run_due(DUE)
        try:
            for thread in threads:
                thread.start()
            wait_until(lambda: len(other.documents) == 2, "both results")
            wait_until(lambda: len(runs(server)) == 2, "their records")
            assert len(receiver.documents) == 1
            receiver.gate.set()
            wait_until(lambda: len(runs(server)) == 3, "the slow answer")
        finally:
            receiver.gate.set()
            stop.set()
            for thread in threads:
                thread.join()


def test_a_service_that_was_killed_searches_and_sends_what_a_channel_has_not_got(
    server, runner, receiver, save, tmp_path
):
    receiver.statuses = [503]
    save("log:slow")
    runner.run_due(DUE)
    later = Running(server, Webhook("hook", Selection(), "http://127.0.0.1:9/", tmp_path / "secret"))
    later.run_due(DUE)
    assert [outcome for _, outcome, _ in runs(server)] == ["failed", "failed"]
    rows = server.user("delivery").rows("SELECT attempt FROM tailrace.search_runs ORDER BY at")
    assert [row["attempt"] for row in rows] == [1, 2]


def test_a_result_of_a_search_that_was_removed_is_not_sent_again(server, runner, receiver, save):
    receiver.statuses = [503]
    save("log:slow")
    runner.run_due(DUE)
    saved.remove(server.user("analyst"), "eve", "mine")
    runner.run_due(DUE)
    assert len(receiver.keys) == 1


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


def test_a_repeated_message_names_the_missed_runs_too(server, runner, receiver, save):
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
    with pytest.raises(ScheduleError, match="bob has no saved search 'mine'"):
        saved.remove(server.user("analyst"), "bob", "mine")
    saved.remove(server.user("analyst"), "eve", "mine")
    runner.run_due(DUE)
    assert not receiver.documents and not saved.load(server.user("analyst"))


def test_a_saved_search_has_the_time_and_account_of_the_server(server, receiver):
    analyst = server.user("analyst")
    saved.store(analyst, SavedSearch("eve", "mine", "security", "user:etl", Schedule(EVERY, ["hook"])))
    (found,) = saved.load(analyst)
    assert (found.search, found.every, found.channels) == ("user:etl", EVERY, ("hook",))
    saved.remove(analyst, "eve", "mine")
    saved.store(analyst, found)
    assert [each.name for each in saved.load(analyst)] == ["mine"], "an equal row is not a repetition"
    with pytest.raises(ClickHouseError):
        analyst.insert("tailrace.scheduled_searches", [{"owner": "eve", "name": "x", "account": "admin"}])
