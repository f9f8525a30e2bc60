"""The link of an alert, against the list that the detect job's tests also read."""

import json

import pytest

from tailrace.alerts.link import link_path
from tailrace.config.resources import REPOSITORY

CASES = json.loads((REPOSITORY / "schemas" / "links" / "alert_links.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=[case["rule_title"] for case in CASES])
def test_link_is_the_specified_one(case):
    made = link_path(case["entity"], case["rule_title"], case["window_from"], case["event_time"])

    assert made == case["link_path"]
