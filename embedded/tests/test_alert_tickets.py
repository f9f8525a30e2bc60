"""Tickets of alerts in Jira and ServiceNow: their format, and that an alert never has two."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from e2e.alert_rows import alert
from e2e.limits import LIMIT_SECONDS
from e2e.trackers import PASSWORD, USER, Tracker, check_document, tracker_at
from tailrace.alerts.delivery import config, jira, servicenow
from tailrace.alerts.delivery.delivery_log import DELIVERED, FAILED, REFUSED, Due
from tailrace.alerts.delivery.selection import Selection
from tailrace.alerts.delivery.service import sender_of
from tailrace.alerts.delivery.tickets import Jira, ServiceNow
from tailrace.config.yaml_reader import ConfigurationError

DASHBOARDS = "https://tailrace.example.com"
GOLDEN = Path(__file__).with_name("golden") / "tickets"
ID = "0123456789abcdef0123456789abcdef"
HOSTILE = "mallory\r\n[~admin] {color:red}x{color} [x](http://evil) ^ORstate=1"


@pytest.fixture(scope="module")
def shared() -> Iterator[Tracker]:
    with tracker_at() as tracker:
        yield tracker


@pytest.fixture
def tracker(shared: Tracker) -> Tracker:
    shared.__init__(shared.port)
    return shared


@pytest.fixture
def secret_file(tmp_path) -> Path:
    (tmp_path / "secret").write_text(f"{PASSWORD}\n")
    return tmp_path / "secret"


def due(count: int = 1, closed: bool = False, **fields) -> Due:
    """The same alert for each call, with this count."""
    time = "2026-03-01 10:00:00.250000"
    fixed = {"event_time": time, "window_from": "2026-03-01 09:55:00.000000", "detected_at": time}
    fixed |= {"alert_id": "01234567-89ab-cdef-0123-456789abcdef", "event_ids": [], "late": False}
    link = "/superset/dashboard/alerts/?native_filters=x"
    return Due(alert(**{**fixed, "link_path": link, **fields, "count": count}), 1, 0, closed)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("jira_issue", lambda: jira.new_issue(due(), JIRA, DASHBOARDS)),
        ("servicenow_incident", lambda: servicenow.incident(due(), DASHBOARDS)),
        ("servicenow_em_event", lambda: servicenow.event(due(), DASHBOARDS)),
        ("servicenow_em_event_closed", lambda: servicenow.event(due(closed=True), DASHBOARDS)),
    ],
)
def test_a_new_ticket_is_as_in_the_golden_file(name: str, body: Callable[[], dict]):
    assert body() == json.loads((GOLDEN / f"{name}.json").read_text())


JIRA = Jira("tickets", Selection(), "https://example.atlassian.net", USER, Path("unused"), "SEC")


def channel(kind: str, tracker: Tracker, secret_file: Path, **options) -> Jira | ServiceNow:
    if kind == "jira":
        return replace(JIRA, url=tracker.url, secret_file=secret_file, timeout=LIMIT_SECONDS, **options)
    return ServiceNow(
        "incidents", Selection(), tracker.url, USER, secret_file, timeout=LIMIT_SECONDS, **options
    )


def test_jira_shows_names_of_logs_as_plain_text():
    body = jira.new_issue(due(user=HOSTILE, entity={"user": HOSTILE}), JIRA, DASHBOARDS)
    assert "\n" not in body["fields"]["summary"]
    check_document(body["fields"]["description"])
    assert "http://evil" not in json.dumps([*marks(body["fields"]["description"])])


def marks(node: dict) -> Iterator[dict]:
    yield from node.get("marks", [])
    for child in node.get("content", []):
        yield from marks(child)


def test_jira_needs_no_statement_step_or_link(tracker, secret_file):
    sender = sender_of(channel("jira", tracker, secret_file), DASHBOARDS)
    empty = due(statements=[], next_steps=[], link_path="", facts={}, program="", database="")
    assert sender.send(empty).outcome == DELIVERED, tracker.refused


def test_an_issue_is_created_once_commented_and_closed(tracker, secret_file):
    sender = sender_of(channel("jira", tracker, secret_file, close_status="done"), DASHBOARDS)
    assert [sender.send(due(each)).detail for each in (1, 1, 4, 4, 9)] == [
        *("created SEC-1", "SEC-1 exists"),
        *("commented SEC-1", "SEC-1 exists", "commented SEC-1"),
    ]
    assert sender.send(due(9, closed=True)).detail == "moved SEC-1 to Done"
    assert sender.send(due(9, closed=True)).detail == "SEC-1 is closed"
    (issue,) = tracker.issues
    assert (issue["status"], len(issue["comments"]), tracker.refused) == ("Done", 2, [])
    assert issue["fields"]["labels"] == ["tailrace", f"tailrace-{ID}"]

    assert sender.send(due(9)).outcome == DELIVERED
    assert (issue["status"], len(tracker.issues)) == ("To Do", 1)


def test_an_incident_is_created_once_updated_and_resolved(tracker, secret_file):
    sender = sender_of(channel("servicenow", tracker, secret_file), DASHBOARDS)
    assert [sender.send(due(each)).detail for each in (1, 1, 4, 4)] == [
        *("created INC0000001", "INC0000001 exists"),
        *("updated INC0000001", "INC0000001 exists"),
    ]
    assert sender.send(due(4, closed=True)).detail == "resolved INC0000001"
    assert sender.send(due(4, closed=True)).detail == "there is no open incident"
    (row,) = tracker.rows["incident"]
    assert (row["state"], row["correlation_id"], len(row["notes"])) == ("6", ID, 1)

    sender.send(due(4))
    assert row["state"] == "2" and tracker.refused == []
    row["state"] = "7"
    assert sender.send(due(5)).detail == "created INC0000002", "a closed incident cannot be opened again"


def test_events_of_an_alert_have_one_key(tracker, secret_file):
    sender = sender_of(channel("servicenow", tracker, secret_file, table="em_event"), DASHBOARDS)
    for each in (due(), due(4), due(4, closed=True)):
        assert sender.send(each).outcome == DELIVERED, tracker.refused
    assert {row["message_key"] for row in tracker.rows["em_event"]} == {ID}
    assert [row["severity"] for row in tracker.rows["em_event"]] == ["2", "2", "0"]


def test_a_refusal_has_the_reason_of_the_tracker(tracker, secret_file):
    sender = sender_of(channel("jira", tracker, secret_file, fields={"customfield_1": "x"}), DASHBOARDS)
    refused = sender.send(due())
    assert refused.outcome == REFUSED
    assert refused.detail == "HTTP 400: fields: a field is not on the screen"
    secret_file.write_text("wrong")
    assert sender.send(due()).detail == "HTTP 401: message: User Not Authenticated"


def test_an_issue_that_cannot_be_closed_is_reported(tracker, secret_file):
    sender = sender_of(channel("jira", tracker, secret_file, close_status="Archived"), DASHBOARDS)
    sender.send(due())
    assert sender.send(due(closed=True)).detail == "SEC-1 has no transition to a status 'Archived'"


def test_an_unreachable_tracker_is_a_failure(secret_file):
    with tracker_at() as gone:
        sender = sender_of(channel("servicenow", gone, secret_file), DASHBOARDS)
    assert sender.send(due()).outcome == FAILED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"project": "my project"}, "`project` must be the key of a project such as SEC"),
        ({"url": "http://jira.example.com"}, "`url` must begin with https://"),
        ({"priorities": ["Low", "High"]}, "`priorities` must be a list of 5 names"),
        ({"table": "incident"}, "unknown key 'table'"),
        ({"kind": "servicenow", "project": "SEC"}, "unknown key 'project'"),
    ],
)
def test_a_mistake_about_tickets_is_reported_with_its_key(tmp_path, secret_file, change, message):
    given = {"name": "x", "kind": "jira", "url": "https://x.atlassian.net", "user": "x", "project": "SEC"}
    content = {"channels": [{**given, "secret_file": str(secret_file), **change}]}
    (tmp_path / "alerts.yaml").write_text(json.dumps(content))
    with pytest.raises(ConfigurationError, match=message):
        config.load(tmp_path / "alerts.yaml")
