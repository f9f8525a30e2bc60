"""Legal holds over HTTP: the preview, the record under the person's name, and a release by two people."""

import re
from collections.abc import Iterator

import pytest

from dashboards.tests.pages import Visitor, parsed
from dashboards.tests.pages_data import HOSTILE, SCRIPT
from e2e.stack import Stack
from tailrace.dashboards import roles as dashboard_roles
from tailrace.retention import holds
from tailrace_local.components import superset

pytestmark = pytest.mark.browser

NEW, LIST = "/tailrace/retention/holds/new/", "/tailrace/retention/"
CASE, REASON = f"case of tests {SCRIPT}", HOSTILE[1]
SELECTOR = f"client:'{SCRIPT}' table:none"
"""Of few tables, so that few TTLs change."""
FORM = {"case": CASE, "selector": SELECTOR, "previewed": SELECTOR, "reason": REASON}
SECOND = "second-officer"
PASSWORD = "a password of the tests"


@pytest.fixture(scope="module")
def second(stack: Stack, visitors) -> Visitor:
    """Another compliance officer."""
    admin = superset.Superset(stack.settings, stack.home).client()
    role = dashboard_roles.load()["compliance"].name
    dashboard_roles.ensure_user(admin, SECOND, role, PASSWORD, reset=True)
    return Visitor(admin.url, SECOND, PASSWORD)


@pytest.fixture
def placed(stack: Stack, visitors) -> Iterator[str]:
    """The address of a hold that `compliance` placed after its preview. Its record is deleted afterwards."""
    preview = visitors["compliance"].submit(NEW, {**FORM, "action": "preview"})
    assert "Place the hold as compliance" in text(preview.text) and recorded(stack) == []
    answer = visitors["compliance"].submit(NEW, {**FORM, "action": "place"})
    assert answer.status_code == 303, text(answer.text)
    yield answer.headers["Location"]
    condition = "hold_id IN (SELECT hold_id FROM tailrace.legal_hold_actions WHERE case_name = {case:String})"
    delete = f"ALTER TABLE tailrace.legal_hold_actions DELETE WHERE {condition}"
    stack.clickhouse().execute(delete, {"case": CASE}, mutations_sync=1)


def text(html: str) -> str:
    return " ".join(" ".join(parsed(html).words).split())


def said(visitor: Visitor, answer) -> str:
    """Follows the redirect after a form and returns the text of the page."""
    assert answer.status_code == 303, text(answer.text)
    return text(visitor.get(answer.headers["Location"]).text)


def recorded(stack: Stack) -> list[tuple]:
    rows = stack.clickhouse().rows(
        "SELECT action, actor, reason, account FROM tailrace.legal_hold_actions WHERE hold_id IN "
        "(SELECT hold_id FROM tailrace.legal_hold_actions WHERE case_name = {case:String}) ORDER BY at",
        {"case": CASE},
    )
    return [tuple(row.values()) for row in rows]


def release(visitor: Visitor, address: str, step: str, reason: str = REASON) -> str:
    return said(visitor, visitor.submit(f"{address}release/", {"step": step, "reason": reason}))


def test_a_hold_is_placed_and_two_people_release_it(stack, visitors, second, placed):
    first = visitors["compliance"]
    html = first.get(placed).text
    assert SCRIPT not in html and CASE in text(html) and REASON in text(html)
    assert "Request the release as compliance" in text(html)
    assert re.search("Applied (yes|not yet): ", text(html)), "the stack applies it meanwhile"
    assert CASE in text(first.get(LIST).text)
    assert recorded(stack) == [(holds.PLACE, "compliance", REASON, "auditor")]

    assert "nobody has requested" in release(second, placed, holds.CONFIRM).lower()
    asked = release(first, placed, holds.REQUEST)
    assert "Another person must confirm it" in asked and "Confirm the release" not in asked
    for step in (holds.REQUEST, holds.CONFIRM):
        assert "another person must confirm it. Nothing was recorded" in release(first, placed, step)
    assert "The reason is missing" in release(second, placed, holds.CONFIRM, " ")
    assert f"Confirm the release as {SECOND}" in text(second.get(placed).text)
    assert len(recorded(stack)) == 2

    assert "the hold has ended" in release(second, placed, holds.CONFIRM)
    assert "was released" in release(first, placed, holds.REQUEST)
    assert [row[:2] for row in recorded(stack)] == [
        (holds.PLACE, "compliance"),
        (holds.REQUEST, "compliance"),
        (holds.CONFIRM, SECOND),
    ]


def test_nothing_is_placed_without_its_preview_its_fields_and_a_token(stack, visitors):
    visitor = visitors["compliance"]
    for changed, expected in (
        ({"previewed": "client:x"}, "The selector differs from the preview"),
        ({"selector": "color:red"}, "Expected KEY:VALUE"),
        ({"case": " "}, "The case is missing. Nothing was recorded"),
        ({"reason": ""}, "The reason is missing. Nothing was recorded"),
    ):
        answer = visitor.submit(NEW, {**FORM, "case": CASE, "action": "place", **changed})
        assert answer.status_code == 200 and expected in text(answer.text) and SCRIPT not in answer.text
    assert visitor.submit(NEW, {**FORM, "action": "forged"}).status_code == 400
    for token in (None, "forged"):
        answer = visitor.post(NEW, {**FORM, "action": "place"}, token)
        assert answer.headers["Location"].startswith("/login/")
    assert visitors["security"].submit(NEW, {**FORM, "action": "place"}).status_code == 403
    assert recorded(stack) == []


def test_the_actor_of_a_form_is_ignored(stack, visitors, placed):
    visitors["compliance"].submit(f"{placed}release/", {"step": holds.REQUEST, "reason": "r", "actor": "x"})
    assert recorded(stack)[-1][1] == "compliance"


def test_a_form_of_another_role_or_without_a_token_releases_nothing(stack, visitors, placed):
    form = {"step": holds.REQUEST, "reason": "r"}
    for role in ("developer", "security", "unmasked"):
        assert visitors[role].submit(f"{placed}release/", form).status_code == 403, role
    for token in (None, "forged"):
        answer = visitors["compliance"].post(f"{placed}release/", form, token)
        assert answer.headers["Location"].startswith("/login/")
    assert visitors["compliance"].submit(f"{placed}release/", {**form, "step": "place"}).status_code == 400
    assert len(recorded(stack)) == 1
