"""Saved searches over HTTP: who sees one, its forms, and what other roles and forged forms get."""

import re

import pytest

from dashboards.tests.pages_data import CHANNEL, SCRIPT
from tailrace.search.scheduled import saved

pytestmark = pytest.mark.browser

NAME = "made by a test"
LIST = "/tailrace/search/saved/"


@pytest.fixture
def page(visitors, places, stack):
    """Saves a search as the user `security`; yields the path of its page."""
    made = visitors["security"].submit(LIST, {"name": NAME, "q": "kind:refused   log:audit"})
    path = made.headers["Location"]
    assert made.status_code == 303 and re.fullmatch(rf"{LIST}[0-9a-f]{{32}}/", path)
    yield path
    stack.clickhouse().execute(
        f"ALTER TABLE tailrace.scheduled_searches DELETE WHERE name = '{NAME}'", mutations_sync=2
    )


def stored(stack):
    return next((each for each in saved.load(stack.clickhouse()) if each.name == NAME), None)


def test_a_search_is_shared_scheduled_paused_and_removed(visitors, stack, page):
    security, others = visitors["security"], (visitors["compliance"], visitors["developer"])
    shown = security.get(page).text
    assert "kind:refused log:audit" in shown and "This search has no schedule" in shown
    assert (
        security.submit(page, {"action": "change", "q": "kind:refused", "shared": "yes"}).status_code == 303
    )
    assert f"{page}</code>" in security.get(page).text, "the link to share"
    assert [each.get(page).status_code for each in others] == [404, 404]
    assert all(NAME not in each.get(LIST).text for each in others)

    form = {"action": "schedule", "every": "2h", "min_events": "5", "channels": CHANNEL}
    assert security.submit(f"{page}schedule/", form).status_code == 303
    its = stored(stack)
    assert (its.search, its.shared, its.schedule.every_text) == ("kind:refused", True, "2h")
    assert (its.schedule.min_events, its.schedule.channels) == (5, (CHANNEL,))
    assert "waiting for its first run" in security.get(page).text
    security.submit(f"{page}schedule/", {"action": "pause"})
    assert stored(stack).schedule.paused and "Resume" in security.get(page).text
    security.submit(f"{page}schedule/", {"action": "resume"})
    assert not stored(stack).schedule.paused
    for other in others:
        assert other.submit(f"{page}schedule/", {"action": "pause"}).status_code == 404
        assert other.submit(page, {"action": "remove"}).status_code == 404
    assert stored(stack).runs
    security.submit(f"{page}schedule/", {"action": "end"})
    assert stored(stack).schedule is None
    assert security.submit(page, {"action": "remove"}).headers["Location"] == LIST
    assert stored(stack) is None and security.get(page).status_code == 404


@pytest.mark.parametrize(
    ("path", "form", "said"),
    [
        ("", {"action": "change", "q": "usr:x"}, "did you mean"),
        ("schedule/", {"action": "schedule", "every": "1m", "channels": CHANNEL}, "from 5 minutes"),
        ("schedule/", {"action": "schedule", "every": "1h", "channels": "forged"}, "no channel"),
        ("schedule/", {"action": "pause"}, "has no schedule"),
    ],
)
def test_a_mistake_changes_nothing_and_is_explained(visitors, stack, page, path, form, said):
    security, before = visitors["security"], stored(stack)
    assert security.submit(f"{page}{path}", form).headers["Location"] == page
    answer = security.get(page).text
    assert said in answer and "Nothing was changed." in answer
    assert stored(stack) == before


def test_a_role_saves_only_what_it_may_run(visitors, stack, places):
    answer = visitors["developer"].submit(LIST, {"name": NAME, "q": "log:audit", "back": "//evil.test/"})
    assert answer.headers["Location"] == "/tailrace/search/"
    assert "developers does not have" in visitors["developer"].get("/tailrace/search/").text
    assert stored(stack) is None


def test_a_form_with_an_unknown_action_is_refused(visitors, page):
    assert visitors["security"].submit(page, {"action": "own"}).status_code == 400
    assert visitors["security"].submit(f"{page}schedule/", {"action": "own"}).status_code == 400


def test_links_to_searches_keep_the_time_range_of_the_page(visitors):
    security = visitors["security"]
    examples = security.get("/tailrace/search/", range="30d").text
    assert 'href="/tailrace/search/?q=verb:DROP,TRUNCATE,ALTER&amp;range=30d"' in examples
    named = security.get("/tailrace/search/", q="203.0.113.66", range="7d").text
    assert 'href="/tailrace/search/?q=client:203.0.113.66&amp;range=7d"' in named


def test_a_search_without_events_offers_the_server_that_one_of_its_words_names(visitors, places):
    security = visitors["security"]
    shown = security.get("/tailrace/search/", q=f'"{SCRIPT}" nowhere', range="90d").text
    assert "is the name of a server" in shown and SCRIPT not in shown
    assert shown.count('href="/tailrace/search/?q=instance:') == 2, "with the other word and without it"
    without = security.get("/tailrace/search/", q="elsewhere nowhere", range="90d").text
    assert "No event matches" in without and "is the name of a server" not in without


def test_words_that_join_no_conditions_are_explained(visitors):
    shown = visitors["security"].get("/tailrace/search/", q="user:nobody and log:audit").text
    assert "looked for the text and" in shown and "capital letters" in shown
    assert (
        "capital letters"
        not in visitors["security"].get("/tailrace/search/", q="user:nobody AND log:audit").text
    )
