"""The parts of the pages of incidents, and of alerts about many users, that need no server."""

from datetime import UTC, datetime

import jinja2
import pytest

from tailrace.alerts.incidents import Incident
from tailrace_pages import formats
from tailrace_pages.alerts import details, incidents, tried_accounts

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SPRAY = {
    "rule_title": "Refused logins",
    "user": "mallory",
    "src_ip": "10.1.20.17",
    "program": "",
    "instance": "shop-db-1",
    "entity": {"host": "10.1.20.17"},
    "entity_key": "host=10.1.20.17",
    "alert_count": 1,
    "metric": 5,
    "facts": {"counted": "user"},
    "window_from": NOON,
    "event_time": NOON,
}


def test_the_sentence_of_a_password_spray_names_the_client_and_not_one_of_its_users():
    said = details.sentence(SPRAY)
    assert (
        "Refused logins: client 10.1.20.17 on shop-db-1, 5 users when the rule matched, matched once" in said
    )
    assert "mallory" not in said
    for other in ({"entity": {"user": "mallory"}}, {"facts": {"counted": "table"}}):
        assert "user mallory from 10.1.20.17" in details.sentence({**SPRAY, **other})


@pytest.mark.parametrize(
    ("statements", "timed", "sent", "text"),
    [
        (8, 3, 331, "8 statements, at least 331 rows sent, known for 3 of them"),
        (1, 1, 1, "1 statement, 1 row sent"),
        (2, 0, 0, "2 statements, rows sent unknown: no slow query log contains them"),
    ],
)
def test_rows_sent_by_a_session_are_never_more_certain_than_the_logs(statements, timed, sent, text):
    assert tried_accounts.what_it_did({"statements": statements, "timed": timed, "rows_sent": sent}) == text
    assert tried_accounts.what_it_did(None) == "no statement in the logs of this time"


def incident_of(*alerts: dict) -> Incident:
    fields = {"level": "low", "tags": [], "state": "open", "account": "ann", "client": "", "instance": "db1"}
    fields |= {"began": NOON, "event_time": NOON, "assignee": ""}
    return Incident([{**fields, "id": f"{number:032}", **each} for number, each in enumerate(alerts)])


@pytest.mark.parametrize(
    ("levels", "shown"),
    [
        (["low"], "R0"),
        (["low", "low"], "R0, R1"),
        (["low", "medium", "low", "critical", "medium"], "R3, R1 and 3 more"),
    ],
)
def test_the_list_of_incidents_names_their_most_severe_rules(levels, shown):
    found = incident_of(*({"rule_title": f"R{number}", "level": each} for number, each in enumerate(levels)))
    row = incidents.row(found)
    assert row["first_rules"] == shown
    assert row["rules"] == ", ".join(f"R{number}" for number in range(len(levels)))


def test_two_rules_of_an_incident_have_room_in_a_window_of_1440_pixels():
    """A character 0 has 7.8 pixels; cells and page have 16 and 48 pixels around them (static/pages.css)."""
    taken = sum(7.8 * column.width + 16 for column in incidents.COLUMNS if column.width)
    assert 1440 - 48 - (7.8 * 4 + 16) - taken >= 240


def test_an_incident_leads_to_its_only_user_and_its_only_client():
    alerts = ({"rule_title": "R", "client": client} for client in ("10.0.0.8", "10.0.0.9"))
    found = incident_of(*alerts)
    linked = {column.key: column.link for column in incidents.COLUMNS if column.link}
    assert linked["first_rules"] == linked["ended"] == "address"
    row = incidents.row(found, has_entities=True)
    assert row[linked["first_users"]].startswith("/tailrace/entities/user/ann/?from=2026-03-01T11%3A00")
    assert row[linked["clients"]] == "", "two clients have two pages"
    assert incidents.row(found)[linked["first_users"]] == "", "the viewer has no pages of users"


@pytest.mark.parametrize(
    ("assignees", "shown"),
    [
        (["", ""], "nobody"),
        (["ann", "ann"], "ann"),
        (["", "ann"], "ann (1 of 2 alerts)"),
        (["ben", "ann", ""], "ann, ben (2 of 3 alerts)"),
    ],
)
def test_an_incident_says_to_whom_its_alerts_are_assigned(assignees, shown):
    found = incident_of(*({"rule_title": "R", "assignee": each} for each in assignees))
    assert incidents.row(found)["assigned"] == shown
    assert dict(incidents.facts(found, False))["Assigned to"] == [(shown, "")]
    assert incidents.row(found)["seconds"] == 0
    assert incidents.row(found)["handled"] == f"open, {shown}"
    assert "handled" in [column.key for column in incidents.COLUMNS]
    assert {"state", "assigned"} <= {column.key for column in incidents.CSV_COLUMNS}


@pytest.mark.parametrize(
    ("assignees", "ann", "ben", "nobody"),
    [(["", ""], False, False, True), (["", "ann"], True, False, False), (["ben", "ann"], True, True, False)],
)
def test_an_incident_is_assigned_to_whom_one_of_its_alerts_is_assigned(assignees, ann, ben, nobody):
    found = incident_of(*({"rule_title": "R", "assignee": each} for each in assignees))
    assert [incidents.is_assigned(found, name) for name in ("ann", "ben", "")] == [ann, ben, nobody]


def test_an_incident_leads_to_the_sessions_that_its_client_entered():
    session = {
        "title": "Session 7 on db1",
        "address": "/tailrace/sessions/shop/db1/7/",
        "did": "2 statements",
    }
    tried = {"client": "10.0.0.9", "sentence": "It tried.", "accounts": [("ann", "")], "further": 0}
    tried |= {"entered": [("ann", "")] * 2, "sessions": [session], "sessions_until": NOON}
    frame = jinja2.DictLoader({"tailrace_pages/base.html": "{% block content %}{% endblock %}"})
    loader = jinja2.ChoiceLoader([frame, jinja2.PackageLoader("tailrace_pages")])
    environment = jinja2.Environment(loader=loader, autoescape=True)
    environment.globals.update(formats=formats, link=lambda name, **_: name, least_width=lambda _: 0)
    given = {"incident": {"level": "high", "incident": "0" * 32}, "tried": [tried], "facts": [], "shown": 10}
    done = {
        "at": NOON,
        "actor": "ann",
        "what": "assigned to ann",
        "detail": "hers",
        "of": "all 9",
        "total": 1,
    }
    given |= {"history": [{**done, "of": "all 9"}], "history_columns": incidents.HISTORY}
    page = environment.get_template("tailrace_pages/alerts/incident.html")
    shown = page.render(**given, changed=lambda **_: "", columns=[], rows=[])
    words = " ".join(shown.split())
    assert "The first 1 of these sessions until 2026-03-01 12:00:00 UTC" in words
    assert '<a href="/tailrace/sessions/shop/db1/7/">Session 7 on db1</a>: 2 statements' in words
    for text in ("Actions on its alerts", "Oldest first", "assigned to ann", "hers", "all 9"):
        assert text in words


@pytest.mark.parametrize("columns", [incidents.COLUMNS, incidents.ALERTS, incidents.HISTORY])
def test_the_titles_of_rules_have_room_in_a_window_of_1440_pixels(columns):
    """It has about 158 characters, and the column without a width gets what the others leave."""
    assert 158 - sum(column.width for column in columns) - 4 >= 24
