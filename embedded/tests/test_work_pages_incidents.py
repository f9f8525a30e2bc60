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


@pytest.mark.parametrize(("rules", "shown"), [(1, "R0"), (2, "R0, R1"), (5, "R0, R1 and 3 more")])
def test_the_list_of_incidents_names_their_first_rules_as_its_link(rules, shown):
    fields = {"level": "low", "tags": [], "state": "open", "account": "ann", "client": "", "instance": "db1"}
    alerts = [
        {**fields, "id": f"{number:032}", "began": NOON, "event_time": NOON} | {"rule_title": f"R{number}"}
        for number in range(rules)
    ]
    assert incidents.row(Incident(alerts))["first_rules"] == shown
    assert [column.key for column in incidents.COLUMNS if column.link] == ["first_rules"]


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
    page = environment.get_template("tailrace_pages/alerts/incident.html")
    shown = page.render(**given, changed=lambda **_: "", columns=[], rows=[])
    words = " ".join(shown.split())
    assert "The first 1 of these sessions until 2026-03-01 12:00:00 UTC" in words
    assert '<a href="/tailrace/sessions/shop/db1/7/">Session 7 on db1</a>: 2 statements' in words
