"""The list "Last" of the time filter has short ranges, and charts and preview interpret them equally."""

from datetime import UTC, datetime, timedelta

import pytest

from dashboards.tests.test_import import client  # noqa: F401 - fixture
from tailrace_local.components.superset import Superset

pytestmark = pytest.mark.browser

SHORT = {
    "Last 15 minutes": timedelta(minutes=15),
    "Last 1 hour": timedelta(hours=1),
    "Last 6 hours": timedelta(hours=6),
}
YESTERDAY = "previous calendar day"
DATASET = "Error log messages"
TICK = timedelta(seconds=1)
"""Superset reads the clock for each end of a range, in whole seconds."""
TOLERANCE = timedelta(hours=1)
"""For the time of the server, which answers some time after the test has read the clock."""


def test_the_installed_time_filter_lists_them(stack):
    packages = Superset(stack.settings, stack.home).python().parent.parent / "lib"
    scripts = packages.glob("python*/site-packages/superset/static/assets/*.chunk.js")
    (script,) = [text for each in scripts if 'value:"Last 15 minutes"' in (text := each.read_text())]
    places = [script.index(f'{{value:"{text}",') for text in (*SHORT, "Last day")]
    assert places == sorted(places)
    assert "new Set([" + "".join(f'"{text}",' for text in SHORT) + '"Last day",' in script, "it selects them"


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
