"""Draws every work page in a browser once (page_checks.mjs), from the responses to test_pages_access.py."""

import json
import os

import pytest

from dashboards.tests import browser
from dashboards.tests.pages import ROUTES
from dashboards.tests.pages_data import CHANNEL
from dashboards.tests.test_browser import npm

pytestmark = [pytest.mark.browser, pytest.mark.timeout(1800)]

OF_ITS_CONNECTION = ("Connection", "Content-Encoding", "Content-Length", "Set-Cookie", "Transfer-Encoding")
"""Headers of an answer that the browser must not get a second time."""


def test_pages_are_accessible_and_fit(stack, passwords, places, opened, tmp_path):
    browser.install()
    shown: dict[str, list[str]] = {}
    answers: dict[str, dict[str, object]] = {}
    for route in (each for each in ROUTES if each.opens):
        path = route.at(places).path
        answer = opened(route.reader, path)
        shown.setdefault(route.reader, []).append(path)
        headers = {name: value for name, value in answer.headers.items() if name not in OF_ITS_CONNECTION}
        answers[path] = {"status": answer.status_code, "headers": headers, "body": answer.text}
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    environment = {
        **os.environ,
        "SUPERSET_URL": f"http://127.0.0.1:{stack.settings.port_superset}",
        "PASSWORDS": json.dumps({user: passwords[user] for user in shown}),
        "PAGES": json.dumps(shown),
        "ANSWERS": str(tmp_path / "answers.json"),
        "ALERT": places["alert"],
        "CHANNEL": CHANNEL,
    }
    ran = npm("run", "pages", "--silent", environment=environment)
    assert ran.returncode == 0, "the tests in page_checks.mjs say what is wrong, above"
