"""Opens the first view of every dashboard in a browser with axe-core (dashboards_axe.mjs)."""

import json

import pytest
from loaded_assets import of_kind

from dashboards.tests.test_browser import npm

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(3600)]


def test_dashboards_are_accessible(browser_tests):
    environment = {**browser_tests, "DASHBOARDS": json.dumps(dashboards_by_role())}
    ran = npm("run", "dashboards", "--silent", environment=environment)
    assert ran.returncode == 0, "the tests in dashboards_axe.mjs say what is wrong, above"


def dashboards_by_role() -> dict[str, list[str]]:
    """Returns the slugs of all dashboards, each under the last role of its list: few roles are needed."""
    shown: dict[str, list[str]] = {}
    for dashboard in of_kind("dashboards"):
        shown.setdefault(dashboard.content["roles"][-1], []).append(dashboard.content["slug"])
    return shown
