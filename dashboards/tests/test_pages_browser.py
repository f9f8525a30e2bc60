"""Opens every work page in a browser once (pages_opened.mjs)."""

import json
import os

import pytest

from dashboards.tests import browser
from dashboards.tests.pages import ROUTES
from dashboards.tests.pages_data import CHANNEL
from dashboards.tests.test_browser import npm
from tailrace.dashboards.connections import password_of

pytestmark = [pytest.mark.browser, pytest.mark.timeout(1800)]


def test_pages_are_accessible_and_fit(stack, places):
    browser.install()
    shown: dict[str, list[str]] = {}
    for route in (each for each in ROUTES if each.opens):
        shown.setdefault(route.reader, []).append(route.at(places).path)
    environment = {
        **os.environ,
        "SUPERSET_URL": f"http://127.0.0.1:{stack.settings.port_superset}",
        "PASSWORDS": json.dumps({user: stack.home.secret(password_of(user)) for user in shown}),
        "PAGES": json.dumps(shown),
        "ALERT": places["alert"],
        "CHANNEL": CHANNEL,
    }
    ran = npm("run", "pages", "--silent", environment=environment)
    assert ran.returncode == 0, "the tests in pages_opened.mjs say what is wrong, above"
