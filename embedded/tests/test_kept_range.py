"""The cookie of the chosen time range (tailrace_kept_range.py), and the ranges of pages that it means."""

import json
from datetime import UTC, datetime
from urllib.parse import quote

import pytest
import tailrace_kept_range
from flask import Flask, Response

from tailrace_pages import kept_range

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
RANGES = [
    ("Last 15 minutes", {"range": "15m"}),
    ("Last day", {"range": "24h"}),
    ("Current day", {"range": "today"}),
    ("previous calendar day", {"range": "yesterday"}),
    (
        "2026-11-26T14:00:00 : 2026-11-26T15:30:00",
        {"from": "2026-11-26T14:00:00Z", "to": "2026-11-26T15:30:00Z"},
    ),
    ("previous calendar quarter", {}),
    ("2026-11-26T14:00:00 : ", {}),
    ("2026-11-26T14:00:00 : 2026-11-26T14:00:00", {}),
    ("No filter", {}),
]


@pytest.fixture
def app() -> Flask:
    its = Flask(__name__)
    its.config["SESSION_COOKIE_SECURE"] = True
    return its


def with_cookie(app: Flask, text: str, path: str = "/"):
    return app.test_request_context(path, headers={"Cookie": f"{tailrace_kept_range.COOKIE}={text}"})


@pytest.mark.parametrize(("text", "arguments"), RANGES)
def test_a_range_of_a_dashboard_is_one_of_a_page(app, text, arguments):
    with with_cookie(app, quote(text, safe="")):
        assert kept_range.arguments() == arguments


@pytest.mark.parametrize(("text", "arguments"), [each for each in RANGES if each[1]])
def test_a_page_keeps_the_range_of_its_address(app, text, arguments):
    @app.get("/page/")
    def page():
        return str(kept_range.of_menu(NOW))

    client = app.test_client()
    stated = client.get("/page/", query_string=arguments)
    assert client.get_cookie(tailrace_kept_range.COOKIE).value == quote(text, safe="")
    header = stated.headers["Set-Cookie"]
    assert (
        "HttpOnly" in header and "Secure" in header and "SameSite=Lax" in header and "Max-Age=1800" in header
    )


def test_a_menu_entry_opens_with_the_kept_range_and_an_address_comes_first(app):
    with with_cookie(app, "previous%20calendar%20day"):
        assert kept_range.of_menu(NOW).name == "yesterday"
    with with_cookie(app, "previous%20calendar%20day", "/?range=6h"):
        assert kept_range.of_menu(NOW).name == "6h"
    with app.test_request_context("/"):
        assert kept_range.of_menu(NOW).name == "24h"


@pytest.mark.parametrize("text", ["<script>", "a" * 201, "Last%20day%0aX", '{"$":1}', "%00", ""])
def test_a_forged_cookie_is_ignored(app, text):
    with with_cookie(app, text):
        assert tailrace_kept_range.kept() is None
        answer = Response()
        tailrace_kept_range.keep(answer, text)
        assert "Max-Age=0" in answer.headers["Set-Cookie"]


def masks(range_: str | None) -> dict:
    chosen = {tailrace_kept_range.FILTER: {"filterState": {"value": range_}}, "NATIVE_FILTER-user": {}}
    return {"value": json.dumps(chosen)}


@pytest.mark.parametrize(
    ("body", "range_"),
    [
        (masks("Last week"), "Last week"),
        (masks(None), None),
        ({"value": "["}, None),
        ([], None),
        (None, None),
    ],
)
def test_the_range_of_stored_filters(body, range_):
    assert tailrace_kept_range.chosen(body) == range_


def test_the_default_of_the_time_filter_is_replaced_and_nothing_else():
    other = {"id": "NATIVE_FILTER-user", "defaultDataMask": {"filterState": {"value": None}}}
    time = {"id": tailrace_kept_range.FILTER, "defaultDataMask": {"filterState": {"value": "Last week"}}}
    metadata = {"native_filter_configuration": [other, time], "color_scheme": "tailrace"}
    dashboard = {"slug": "errors", "id": 3, "json_metadata": json.dumps(metadata)}
    changed = tailrace_kept_range.with_default(dashboard, "Last day")
    mask = {"extraFormData": {"time_range": "Last day"}, "filterState": {"value": "Last day"}}
    expected = {**metadata, "native_filter_configuration": [other, {**time, "defaultDataMask": mask}]}
    assert changed == {**dashboard, "json_metadata": json.dumps(expected)}
    for slug in tailrace_kept_range.FIXED:
        assert tailrace_kept_range.with_default({**dashboard, "slug": slug}, "Last day") is None
    assert tailrace_kept_range.with_default({"slug": "errors", "json_metadata": None}, "Last day") is None
