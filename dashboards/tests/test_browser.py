"""Runs the browser tests (dashboards.test.mjs) against a stack that holds the workload."""

import subprocess
from pathlib import Path

import pytest


# It starts the stack, too, and on a new machine installs it.
@pytest.mark.browser
@pytest.mark.timeout(2400)
def test_dashboards_show_what_is_true(browser_tests):
    ran = subprocess.run(
        ["npm", "test", "--silent"], cwd=Path(__file__).parent, env=browser_tests, check=False
    )
    assert ran.returncode == 0, "the tests in dashboards.test.mjs say what is wrong, above"
