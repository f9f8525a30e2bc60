"""The REST API: actions on alerts, exports of evidence, and the record of each request."""

import uuid
from collections.abc import Iterator

import pytest
from api_harness import ALERT, PROBLEM, RANGE, Api, insert_everything, raised, running, wait_until
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tailrace.api import tokens
from tailrace.api.problems import URN
from tailrace.evidence.service.exports import Exports
from tailrace.evidence.service.server import Service


@pytest.fixture
def api(admin, server) -> Iterator[Api]:
    with running(server) as its:
        yield its


def test_actions_are_those_of_the_owner_of_the_token(api, admin):
    admin.insert("tailrace.alerts", [raised(0xA1, alert_id=ALERT)])
    token, path = api.token(owner="soar-1"), f"/alerts/{ALERT.replace('-', '')}/actions"
    states = [
        api.post(path, token, {"reason": "why", **body}).json()["state"]
        for body in (
            {"action": "ack"},
            {"action": "assign", "assignee": "erin"},
            {"action": "comment"},
            {"action": "close", "verdict": "benign"},
        )
    ]
    assert states == ["acknowledged", "acknowledged", "acknowledged", "closed"]
    again = api.post(path, token, {"action": "close", "reason": "again"})
    assert (again.status_code, again.json()["type"]) == (409, URN + "conflict")
    assert api.post(path, token, {"action": "reopen", "reason": "new facts"}).json()["state"] == "open"
    rows = admin.rows("SELECT actor, account, action FROM tailrace.alert_actions ORDER BY at")
    assert {(row["actor"], row["account"]) for row in rows} == {("soar-1", "analyst")}
    assert [row["action"] for row in rows] == ["ack", "assign", "comment", "close", "reopen"]
    actions = api.get(path.removesuffix("/actions"), token).json()["actions"]
    assert [each["action"] for each in actions] == [row["action"] for row in rows]


IMPOSSIBLE = [
    ({"action": "delete", "reason": "x"}, 400),
    ({"action": "ack", "reason": " "}, 400),
    ({"action": "ack"}, 400),
    ({"action": "ack", "reason": "x" * 2001}, 400),
    ({"action": "assign", "reason": "x"}, 400),
    ({"action": "ack", "reason": "x", "verdict": "benign"}, 400),
    ({"action": "ack", "reason": "x", "actor": "somebody else"}, 400),
    ({"action": "ack", "reason": "x" * 70_000}, 413),
    ({"action": "ack", "reason": "there is no such alert"}, 404),
]
"""Bodies of actions, and the status of the response."""


def test_an_action_that_cannot_be_recorded_is_refused(api, admin):
    token = api.token()
    for body, status in IMPOSSIBLE:
        response = api.post(f"/alerts/{uuid.UUID(int=5).hex}/actions", token, body)
        assert (response.status_code, response.headers["content-type"]) == (status, PROBLEM), body
    assert admin.rows("SELECT 1 AS one FROM tailrace.alert_actions") == []


def test_every_request_with_a_token_is_recorded(api, admin):
    insert_everything(admin)
    token = api.token("developer", "events:read", owner="grafana")
    api.get("/events/statements", token, instance="db1", **RANGE)
    api.get("/alerts", token)
    api.get("/alerts", "unknown")
    rows = admin.rows("SELECT * FROM tailrace.api_requests ORDER BY at")
    assert [(row["operation"], row["status"], row["rows"]) for row in rows] == [
        ("list_statement_events", 200, 1),
        ("list_alerts", 403, 0),
    ]
    assert {(row["owner"], row["role"], row["account"]) for row in rows} == {("grafana", "developer", "api")}
    assert rows[0]["target"].startswith("/api/v1/events/statements?instance=db1")
    (listed,) = tokens.listed(admin)
    assert (listed["requests"], listed["last_used_at"][:10]) == (2, rows[0]["at"][:10])


def test_a_request_that_cannot_be_recorded_is_not_answered(api, admin):
    insert_everything(admin)
    token = api.token()
    admin.execute("ALTER TABLE tailrace.api_requests ADD CONSTRAINT refused CHECK status = 0")
    try:
        response = api.get("/events/statements", token, **RANGE)
    finally:
        admin.execute("ALTER TABLE tailrace.api_requests DROP CONSTRAINT refused")
    assert (response.status_code, response.headers["content-type"]) == (503, PROBLEM)
    assert "items" not in response.json()


def test_evidence_is_exported_under_the_owner_of_the_token(admin, server, tmp_path):
    """Through the evidence service: start, state, bundle, and the record of the export."""
    key = Ed25519PrivateKey.generate()
    exports = Exports(tmp_path / "exports", server.user("auditor"), key, print)
    service = Service(server.user("auditor"), key, exports, tmp_path / "access.yaml", tmp_path)
    with running(server, evidence_socket=tmp_path / "evidence.sock") as api, api.serving(service):
        token, wanted = api.token("compliance", owner="auditor-1"), {"framework": "pci", **RANGE}
        assert api.post("/evidence", token, {**wanted, "framework": "../pci"}).status_code == 400
        started = api.post("/evidence", token, wanted)
        assert started.status_code == 202, started.text
        path = f"/evidence/{started.json()['id']}"
        state = wait_until(
            lambda: api.get(path, token).json(), lambda its: its["state"] in ("done", "failed")
        )
        assert (state["state"], state["actor"]) == ("done", "auditor-1"), state
        bundle = api.get(f"{path}/bundle", token)
        assert (bundle.headers["content-type"], len(bundle.content)) == ("application/zip", state["bytes"])
        assert [each["id"] for each in api.get("/evidence", token).json()["items"]] == [state["id"]]
        missing = api.get(f"/evidence/{'0' * 32}", token)
        assert (missing.status_code, missing.headers["content-type"]) == (404, PROBLEM)
    (row,) = admin.rows("SELECT actor, manifest_sha256 FROM tailrace.evidence_exports")
    assert row == {"actor": "auditor-1", "manifest_sha256": state["manifest_sha256"]}
