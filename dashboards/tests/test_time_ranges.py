"""The time filter: the list "Last" has short ranges, charts and preview interpret them equally, and a chosen
range is kept for other dashboards and pages."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from dashboards.tests.test_import import client  # noqa: F401 - fixture
from e2e.limits import LIMIT_SECONDS
from tailrace_local.components.superset import Superset

pytestmark = pytest.mark.browser

SHORT = {
    "Last 15 minutes": timedelta(minutes=15),
    "Last 1 hour": timedelta(hours=1),
    "Last 6 hours": timedelta(hours=6),
}
TODAY, YESTERDAY = "Current day", "previous calendar day"
LIST = (*SHORT, TODAY, YESTERDAY)
FILTER = "NATIVE_FILTER-time-range"
DATASET = "Error log messages"
TICK = timedelta(seconds=1)
"""Superset reads the clock for each end of a range, in whole seconds."""
TOLERANCE = timedelta(hours=1)
"""For the time of the server, which answers some time after the test has read the clock."""


def test_the_installed_time_filter_lists_them(stack):
    packages = Superset(stack.settings, stack.home).python().parent.parent / "lib"
    scripts = packages.glob("python*/site-packages/superset/static/assets/*.chunk.js")
    (script,) = [text for each in scripts if 'value:"Last 15 minutes"' in (text := each.read_text())]
    places = [script.index(f'{{value:"{text}",') for text in (*LIST, "Last day")]
    assert places == sorted(places)
    known = "".join(f'"{text}",' for text in LIST)
    assert f'new Set([{known}"Last day",' in script, "it selects them"


def interpreted(client, visitors, text: str) -> tuple[list[datetime], list[datetime]]:  # noqa: F811
    """Returns the begin and end of a range in the preview of the filter, and in charts."""
    (preview,) = visitors["developer"].get("/api/v1/time_range/", q=f"'{text}'").json()["result"]
    dataset = next(each for each in client.every("/api/v1/dataset/") if each["table_name"] == DATASET)
    query = {"columns": ["instance"], "metrics": [], "time_range": text, "row_limit": 1}
    asked = {"datasource": {"id": dataset["id"], "type": "table"}, "queries": [query], "force": True}
    (chart,) = client.post("/api/v1/chart/data", asked)["result"]
    shown = [datetime.fromisoformat(preview[key]).replace(tzinfo=UTC) for key in ("since", "until")]
    return shown, [datetime.fromtimestamp(chart[key] / 1000, UTC) for key in ("from_dttm", "to_dttm")]


@pytest.mark.parametrize("text", SHORT)
def test_charts_and_preview_interpret_them_equally(client, visitors, text):  # noqa: F811
    (since, until), (begin, end) = interpreted(client, visitors, text)
    for found in (until - since, end - begin):
        assert abs(found - SHORT[text]) <= TICK
    assert abs(end - datetime.now(UTC)) < TOLERANCE
    assert abs(until - end) < TOLERANCE


def test_the_previous_calendar_day_is_a_whole_day(client, visitors):  # noqa: F811
    before = datetime.now(UTC).date()
    shown, queried = interpreted(client, visitors, YESTERDAY)
    assert shown == queried
    begin, end = shown
    assert (begin.hour, begin.minute, end - begin) == (0, 0, timedelta(days=1))
    assert end.date() in (before, datetime.now(UTC).date())


def test_the_current_day_ends_now(client, visitors):  # noqa: F811
    for begin, end in interpreted(client, visitors, TODAY):
        assert (begin.hour, begin.minute) == (0, 0) and begin <= end <= begin + timedelta(days=1)
        assert abs(end - datetime.now(UTC)) < TOLERANCE


def test_a_chosen_range_is_kept_for_the_next_dashboard_and_page(visitors, client):  # noqa: F811
    visitor = visitors["developer"]
    ids = {each["slug"]: each["id"] for each in client.every("/api/v1/dashboard/")}

    def store(slug: str, range_: str | None) -> None:
        masks = {FILTER: {"id": FILTER, "extraFormData": {}, "filterState": {"value": range_}}}
        stored = visitor.session.post(
            f"{visitor.address}/api/v1/dashboard/{ids[slug]}/filter_state?tab_id=1",
            json={"value": json.dumps(masks)},
            headers={"X-CSRFToken": visitor.own_token(), "Referer": visitor.address},
            timeout=LIMIT_SECONDS,
        )
        assert stored.status_code == 201, stored.text

    def default(slug: str) -> str:
        metadata = visitor.get(f"/api/v1/dashboard/{slug}").json()["result"]["json_metadata"]
        filters = json.loads(metadata)["native_filter_configuration"]
        mask = next(each["defaultDataMask"] for each in filters if each["id"] == FILTER)
        assert mask["extraFormData"]["time_range"] == mask["filterState"]["value"]
        return mask["filterState"]["value"]

    def marked_range() -> str:
        return re.search(r'range=(\w+)" aria-current="true"', visitor.get("/tailrace/queries/").text)[1]

    visitor.session.cookies.pop("tailrace_range", None)
    own = default("errors")
    try:
        assert (own, marked_range()) == ("Last week", "24h")
        store("slow-queries", YESTERDAY)
        assert default("errors") == default("plans") == YESTERDAY
        assert default("developers-digest") == "previous calendar week", "its title is about a week"
        assert marked_range() == "yesterday"
        assert visitor.get("/tailrace/queries/", range="6h").ok
        assert default("errors") == "Last 6 hours"
        searched = visitor.get("/tailrace/search/", q="log:slow | top user").text
        assert 'range=6h" aria-current="true"' in searched
        store("errors", own)
        assert (default("errors"), marked_range()) == (own, "24h"), "its own default ends it"
    finally:
        visitor.session.cookies.pop("tailrace_range", None)
