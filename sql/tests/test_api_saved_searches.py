"""Saved searches and schedules over REST: what is stored, and what each owner, role and scope sees of it."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from api_harness import NOW, Api, bearer, running, saved_search, store_saved_search

from tailrace.api import tokens
from tailrace.search.scheduled import saved
from tailrace.search.scheduled.library import MOST
from tailrace.search.scheduled.saved import Schedule

HOURLY = Schedule(timedelta(hours=1), ["siem"])
READ, WRITE, SCHEDULE = "saved_searches:read", "saved_searches:write", "schedules:write"
PATH = "/saved-searches"


@pytest.fixture
def api(admin, server) -> Iterator[Api]:
    store_saved_search(admin, "security")
    with running(server) as its:
        yield its


def ask(api: Api, method: str, path: str, token: str, body: object = None):
    return api.client.request(method, f"/api/v1{PATH}{path}", json=body, headers=bearer(token))


def names(api: Api, token: str) -> list[str]:
    return [f"{each['owner']}: {each['name']}" for each in api.get(PATH, token).json()["items"]]


def add_run(admin, name: str, outcome: str, events: int = 0) -> None:
    """Stores a run of the owner of tokens, a year after the search was saved."""
    until = int((NOW + timedelta(days=400)).timestamp())
    row: dict[str, Any] = {"owner": "soar", "name": name, "until": until, "since": until - 3600}
    admin.append("tailrace.search_runs", [{**row, "outcome": outcome, "events": events, "channel": "siem"}])


def test_a_search_is_saved_changed_scheduled_and_removed(api, admin):
    token = api.token("security", READ, WRITE, SCHEDULE, "alerts:read", owner="eve")
    response = ask(api, "POST", "", token, {"name": "  refused   logins ", "q": "kind:refused   log:audit"})
    made = response.json()
    assert (response.status_code, made["name"], made["q"]) == (
        201,
        "refused logins",
        "kind:refused log:audit",
    )
    assert (made["owner"], made["schedule"], made["last_run"], made["shared"]) == ("eve", None, None, False)
    path = f"/{made['id']}"
    assert ask(api, "PATCH", path, token, {"shared": True}).json()["shared"]
    wanted = {"every": "2h", "channels": ["siem", "siem"], "min_events": 3}
    found = ask(api, "PUT", f"{path}/schedule", token, wanted).json()["schedule"]
    assert (found["every"], found["channels"], found["min_events"]) == ("2h", ["siem"], 3)
    assert (found["state"], found["paused"]) == ("waiting", False) and found["next_run_at"]
    assert ask(api, "PATCH", path, token, {"q": "kind:failed"}).json()["schedule"] == found
    paused = ask(api, "PUT", f"{path}/schedule", token, {**wanted, "paused": True}).json()["schedule"]
    assert (paused["state"], paused["next_run_at"]) == ("paused", None)
    assert ask(api, "DELETE", f"{path}/schedule", token).status_code == 204
    assert ask(api, "GET", path, token).json()["schedule"] is None
    assert ask(api, "DELETE", path, token).status_code == 204
    assert ask(api, "GET", path, token).status_code == 404 and names(api, token) == []
    assert [each.owner for each in saved.load(admin)] == ["soar"], "nothing of another owner was changed"


def test_an_owner_sees_own_searches_and_those_shared_in_the_role(api, admin):
    for role, owner, shared in (
        ("security", "eve", False),
        ("security", "bob", True),
        ("security", "ann", False),
        ("compliance", "zoe", True),
        ("developer", "eve", True),
    ):
        saved.store(admin, saved_search(role, f"of {role}", owner, shared=shared))
    seen = {
        ("security", "eve"): ["eve: of security", "bob: of security"],
        ("security", "bob"): ["bob: of security"],
        ("compliance", "eve"): ["zoe: of compliance"],
        ("developer", "eve"): ["eve: of developer"],
        ("developer", "zoe"): ["eve: of developer"],
    }
    for (role, owner), expected in seen.items():
        token = api.token(role, READ, owner=owner)
        assert names(api, token) == expected, (role, owner)
        for row in saved.load(admin):
            is_seen = f"{row.owner}: {row.name}" in expected
            assert ask(api, "GET", f"/{row.id}", token).status_code == (200 if is_seen else 404)


def test_only_the_owner_changes_a_shared_search(api, admin):
    saved.store(admin, saved_search("security", "hers", "bob", shared=True, schedule=HOURLY))
    path = f"/{saved_search('security', 'hers', 'bob').id}"
    reads = api.token("security", READ, WRITE, SCHEDULE, "alerts:read", owner="eve")
    blind = api.token("security", WRITE, SCHEDULE, "alerts:read", owner="eve")
    requests = (
        ("PATCH", path, {"shared": False}),
        ("DELETE", path, None),
        ("PUT", f"{path}/schedule", {"every": "1h", "channels": ["siem"]}),
        ("DELETE", f"{path}/schedule", None),
    )
    for method, at, body in requests:
        refused = ask(api, method, at, reads, body)
        assert (refused.status_code, "belongs to bob" in refused.json()["detail"]) == (403, True), method
        unseen = ask(api, method, at, blind, body)
        assert (unseen.status_code, "bob" in unseen.text) == (404, False), method
    assert [each.name for each in saved.load(admin) if each.schedule] == ["hers"]


IMPOSSIBLE = (
    ({"name": "a\u2028b\x01", "q": "x"}, "control characters"),
    ({"name": "a\u200bb", "q": "x"}, "printable characters"),
    ({"name": "x" * 61, "q": "x"}, "1 to 60"),
    ({"name": " ", "q": "x"}, "1 to 60"),
    ({"name": "n", "q": "usr:x"}, "did you mean 'user'"),
    ({"name": "n", "q": "x", "owner": "root"}, "body.owner"),
)
UNSCHEDULABLE = (
    ({"every": "1m", "channels": ["siem"]}, "from 5 minutes to 31 days"),
    ({"every": "soon", "channels": ["siem"]}, "a span such as 30s"),
    ({"every": "1h", "channels": []}, "1 to 10 channels"),
    (
        {"every": "1h", "channels": ["siem", "x"]},
        "no channel 'x'; the channels of the delivery are",
    ),
    ({"every": "1h", "channels": ["siem"], "min_events": -1}, "from 0 to"),
)
"""Bodies, and a part of what is wrong with each."""


def test_what_cannot_be_saved_or_scheduled_is_refused(api, admin):
    token = api.token("security", WRITE, SCHEDULE)
    path = f"/{saved_search('security').id}/schedule"
    requests = [("POST", "", *each) for each in IMPOSSIBLE] + [("PUT", path, *each) for each in UNSCHEDULABLE]
    for method, at, body, said in requests:
        refused = ask(api, method, at, token, body)
        assert (refused.status_code, said in refused.json()["detail"]) == (400, True), refused.text
    (stored,) = saved.load(admin)
    assert stored.schedule is None


def test_a_name_is_taken_once_and_there_is_a_limit(api, admin):
    token, reader = api.token("security", WRITE), api.token("security", READ)
    assert ask(api, "POST", "", token, {"name": "hourly", "q": "x"}).status_code == 409
    row = {"owner": "soar", "action": "save", "role": "security", "search": "x"}
    admin.append("tailrace.scheduled_searches", [{**row, "name": f"n{each}"} for each in range(MOST - 1)])
    refused = ask(api, "POST", "", token, {"name": "one more", "q": "x"})
    assert (refused.status_code, "50 saved searches" in refused.json()["detail"]) == (400, True)
    pages = list(api.pages(PATH, reader, limit=20))
    found = [each["name"] for items in pages for each in items]
    assert [len(items) for items in pages] == [20, 20, 10] and sorted(set(found)) == found
    cursor = api.get(PATH, reader, limit=20).json()["next_cursor"]
    assert api.get(PATH, api.token("security", READ, owner="eve"), cursor=cursor).status_code == 400


def test_a_role_saves_only_what_it_may_run(api):
    token = api.token("developer", WRITE, owner="dev")
    for text in ("log:audit", "class:pci", "rule:x", "around:" + "0" * 32):
        refused = ask(api, "POST", "", token, {"name": "n", "q": text})
        said = "developers does not have" in refused.json()["detail"]
        assert (refused.status_code, said) == (403, True), text


def test_no_token_schedules_alerts_that_it_may_not_read(api):
    """A run reads as the role: it would send alerts to a channel, and count them."""
    without = api.token("security", READ, WRITE, SCHEDULE, "search:read")
    refused = ask(api, "POST", "", without, {"name": "n", "q": "log:alert"})
    assert (refused.status_code, "lacks the scope alerts:read" in refused.json()["detail"]) == (403, True)
    path = f"/{ask(api, 'POST', '', without, {'name': 'all', 'q': 'user:etl'}).json()['id']}"
    schedule = {"every": "1h", "channels": ["siem"]}
    assert ask(api, "PUT", f"{path}/schedule", without, schedule).status_code == 403
    assert ask(api, "PATCH", path, without, {"q": "log:slow user:etl"}).status_code == 200
    assert ask(api, "PUT", f"{path}/schedule", without, schedule).status_code == 200
    assert ask(api, "PATCH", path, without, {"q": "user:etl"}).status_code == 403, "it has a schedule now"
    unscheduled = api.token("security", WRITE, "alerts:read")
    assert ask(api, "PATCH", path, unscheduled, {"q": "log:slow"}).status_code == 403


def test_the_number_of_events_needs_the_scopes_of_the_search(api, admin):
    for name, text in (("slow", "log:slow"), ("all", "user:etl")):
        saved.store(admin, saved_search("security", name, search=text, schedule=HOURLY))
        add_run(admin, name, "delivered", 7)
    add_run(admin, "hourly", "error")
    expected = {
        (READ,): {"slow": None, "all": None},
        (READ, "alerts:read"): {"slow": None, "all": None},
        (READ, "search:read"): {"slow": 7, "all": None},
        (READ, "search:read", "alerts:read"): {"slow": 7, "all": 7},
    }
    for scopes, events in expected.items():
        items = api.get(PATH, api.token("security", *scopes)).json()["items"]
        runs = {each["name"]: each["last_run"] for each in items}
        assert {name: runs[name]["events"] for name in events} == events, scopes
        assert (runs["slow"]["outcome"], runs["hourly"]["outcome"]) == ("delivered", "error")
        assert runs["hourly"]["events"] is None, "an unknown number is not 0"


def test_each_scope_permits_its_routes_only(api, admin):
    id_ = saved_search("security").id
    requests = {
        ("GET", "", READ): None,
        ("GET", f"/{id_}", READ): None,
        ("POST", "", WRITE): {"name": "n", "q": "log:slow"},
        ("PUT", f"/{id_}/schedule", SCHEDULE): {"every": "1h", "channels": ["siem"]},
        ("DELETE", f"/{id_}/schedule", SCHEDULE): None,
        ("PATCH", f"/{id_}", WRITE): {"shared": True},
        ("DELETE", f"/{id_}", WRITE): None,
    }
    for scope in sorted(tokens.SCOPES):
        token = api.token("security", scope)
        for (method, path, needed), body in requests.items():
            response = ask(api, method, path, token, body)
            assert (response.status_code < 300) == (scope == needed), (scope, method, path, response.text)
            if scope != needed:
                assert f"lacks the scope {needed}" in response.json()["detail"]
        store_saved_search(admin, "security")


def test_an_id_that_is_none_is_refused(api):
    token = api.token("security", READ)
    assert ask(api, "GET", f"/{uuid.uuid4().hex}", token).status_code == 404
    assert ask(api, "GET", "/x", token).status_code == 400
