"""The states of channels on a real ClickHouse: what the delivery writes, and what is shown of it."""

import argparse
import json
import threading
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from clickhouse_servers import Server

from e2e.alert_rows import alert
from e2e.limits import LIMIT_SECONDS
from e2e.siem_receivers import Posted, serving
from e2e.stack import wait_until
from tailrace.alerts.delivery.channel_states import ChannelStates, kind_of, load
from tailrace.alerts.delivery.config import KINDS, DeliveryConfig, HttpService, Output, Syslog, Webhook
from tailrace.alerts.delivery.selection import Selection
from tailrace.alerts.delivery.service import Service, backoffs_of
from tailrace.cli.commands import alerts_channels
from tailrace.cli.commands.alert_keys import KEYS
from tailrace.clickhouse.client import ClickHouseError
from tailrace.config.resources import REPOSITORY
from tailrace.health import channels as channel_metrics
from tailrace.outputs.config import Elasticsearch, GoogleSecOps
from tailrace.outputs.record import DELIVERED, FAILED, Outcome

SYSLOG = Syslog("collector", Selection(), "127.0.0.1", 601, "none", "cef")
CHAT = HttpService("chat", Selection(), "slack", "", REPOSITORY / "README.md")
INDEX = Output("index", Selection(), Elasticsearch(url="http://127.0.0.1:9", index="x"), "ecs")


@pytest.fixture
def delivery(_migrated, server: Server):
    server.empty_tables("delivery_channels")
    return server.user("delivery")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def written(delivery, *channels, clock=None) -> tuple[ChannelStates, Mapping[str, Any]]:
    config = DeliveryConfig("", channels)
    backoffs = backoffs_of(config)
    states = ChannelStates(delivery, config, backoffs, lambda _: None, clock or Clock())
    states.write()
    return states, backoffs


def count(delivery) -> int:
    (row,) = delivery.rows("SELECT count() AS n FROM tailrace.delivery_channels")
    return int(row["n"])


def test_a_state_is_written_when_it_changes_and_every_ten_minutes(delivery):
    clock = Clock()
    states, backoffs = written(delivery, SYSLOG, CHAT, clock=clock)
    assert [(each.name, each.kind, each.state) for each in load(delivery)] == [
        ("chat", "slack", "untried"),
        ("collector", "syslog", "untried"),
    ]
    states.write()
    assert count(delivery) == 2, "nothing has changed"
    backoffs["chat"].record(Outcome(FAILED, "HTTP 503", 600))
    backoffs["collector"].record(Outcome(DELIVERED, "read"))
    states.write()
    chat, collector = load(delivery)
    assert (chat.state, chat.failures, chat.detail) == ("failing", 1, "HTTP 503")
    assert chat.retry_at >= chat.since + 599
    assert (collector.state, collector.retry_at, count(delivery)) == ("working", 0, 4)
    clock.now += 600
    states.write()
    assert count(delivery) == 6


def test_a_channel_that_left_the_file_is_no_longer_listed(delivery):
    written(delivery, SYSLOG, CHAT)
    written(delivery, CHAT)
    assert [each.name for each in load(delivery)] == ["chat"]
    written(delivery, SYSLOG, CHAT)
    assert [each.name for each in load(delivery)] == ["chat", "collector"]


def old_row(server: Server, channel: str) -> None:
    row = {"channel": channel, "kind": "slack", "state": "working", "since": 1}
    server.user("admin").insert("tailrace.delivery_channels", [{**row, "at": "2026-01-01 00:00:00"}])


def test_a_state_that_nobody_renews_is_unknown_everywhere(delivery, server, capsys):
    old_row(server, "old")
    _, backoffs = written(delivery, CHAT)
    server.empty_tables("delivery_channels")
    old_row(server, "old")
    backoffs["chat"].record(Outcome(FAILED, "HTTP 503"))
    row = {"channel": "chat", "kind": "slack", "state": "failing", "since": 900, "failures": 3}
    delivery.insert("tailrace.delivery_channels (channel, kind, state, since, failures)", [row])
    state, failing = channel_metrics.metrics_of(server.user("reader_compliance"), 1000.0)
    ones = {(each.labels["channel"], each.labels["state"]) for each in state.samples if each.value}
    assert ones == {("old", "unknown"), ("chat", "failing")}
    assert {each.labels["channel"]: each.value for each in failing.samples} == {"chat": 100.0}

    parser = argparse.ArgumentParser()
    alerts_channels.configure(parser)
    stack = SimpleNamespace(clickhouse=server.user)
    alerts_channels.run(parser.parse_args(["--json"]), stack)
    chat, old = json.loads(capsys.readouterr().out)
    assert chat.keys() == KEYS["channels"].keys()
    assert (chat["state"], chat["failures"], chat["retry_at"]) == ("failing", 3, None)
    assert (old["state"], old["since"], old["failures"]) == ("unknown", None, None)
    alerts_channels.run(parser.parse_args([]), stack)
    assert "unknown" in capsys.readouterr().out


def test_a_channel_whose_receiver_asks_for_an_hour_is_paused_alone(delivery, server, tmp_path):
    """The service with its threads. The first request of each channel is answered with 429 or 200."""
    server.empty_tables("alerts", "alert_deliveries")
    (tmp_path / "secret").write_text("the secret key")
    got: dict[str, list[str]] = {"/busy": [], "/quick": []}

    def answer(request: Posted) -> tuple[int, object, Mapping[str, str]]:
        got[request.path].append(request.headers["Idempotency-Key"])
        return (429, {}, {"Retry-After": "3600"}) if request.path == "/busy" else (200, {}, {})

    with serving(answer) as url:
        secret = tmp_path / "secret"
        hooks = [
            Webhook(name, Selection(), f"{url}/{name}", secret, timeout=LIMIT_SECONDS)
            for name in ("busy", "quick")
        ]
        config, beat = DeliveryConfig("", hooks), tmp_path / "beat"
        service = Service(config, delivery, beat, lambda _: None)
        thread = threading.Thread(target=service.run)
        thread.start()
        try:
            begun = "SELECT count() AS n FROM tailrace.alert_deliveries WHERE outcome = 'begun'"
            wait_until(lambda: delivery.rows(begun)[0]["n"] == 2, "both channels to begin")
            for number in (1, 2):
                server.user("writer").insert("tailrace.alerts", [alert()])
                wait_until(lambda: len(got["/quick"]) == number, "the quick channel")  # noqa: B023
                wait_until(lambda: got["/busy"], "the busy channel")

            def busy() -> Mapping[str, Any]:
                return json.loads(beat.read_text())["busy"]

            wait_until(lambda: busy()["state"] == "failing", "the heartbeat")
            assert len(got["/busy"]) == 1 and 3000 < busy()["retry_at"] - busy()["since"] <= 3601
        finally:
            service.stop()
            thread.join()


@pytest.mark.parametrize("user", ["analyst", "reader_security"])
def test_only_the_delivery_writes_states(delivery, server, user):
    row = {"channel": "chat", "kind": "slack", "state": "working"}
    with pytest.raises(ClickHouseError):
        server.user(user).insert("tailrace.delivery_channels (channel, kind, state)", [row])
    with pytest.raises(ClickHouseError):
        delivery.insert("tailrace.delivery_channels", [{**row, "account": "admin"}])


def test_kinds_are_those_of_the_file():
    google = GoogleSecOps.__new__(GoogleSecOps)
    made = [SYSLOG, CHAT, INDEX, Output("g", Selection(), google, "ecs")]
    assert [kind_of(each) for each in made] == ["syslog", "slack", "elasticsearch", "google_secops"]
    assert {kind_of(each) for each in made} <= KINDS.keys()
