"""The REST API: every route for every role and token, lists while rows arrive, hostile values."""

import itertools
import json
import uuid
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache

import pytest
from api_harness import (
    ALERT,
    HOUR,
    IT,
    LISTS,
    NEW_PLAN,
    NOW,
    OLD_PLAN,
    PROBLEM,
    RANGE,
    Api,
    bearer,
    insert_everything,
    running,
    saved_search,
    statement,
    store_saved_search,
)
from client_forms import CLIENTS
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from tailrace.api import tokens
from tailrace.api.application import application
from tailrace.api.problems import URN
from tailrace.config.resources import REPOSITORY

DOCUMENT = application(None).openapi()
OPERATIONS = {
    operation["operationId"]: (method, path.removeprefix("/api/v1"), operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}
QUERY = {"query_id": f"{IT:016X}"}
SEARCH = {"search_id": saved_search("developer").id}
EXPORT = {"export_id": "0" * 32}
NO_EVIDENCE = 503
"""Without an evidence service, which test_api_records.py starts."""
REQUESTS: dict[str, tuple[dict, dict, object, int]] = {
    "list_statement_events": ({}, RANGE, None, 200),
    "list_audit_events": ({}, RANGE, None, 200),
    "list_error_events": ({}, RANGE, None, 200),
    "list_access_events": ({}, RANGE, None, 200),
    "search_events": ({}, {"q": "last:90d"}, None, 200),
    "summarize_search": ({}, {"q": "last:90d | count"}, None, 200),
    "list_saved_searches": ({}, {}, None, 200),
    "save_search": ({}, {}, {"name": "new", "q": "log:slow"}, 201),
    "read_saved_search": (SEARCH, {}, None, 200),
    "change_saved_search": (SEARCH, {}, {"shared": True}, 200),
    "remove_saved_search": (SEARCH, {}, None, 204),
    "schedule_search": (SEARCH, {}, {"every": "1h", "channels": ["siem"]}, 200),
    "unschedule_search": (SEARCH, {}, None, 204),
    "list_alerts": ({}, RANGE, None, 200),
    "read_alert": ({"alert_id": ALERT.replace("-", "")}, {}, None, 200),
    "act_on_alert": ({"alert_id": ALERT.replace("-", "")}, {}, {"action": "comment", "reason": "seen"}, 200),
    "list_heaviest_queries": ({}, RANGE, None, 200),
    "read_query": (QUERY, RANGE, None, 200),
    "list_plans": (QUERY, RANGE, None, 200),
    "compare_plans": (QUERY, {**RANGE, "old": OLD_PLAN, "new": NEW_PLAN}, None, 200),
    "read_ledger": ({}, {"instance": "db9"}, None, 200),
    "read_coverage": ({}, RANGE, None, 200),
    "list_exports": ({}, {}, None, NO_EVIDENCE),
    "start_export": ({}, {}, {"framework": "pci", **RANGE}, NO_EVIDENCE),
    "read_export": (EXPORT, {}, None, NO_EVIDENCE),
    "download_bundle": (EXPORT, {}, None, NO_EVIDENCE),
    "read_token": ({}, {}, None, 200),
}
"""By operation: values in the path, parameters, body, and the status for a token that permits it."""
IPS = {"::ffff:10.0.3.9": "10.0.3.9", "2001:DB8:0::7": "2001:db8::7"}
"""Addresses in the form of the columns client_ip."""
NOT_READ = {("developer", "list_audit_events"), ("developer", "list_access_events")}
"""What ClickHouse refuses to the account of a role although the token has the scope."""


@pytest.fixture
def api(admin, server) -> Iterator[Api]:
    with running(server) as its:
        yield its


def send(api: Api, operation: str, headers: dict[str, str], **more):
    method, path, _ = OPERATIONS[operation]
    places, parameters, body, _ = REQUESTS[operation]
    given = {"params": {**parameters, **more}, "headers": headers}
    return api.client.request(method, "/api/v1" + path.format(**places), json=body, **given)


def check_schema(response, operation: dict) -> None:
    """Checks a response against the schema that the document states for its status."""
    described = operation["responses"][str(response.status_code)]
    if response.status_code == 204:
        assert not response.content and "content" not in described
        return
    described = described["content"]
    kind = response.headers["content-type"]
    assert kind in described, (kind, response.status_code)
    _validator(json.dumps(described[kind]["schema"])).validate(response.json())
    if response.status_code >= 400:
        assert kind == PROBLEM
        assert response.json()["status"] == response.status_code
        assert response.json()["type"].startswith(URN)


@cache
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator({**json.loads(schema), "components": DOCUMENT["components"]})


def test_the_document_is_valid_and_committed():
    validate(DOCUMENT)
    committed = REPOSITORY / "docs" / "openapi.json"
    assert json.loads(committed.read_text()) == DOCUMENT, "run: make api-reference"


def test_every_route_has_a_test_request():
    assert REQUESTS.keys() == OPERATIONS.keys(), "add the request of each operation to REQUESTS"


def test_no_route_answers_without_a_known_token(api):
    for name, (_, _, operation) in OPERATIONS.items():
        for token in (None, "", "x" * 52, tokens.PREFIX + "x" * 43):
            response = send(api, name, bearer(token))
            assert response.status_code == 401, (name, token)
            assert response.headers["www-authenticate"].startswith("Bearer")
            check_schema(response, operation)


@pytest.mark.parametrize("role", tokens.ROLES)
def test_every_route_for_each_role(api, admin, role):
    """Generated from the document: a token without the scope, and one with all scopes."""
    insert_everything(admin)
    right = api.stored_token(role, sorted(tokens.SCOPES))
    others = {scope: api.token(role, scope) for scope in ("search:read", "queries:read")}
    for name, (_, _, operation) in OPERATIONS.items():
        (scope,) = operation["security"][0]["token"] or ("",)
        if scope:
            other = others["queries:read" if scope == "search:read" else "search:read"]
            assert_refused(send(api, name, bearer(other)), 403, scope, operation)
        store_saved_search(admin, role)  # again, because a request before may have removed it
        response = send(api, name, bearer(right))
        permitted = (not scope or scope in tokens.scopes_of(role)) and (role, name) not in NOT_READ
        assert response.status_code == (REQUESTS[name][3] if permitted else 403), (name, response.text)
        check_schema(response, operation)


def test_no_route_answers_a_token_that_is_over(api, admin):
    expired, revoked = api.token(days=1), api.token()
    tokens.revoke(admin, tokens.find(api.services.accounts.service(), revoked).id.hex, "ann", "test")
    for name, (_, _, operation) in OPERATIONS.items():
        assert_refused(send(api, name, bearer(revoked)), 401, "revoked", operation)
    api.clock.now += timedelta(days=2)
    for name, (_, _, operation) in OPERATIONS.items():
        assert_refused(send(api, name, bearer(expired)), 401, "expired", operation)


def assert_refused(response, status: int, reason: str, operation: dict) -> None:
    assert response.status_code == status
    assert reason in response.json()["detail"]
    check_schema(response, operation)


def test_responses_contain_what_is_stored(api, admin):
    insert_everything(admin)
    token = api.token()
    (first,) = api.get("/events/statements", token, instance="db1", **RANGE).json()["items"]
    assert first["statement"] == "select id from cards where id = ?"
    assert (first["query_id"], first["query_time"], first["tables_read"]) == (
        f"{IT:016X}",
        0.25,
        ["shop.cards"],
    )
    assert first["event_time"] == f"{NOW:%Y-%m-%dT%H:%M:%S}Z"
    (heaviest,) = api.get("/queries", token, instance="db1", **RANGE).json()["items"]
    assert (heaviest["query_id"], heaviest["share"], heaviest["p95_before"]) == (f"{IT:016X}", 1, None)
    one = api.get(f"/queries/{IT:016x}", token, **RANGE).json()
    assert (one["now"]["executions"], one["before"], one["is_comparable"]) == (1, None, False)
    steps = api.get(
        f"/queries/{IT:016X}/plans/difference", token, old=OLD_PLAN, new=NEW_PLAN, **RANGE
    ).json()["steps"]
    assert [step["change"] for step in steps] == ["same", "removed", "added"]
    assert api.get("/queries/00000000000000FF", token).status_code == 404
    ledger = api.get("/ledger", token, instance="db9").json()
    assert (ledger["balances"], ledger["files"][0]["events"]) == (True, 3)
    stored = api.stored_token("developer", ["books:read"])
    assert api.get("/books", stored, instance="db9").json()["files"] == ledger["files"], "the old names"
    states = Counter(each["state"] for each in api.get("/coverage", token, **RANGE).json()["items"])
    assert states["unknown"] and states["covered"]


def test_a_list_has_every_row_once_while_rows_arrive(api, admin):
    """Many rows have the same time and the same id. New ones arrive before and behind the place of the
    reader."""
    token = api.token()
    for operation, (table, row) in LISTS.items():
        path = OPERATIONS[operation][1]
        number = "alert_id" if table == "alerts" else "event_id"
        stored = [row(each, NOW - timedelta(minutes=each // 6)) for each in range(1, 24)]
        if table not in ("alerts", "data_access"):
            stored += [row(7, NOW - timedelta(minutes=1), generation=each) for each in (2, 3, 4)]
        admin.insert(f"tailrace.{table}", stored)
        seen: Counter[str] = Counter()
        for turn, items in enumerate(api.pages(path, token, limit=7, **RANGE)):
            seen.update(item["id"].replace("-", "") for item in items)
            if turn == 1:
                arrived = [(1001, NOW + timedelta(minutes=1)), (1002, NOW - timedelta(minutes=30))]
                admin.insert(f"tailrace.{table}", [row(each, at) for each, at in arrived])
        wanted = Counter(each[number].replace("-", "") for each in stored)
        new = {each for each in seen if int(each, 16) >= 1000}
        assert {each: count for each, count in seen.items() if each not in new} == wanted, operation
        assert {int(each, 16): seen[each] for each in new} == {1002: 1}, operation


def test_the_filter_on_a_client_finds_each_form_of_its_address(api, admin):
    token = api.token()
    for operation in ("list_statement_events", "list_audit_events", "list_error_events"):
        table, row = LISTS[operation]
        admin.insert(f"tailrace.{table}", [row(n, **columns) for n, (columns, *_) in enumerate(CLIENTS)])
        for client in ("10.0.3.9", "::ffff:10.0.3.9", "2001:DB8:0::7", "web1", "localhost"):
            items = api.get(OPERATIONS[operation][1], token, client=client, **RANGE).json()["items"]
            found = {uuid.UUID(item["id"]).int: (item["ip"], item["host"]) for item in items}
            one = IPS.get(client, client)
            wanted = {n: (ip, host) for n, (_, ip, host) in enumerate(CLIENTS) if one in (ip, host)}
            assert found == wanted and wanted, (operation, client)
    admin.insert("tailrace.data_access", [LISTS["list_access_events"][1](1, src_ip="10.0.3.9")])
    (access,) = api.get("/events/access", token, client="::ffff:10.0.3.9", **RANGE).json()["items"]
    assert access["ip"] == "10.0.3.9"


def test_a_search_has_every_event_once_and_a_pipe_counts_them(api, admin):
    admin.insert("tailrace.query_events", [statement(each, NOW - each * HOUR) for each in range(1, 24)])
    token = api.token("developer", "search:read")
    pages = list(api.pages("/search", token, q="instance:db1 last:90d", limit=5))
    times = [event["time"] for items in pages for event in items]
    assert (len(pages), len(times), len(set(times))) == (5, 23, 23)
    assert times == sorted(times, reverse=True)
    assert (pages[0][0]["query"], pages[0][0]["text"]) == (f"{IT:016X}", None)
    top = api.get("/search/summary", token, q="last:90d | top instance").json()
    assert top["items"] == [{"value": "db1", "events": 23}]
    for path, text in (
        ("/search", "last:90d | count"),
        ("/search/summary", "last:90d"),
        ("/search", "usr:x"),
    ):
        response = api.get(path, token, q=text)
        assert (response.status_code, response.json()["type"]) == (400, URN + "invalid-request")
    assert "did you mean 'user'" in response.json()["detail"]
    assert "audit_events" in api.get("/search", token, q="log:audit").json()["detail"]


def test_a_forged_cursor_is_refused(api, admin):
    admin.insert("tailrace.query_events", [statement(each) for each in range(1, 9)])
    security, developer = api.token(), api.token("developer")
    cursor = api.get("/events/statements", security, limit=3, **RANGE).json()["next_cursor"]
    assert api.get("/events/statements", security, limit=5, cursor=cursor, **RANGE).status_code == 200
    other = "B" if cursor[30] == "A" else "A"
    forged = [cursor[:30] + other + cursor[31:], cursor[:-2], "x", "%%%", "é", cursor + "AAAA", "AAAA" * 20]
    for each in forged:
        response = api.get("/events/statements", security, limit=3, cursor=each, **RANGE)
        assert (response.status_code, response.json()["type"]) == (400, URN + "invalid-cursor"), each
    for token, path, more in (
        (security, "/events/statements", {"instance": "db2"}),
        (security, "/events/audit", {}),
        (developer, "/events/statements", {}),
    ):
        response = api.get(path, token, cursor=cursor, **RANGE, **more)
        assert response.json()["type"] == URN + "invalid-cursor"


HOSTILE = (
    *("' OR 1=1 --", "\\", "\\'", "{user:String}", "a\tb", "x\r\nSet-Cookie: a=b", "\0", "é" * 301),
    *(
        "../../../etc/passwd",
        "%2e%2e%2f",
        "{{ 1 + 1 }}",
        "SELECT * FROM tailrace.query_samples",
        "'; DROP TABLE x",
    ),
)


def test_hostile_values_are_values(api, admin):
    """Every text parameter of every operation gets one of the values: it is refused, or finds nothing."""
    insert_everything(admin)
    token, values = api.token(), itertools.cycle(HOSTILE)
    for name, (_, _, operation) in OPERATIONS.items():
        for parameter in filter(is_text, operation.get("parameters", ())):
            more = {"field": "user"} if parameter["name"] == "value" else {}
            value = next(values)
            response = send(api, name, bearer(token), **{parameter["name"]: value, **more})
            assert response.status_code in (200, 400, 404), (name, parameter["name"], value)
            assert "set-cookie" not in response.headers
            found = response.json()
            rows = found.get("items", found.get("files", found.get("servers")))
            assert response.status_code != 200 or not rows, (name, parameter["name"], value)


def is_text(parameter: dict) -> bool:
    is_in_query = parameter["in"] == "query" and parameter["schema"].get("type") == "string"
    return is_in_query and parameter["name"] != "field"


def test_a_hostile_name_is_found_exactly(api, admin):
    name = "o'bri\\en {user:String} \\'"
    admin.insert("tailrace.query_events", [statement(1, user=name), statement(2)])
    (found,) = api.get("/events/statements", api.token(), user=name, **RANGE).json()["items"]
    assert found["user"] == name


HOSTILE_PATHS = (
    *("/alerts/..%2f..%2fetc%2fpasswd", "/queries/0%27%20OR%201=1", "/evidence/..%2f..%2fx/bundle"),
    *("/../../etc/passwd", "/alerts/%00", "/queries/FFFFFFFFFFFFFFFFF", "//alerts"),
)


def test_hostile_paths_are_refused(api):
    token = api.token()
    for path in HOSTILE_PATHS:
        response = api.get(path, token)
        assert response.status_code in (400, 404), path
        assert response.headers["content-type"] == PROBLEM


INVALID = [
    ("/events/statements", {"instanse": "db1"}, "query.instanse"),
    ("/events/statements", {"limit": "0"}, "query.limit"),
    ("/events/statements", {"limit": "1001"}, "query.limit"),
    ("/events/statements", {"from": "yesterday"}, "query.from"),
    ("/events/statements", {"from": "1999-01-01T00:00:00Z"}, "query.from"),
    ("/events/statements", {"min_seconds": "nan"}, "query.min_seconds"),
    ("/alerts", {"state": "lost"}, "query.state"),
    ("/alerts", {"field": "user"}, "query"),
    ("/alerts/xyz", {}, "path.alert_id"),
]
"""Path, parameters, and the part of the request that is invalid."""


def test_an_invalid_request_names_its_part(api):
    token = api.token()
    for path, parameters, location in INVALID:
        response = api.get(path, token, **parameters)
        assert (response.status_code, response.json()["type"]) == (400, URN + "invalid-request")
        assert location in {each["location"] for each in response.json()["errors"]}


def test_the_rate_of_a_token_and_of_a_guessing_client_is_limited(admin, server):
    with running(server, per_minute=3, failures=2) as api:
        check_limits(api)


def check_limits(api: Api) -> None:
    token, other = api.token(), api.token()
    answers = [api.get("/token", token) for _ in range(4)]
    assert [each.status_code for each in answers] == [200, 200, 200, 429]
    assert [each.headers["ratelimit-remaining"] for each in answers[:3]] == ["2", "1", "0"]
    assert answers[3].headers["retry-after"] == "20"
    assert answers[3].headers["content-type"] == PROBLEM
    assert api.get("/token", other).status_code == 200
    api.clock.seconds += 20
    assert api.get("/token", token).status_code == 200
    guesses = [api.get("/token", "guess").status_code for _ in range(3)]
    assert guesses == [401, 401, 429]
    assert api.get("/token", other).status_code == 200, "a known token suffers from guesses at its address"


def test_a_problem_has_no_text_of_clickhouse(api, admin):
    """A query that needs more than is allowed, and a server that is away."""
    token = api.token()
    admin.insert("tailrace.query_events", [statement(1)])
    admin.execute("ALTER TABLE tailrace.query_events RENAME COLUMN verb TO verb_away")
    try:
        response = api.get("/events/statements", token, **RANGE)
    finally:
        admin.execute("ALTER TABLE tailrace.query_events RENAME COLUMN verb_away TO verb")
    assert (response.status_code, response.json()["type"]) == (503, URN + "unavailable")
    assert "verb" not in response.text


def test_tokens_are_stored_as_hashes_and_never_shown_again(api, admin):
    token = api.token(owner="ci")
    (row,) = admin.rows("SELECT * FROM tailrace.api_token_actions")
    assert row["token_sha256"] == tokens.digest(token)
    assert token not in json.dumps([row, *tokens.listed(admin)])
    assert (row["actor"], row["account"]) == ("ann", "admin")
    assert HOUR * 24 * 29 < tokens.find(admin, token).expires_at - datetime.now(UTC) < HOUR * 24 * 31
