"""Tests every route of the work pages: by role, without login, without CSRF token, with forged ids, and with
hostile names in the data."""

import csv
import io

import pytest

from dashboards.tests.pages import FILES, FORGED, ROLES, ROUTES, Route, Visitor, parsed
from dashboards.tests.pages_data import HOSTILE, SCRIPT
from tailrace.dashboards import connections

pytestmark = pytest.mark.browser

PAGES = [route for route in ROUTES if route.opens]
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
HOME = "/dashboard/list/"


def name_of(route) -> str:
    return f"{route.method} {route.path} {route.form.get('ids', '')}".strip()


@pytest.mark.parametrize("route", ROUTES, ids=name_of)
def test_a_route_is_for_its_roles_only(visitors, nobody, places, opened, route):
    """Of the roles that get a page, one also asks for its files: the same permissions hold for both."""
    asked = route.at(places)
    for role in ROLES:
        if role == route.reader or role not in route.roles or route not in FILES:
            assert_answered(visitors, opened, asked, role)
    answer = nobody.get(asked.path) if route.method == "GET" else nobody.post(asked.path, dict(asked.form))
    assert answer.status_code == 302 and answer.headers["Location"].startswith("/login/")


@pytest.mark.long
@pytest.mark.parametrize("route", FILES, ids=name_of)
def test_a_file_is_for_the_roles_of_its_page(visitors, places, opened, route):
    for role in route.roles:
        assert_answered(visitors, opened, route.at(places), role)


def assert_answered(visitors, opened, asked: Route, role: str) -> None:
    """Asserts that a role gets or does not get a route, which has values for its placeholders."""
    is_opened = role == asked.reader and asked.method == "GET"
    answer = opened(role, asked.path) if is_opened else visitors[role].ask(asked)
    refused = 404 if role in asked.hidden_from else 403
    assert answer.status_code == (asked.answered if role in asked.roles else refused), role


@pytest.mark.parametrize("route", [each for each in ROUTES if each.method == "POST"], ids=name_of)
def test_a_form_without_its_token_does_nothing(visitors, places, route):
    asked = route.at(places)
    for token in (None, "", "forged"):
        answer = visitors["security"].post(asked.path, dict(asked.form), token)
        assert answer.status_code == 302 and answer.headers["Location"].startswith("/login/")


@pytest.mark.parametrize("route", FORGED, ids=name_of)
def test_a_forged_id_is_not_found(visitors, places, route):
    for role in route.roles:
        assert visitors[role].ask(route.at(places)).status_code == 404, role


def test_an_address_that_no_page_has_is_not_found(visitors):
    answer = visitors["developer"].get("/tailrace/nothing/here")
    assert answer.status_code == 404 and "There is no page" in answer.text


def test_the_error_page_of_superset_links_no_other_host(visitors):
    answer = visitors["developer"].get("/nothing/here")
    assert answer.status_code == 404 and "Page not found" in answer.text
    links = [attributes["href"] for tag, attributes in parsed(answer.text).tags if tag == "link"]
    assert links and all(link.startswith("/static/") for link in links), links


def test_a_user_without_an_audience_reads_what_to_do(visitors):
    answer = visitors["unmasked"].get("/tailrace/alerts/")
    assert answer.status_code == 403 and "ask the administrator" in answer.text


@pytest.mark.parametrize("route", PAGES, ids=name_of)
def test_names_of_logs_are_text_on_every_page(places, opened, route):
    answer = opened(route.reader, route.at(places).path)
    assert answer.status_code == 200
    assert answer.headers["Content-Security-Policy"].startswith(POLICY)
    page = parsed(answer.text)
    for tag, attributes in page.tags:
        assert tag not in ("img", "iframe", "object", "embed"), tag
        assert tag != "svg" or attributes.get("role") == "img", "only charts of pages are drawings"
        assert not [name for name in attributes if name.startswith("on") or name == "style"], attributes
        assert tag != "script" or attributes["src"].startswith("/tailrace/static/"), attributes
        for name in ("href", "src", "action"):
            assert not (attributes.get(name) or "").lower().startswith(("javascript:", "data:", "//")), (
                attributes
            )
    assert SCRIPT not in answer.text


def test_hostile_names_are_shown_as_they_are(visitors, places):
    page = parsed(visitors["security"].get("/tailrace/alerts/?range=90d&state=any").text)
    words = " ".join(page.words)
    for text in (HOSTILE[0], HOSTILE[1], HOSTILE[3]):
        assert text in words
    assert "\\x1b[31m\\x00\\u202e" in words, "control characters are visible"


def test_a_file_of_hostile_names_executes_nothing(visitors):
    text = visitors["security"].get("/tailrace/alerts/?range=90d&state=any&format=csv").text
    assert "'=HYPERLINK" in text and ",=HYPERLINK" not in text and ',"=HYPERLINK' not in text


def test_a_file_of_a_search_has_each_event_once(visitors, places):
    """After test_browser.py there are more events than the page reads at once."""

    def rows(search: str) -> list[dict[str, str]]:
        text = visitors["security"].get(f"/tailrace/search/?range=90d&q={search}&format=csv").text
        return list(csv.DictReader(io.StringIO(text, newline="")))

    page = visitors["security"].get("/tailrace/search/?range=90d&q=user%3A*").text
    number = len(rows("user%3A*"))
    assert (f"{number} of {number} events" if number <= 100 else "Count all events of this search") in page
    assert number == sum(int(row["Events"]) for row in rows("user%3A*+%7C+count")) > 0


def test_static_files_are_kept_for_a_year_by_their_content(visitors):
    page = parsed(visitors["security"].get("/tailrace/alerts/").text)
    (sheet,) = [each["href"] for tag, each in page.tags if tag == "link" and each["rel"] == "stylesheet"]
    answer = visitors["security"].get(sheet)
    assert answer.headers["Content-Type"].startswith("text/css")
    assert "immutable" in answer.headers["Cache-Control"]
    for other in ("/tailrace/static/old/pages.css", "/tailrace/static/old/uPlot.iife.min.js"):
        answer = visitors["security"].get(other)
        assert answer.status_code == 200 and "immutable" not in answer.headers["Cache-Control"]
    for absent in ("/tailrace/static/x/..%2fviewer.py", "/tailrace/static/x/LICENSE"):
        assert visitors["security"].get(absent).status_code == 404


def test_the_login_leads_back_to_the_page(stack, visitors):
    target = Visitor(visitors["security"].address).get("/tailrace/alerts/?range=7d").headers["Location"]
    assert target == "/login/?next=/tailrace/alerts/?range%3D7d"


def test_a_message_of_superset_itself_is_not_shown(stack, visitors):
    """The login page reports its events, which Superset refuses with a message for the next page."""
    person = Visitor(visitors["security"].address)
    password = stack.home.secret(connections.password_of("security"))
    given = {"username": "security", "password": password}
    token = person.token("/login/")
    assert person.post("/superset/log/?explode=events", {"events": "[]"}, token).status_code == 302
    assert person.post("/login/", given, token).headers["Location"] != "/login/"
    assert "Access is Denied" not in person.get("/tailrace/alerts/").text


def test_the_menu_has_the_pages_of_the_role(visitors):
    def menu(role: str) -> set[str]:
        return {each["label"] for each in visitors[role].get("/api/v1/menu/").json()["result"]}

    assert "Alert inbox" in menu("security") & menu("compliance")
    assert menu("unmasked") == {"Dashboards"}
    assert "Alert inbox" not in menu("developer")
