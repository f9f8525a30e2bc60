"""The search over REST and MCP by scope: alerts need alerts:read, for each role and way to ask for them."""

from collections.abc import Iterator

import pytest
from api_harness import ALERT, Api, audit, bearer, insert_everything, running

from tailrace.api import tokens

COUNT = "last:90d | count"
OF_ALERTS = ("log:alert last:90d", "kind:alert last:90d", "rule:Dump* last:90d", f"around:{ALERT}")
"""Searches that ask for alerts."""
LACKING = "the token lacks the scope alerts:read"


@pytest.fixture
def api(admin, server) -> Iterator[Api]:
    insert_everything(admin)
    admin.insert("tailrace.audit_events", [audit(77)])
    with running(server) as its:
        yield its


def counts(api: Api, token: str) -> dict[str, int]:
    found = api.get("/search/summary", token, q=COUNT).json()
    by_log = {row["log"]: row["events"] for row in found["items"]}
    assert set(by_log) <= set(found["logs"]), "the answer names the logs that were searched"
    return by_log


@pytest.mark.parametrize("role", ["compliance", "security"])
def test_a_token_for_searches_alone_finds_no_alert(api, role):
    alone, both = api.token(role, "search:read"), api.token(role, "search:read", "alerts:read")
    seen, whole = counts(api, alone), counts(api, both)
    assert whole.pop("alert") == 2 and "alert" not in seen and seen == whole
    listed = api.get("/search", alone, q="last:90d", limit=1000).json()
    assert {event["log"] for event in listed["items"]} == set(seen) and "alert" not in listed["logs"]
    for text in OF_ALERTS:
        refused = api.get("/search", alone, q=text)
        assert (refused.status_code, LACKING in refused.json()["detail"]) == (403, True), text
        assert api.get("/search", both, q=text).status_code == 200, text
    top = api.get("/search/summary", alone, q="last:90d | top rule")
    assert top.status_code == 403 and LACKING in top.json()["detail"]


def test_a_developer_finds_no_alert_with_any_scope(api):
    """A token with scopes that its role has lost: the role counts."""
    stored = api.stored_token("developer", sorted(tokens.SCOPES))
    assert "alert" not in counts(api, stored) and "audit" not in counts(api, stored)
    for text in OF_ALERTS:
        refused = api.get("/search", stored, q=text)
        assert refused.status_code == 403 and "the role developers does not have" in refused.json()["detail"]


def test_no_other_scope_searches(api):
    for scope in set(tokens.SCOPES) - {"search:read"}:
        refused = api.get("/search", api.token("security", scope), q="last:90d")
        assert refused.status_code == 403 and "lacks the scope search:read" in refused.json()["detail"], scope


def test_a_cursor_of_a_token_with_alerts_is_not_one_of_a_token_without(api):
    alone, both = api.token("security", "search:read"), api.token("security", "search:read", "alerts:read")
    cursor = api.get("/search", both, q="last:90d", limit=1).json()["next_cursor"]
    assert cursor
    refused = api.get("/search", alone, q="last:90d", cursor=cursor)
    assert (refused.status_code, refused.json()["type"]) == (400, "urn:tailrace:problem:invalid-cursor")


def test_the_tool_of_language_models_has_the_same_limits(api):
    alone = api.token("security", "search:read")
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}

    def result(token: str, q: str) -> dict:
        asked = {**call, "params": {"name": "search", "arguments": {"q": q}}}
        return api.client.post("/mcp", json=asked, headers=bearer(token)).json()["result"]

    found = result(alone, COUNT)["structuredContent"]
    assert "alert" not in {row.get("log") for row in found["items"]}
    assert "alerts" not in found["provenance"]["tables"]
    refused = result(alone, OF_ALERTS[0])
    assert refused["isError"] and LACKING in refused["content"][0]["text"]
    whole = result(api.token("security", "search:read", "alerts:read"), COUNT)["structuredContent"]
    assert "alerts" in whole["provenance"]["tables"]
