"""Alerts in the formats of other products: a real rsyslog, and services that resolve closed alerts."""

import json

import pytest

from e2e import receivers, rsyslog
from e2e.alert_rows import alert
from e2e.delivery_process import ANSWER_TIMEOUT, SECRET, WEB_PORT, DeliveryProcess, hexadecimal
from e2e.opensearch_server import OpenSearch
from e2e.receivers import WebReceiver
from e2e.siem_receivers import Bulk, serving
from e2e.stack import wait_until
from e2e.trackers import USER, Tracker, tracker_at

SYSLOG_PORT = WEB_PORT + 2
OPENSEARCH_PORT = WEB_PORT + 40
SERVICE = {"secret_file": "secret", "retry_initial": "1s", "retry_max": "2s", "timeout": ANSWER_TIMEOUT}


def pagerduty(**options) -> dict:
    url = f"http://127.0.0.1:{WEB_PORT}/v2/enqueue"
    return {"name": "on-call", "kind": "pagerduty", "url": url, **SERVICE, **options}


def acted(delivering: DeliveryProcess, row: dict, action: str, channel: str = "") -> None:
    done = {"alert_id": row["alert_id"], "actor": "erin", "action": action, "reason": "planned"}
    done |= {"channel": channel}
    delivering.clickhouse.insert("tailrace.alert_actions", [done], async_insert=0)


def tickets(kind: str, tracker: Tracker) -> dict:
    own = {"project": "SEC"} if kind == "jira" else {"table": "incident"}
    return {"name": "tickets", "kind": kind, "url": tracker.url, "user": USER, **SERVICE, **own}


def events(web: WebReceiver) -> list[str]:
    return [json.loads(request.body)["event_action"] for request in web.requests]


def test_an_incident_is_resolved_when_the_alert_is_closed_and_opened_again_when_it_is_reopened(
    delivering, web
):
    delivering.begin(pagerduty())
    row = delivering.raised()
    delivering.await_outcome(row, (1, 1, "delivered"))
    web.answers.append(503)
    acted(delivering, row, "close")
    resolved = [(1, 1, "delivered"), (1, 1, "failed"), (1, 2, "resolved")]
    delivering.await_outcome(row, *resolved)
    delivering.settle()
    assert events(web) == ["trigger", "resolve", "resolve"]

    acted(delivering, row, "reopen")
    delivering.await_outcome(row, *resolved, (1, 1, "delivered"))
    assert {json.loads(request.body)["dedup_key"] for request in web.requests} == {hexadecimal(row)}
    assert json.loads(web.requests[0].body)["routing_key"] == SECRET


@pytest.mark.parametrize(
    ("kind", "creation"),
    [("jira", "POST /rest/api/3/issue"), ("servicenow", "POST /api/now/table/incident")],
)
def test_a_service_killed_after_it_created_a_ticket_creates_no_second_one(delivering, kind, creation):
    with tracker_at() as tracker:
        tracker.before_answer = lambda request: delivering.kill() if request == creation else None
        delivering.begin(tickets(kind, tracker))
        row = delivering.raised()
        wait_until(lambda: creation in tracker.requests, "the ticket")
        delivering.await_end()
        assert delivering.outcomes(row) == []

        tracker.before_answer = lambda _: None
        delivering.start()
        delivering.await_outcome(row, (1, 1, "delivered"))
        acted(delivering, row, "close")
        delivering.await_outcome(row, (1, 1, "delivered"), (1, 1, "resolved"))
    assert tracker.requests.count(creation) == 1 and tracker.refused == []
    assert [issue["status"] for issue in tracker.issues] == (["Done"] if kind == "jira" else [])
    assert [each["state"] for each in tracker.rows["incident"]] == (["6"] if kind == "servicenow" else [])


def test_an_alert_that_was_closed_by_a_receiver_is_not_resolved_there_again(delivering, web):
    delivering.begin(pagerduty(), pagerduty(name="other"))
    row = delivering.raised()
    delivering.await_outcome(row, *[(1, 1, "delivered")] * 2)
    acted(delivering, row, "close", channel="on-call")
    delivering.await_outcome(row, *[(1, 1, "delivered")] * 2, *[(1, 1, "resolved")] * 2)
    assert sorted(events(web)) == ["resolve", "trigger", "trigger"], "only the other one is asked to"


def test_an_alert_that_was_never_delivered_is_not_resolved(delivering, web):
    delivering.begin(pagerduty(min_level="critical"), pagerduty(name="other"))
    row = delivering.raised()
    delivering.await_outcome(row, (1, 1, "delivered"))
    acted(delivering, row, "close")
    delivering.await_outcome(row, (1, 1, "delivered"), (1, 1, "resolved"))
    delivering.settle()
    assert events(web) == ["trigger", "resolve"]


def test_the_address_of_a_chat_is_the_secret(delivering, web):
    (delivering.directory / "chat.url").write_text(f"http://127.0.0.1:{WEB_PORT}/services/T0/B0/x\n")
    delivering.begin({"name": "chat", "kind": "slack", **SERVICE, "secret_file": "chat.url"})
    row = delivering.raised()
    delivering.await_outcome(row, (1, 1, "delivered"))
    (request,) = web.requests
    assert request.path == "/services/T0/B0/x"
    assert "Dump-like read" in json.loads(request.body)["text"]


@pytest.mark.parametrize(
    ("security", "form", "beginning"),
    [("none", "leef", "LEEF:2.0|Tailrace|"), ("tls", "cef", "CEF:0|Tailrace|"), ("tls", "ocsf", "{")],
)
def test_rsyslog_parses_the_messages_also_after_it_was_killed(
    delivering, tmp_path, security, form, beginning
):
    files = receivers.certificate(tmp_path) if security == "tls" else None
    root = rsyslog.installed(delivering.stack.settings.cache)
    server = rsyslog.Rsyslog(root, tmp_path, SYSLOG_PORT, files)
    given = {"name": "collector", "kind": "syslog", "host": "127.0.0.1", "port": SYSLOG_PORT, "format": form}
    trusted = {"ca_file": str(files[0])} if files else {}
    retry = {"retry_initial": "1s", "retry_max": "2s", "timeout": ANSWER_TIMEOUT}
    with server.running():
        delivering.begin({**given, "security": security, **trusted, **retry})
        first = delivering.raised(entity={"user": "müller"}, user="müller")
        delivering.await_outcome(first, (1, 1, "delivered"))
        wait_until(lambda: len(server.messages()) == 1, "the first message")
    second = delivering.raised()
    wait_until(lambda: delivering.outcomes(second), "an attempt without a receiver")
    with server.running():
        wait_until(lambda: len(server.messages()) == 2, "the second message")
        wait_until(lambda: delivering.outcomes(second)[-1][2] == "delivered", "its outcome")
    one, other = server.messages()
    assert (one.priority, one.hostname, one.application) == (83, "shop-db-1", "tailrace")
    assert one.time == first["event_time"].replace(" ", "T") + "Z"
    assert one.text.startswith(beginning) and "müller" in one.text
    assert hexadecimal(first) in one.text and hexadecimal(second) in other.text
    assert {outcome for _, _, outcome in delivering.outcomes(second)[:-1]} == {"failed"}


def search(url: str) -> dict:
    given = {"name": "search", "kind": "elasticsearch", "url": url, "index": "logs-tailrace.alerts-default"}
    return {**given, "retry_initial": "1s", "retry_max": "2s", "timeout": ANSWER_TIMEOUT}


def test_alerts_are_sent_together_and_each_has_its_own_outcome(delivering):
    bulk = Bulk(statuses=[0, 429, 400])
    with serving(bulk) as url:
        delivering.begin(search(url))
        rows = [alert(instance=f"db-{number}") for number in range(3)]
        delivering.clickhouse.insert("tailrace.alerts", rows, async_insert=0)
        wait_until(lambda: len(bulk.documents) == 2, "two alerts")
        wait_until(lambda: all(map(delivering.outcomes, rows)), "an outcome of each alert")
        delivering.settle()
    last = sorted(delivering.outcomes(row)[-1][2] for row in rows)
    assert last == ["delivered", "delivered", "refused"]
    assert [outcome for row in rows for *_, outcome in delivering.outcomes(row)].count("failed") == 1


@pytest.mark.long
def test_opensearch_stores_each_alert_once_although_it_and_the_sender_are_killed(delivering, tmp_path):
    (tmp_path / "node").mkdir()
    node = OpenSearch(delivering.stack.settings.cache, tmp_path / "node", OPENSEARCH_PORT)
    index = search(node.url)["index"]
    with node.running():
        node.make_data_streams()
        delivering.begin(search(node.url))
        first = delivering.raised()
        delivering.await_outcome(first, (1, 1, "delivered"))
    second = delivering.raised()
    wait_until(lambda: delivering.outcomes(second), "an attempt without a receiver")
    delivering.kill()
    with node.running():
        delivering.start()
        wait_until(lambda: delivering.outcomes(second)[-1][2] == "delivered", "the second")
        delivering.kill()
        # As if the kill had come before the outcome was recorded.
        delivering.clickhouse.execute("TRUNCATE TABLE tailrace.alert_deliveries")
        delivering.begin(search(node.url))
        delivering.insert(first)
        delivering.insert(second)
        for row in (first, second):
            wait_until(lambda row=row: delivering.outcomes(row), "a repeated attempt")
            assert delivering.outcomes(row)[-1][2] == "delivered"
        assert sorted(node.ids(index)) == sorted(f"{hexadecimal(row)}-1" for row in (first, second))
