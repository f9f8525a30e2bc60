"""Opens the first view of every dashboard of the security analyst in a browser with axe-core
(dashboards_axe.mjs)."""

import json
import os

import pytest
from loaded_assets import of_kind

from dashboards.tests import browser
from dashboards.tests.test_browser import npm
from tailrace.dashboards.connections import password_of
from tailrace.reports import superset_reports

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(1800)]

REPORTS = {report.dashboard for report in superset_reports.definitions().values()}


def test_dashboards_are_accessible(stack, visitors):
    browser.install()
    shown = [each for each in of_kind("dashboards") if "security" in each.content["roles"]]
    environment = {
        **os.environ,
        "SUPERSET_URL": f"http://127.0.0.1:{stack.settings.port_superset}",
        "PASSWORD": stack.home.secret(password_of("security")),
        "DASHBOARDS": json.dumps([each.content["slug"] for each in shown if each.name not in REPORTS]),
    }
    ran = npm("run", "dashboards", "--silent", environment=environment)
    assert ran.returncode == 0, "the tests in dashboards_axe.mjs say what is wrong, above"
