"""The twelve everyday tasks of dashboards/tests/user_tasks.mjs, on the demo's story with all components.

The tests of each page (dashboards/tests/test_pages_*.py) are their quick counterparts.
"""

import json
import os
import subprocess
import time

import pytest

from dashboards.tests import browser
from e2e.stack import PARTS, PORTS, Stack
from e2e.wait_for_idle import tailrace
from tailrace.config.resources import REPOSITORY
from tailrace.dashboards import connections

FIRST_PORT = int(os.environ.get("WALKS_FIRST_PORT", "22720"))
WAIT_SECONDS = 300

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]


MOST_SECONDS = 10
"""Of each task, from the page after login to the answer, on a machine without other load."""


def slowness() -> float:
    """Returns how much longer than alone this machine takes now, at least 1: elapsed by CPU time."""
    began, used = time.monotonic(), time.process_time()
    sum(number * number for number in range(5_000_000))
    return max(1.0, (time.monotonic() - began) / (time.process_time() - used))


def test_each_task_takes_at_most_three_clicks_and_ten_seconds(tmp_path):
    components = (*PARTS, "detect", "facts", "superset", "evidence", "fingerprint")
    port = str(FIRST_PORT + len(PORTS))
    stack = Stack(tmp_path / "home", FIRST_PORT, components, port_detect=port)
    try:
        printed = json.loads(tailrace(stack, "demo", "--json", "--wait", str(WAIT_SECONDS), seconds=1500))
        browser.install()
        passwords = {user: stack.home.secret(connections.password_of(user)) for user in connections.USERS}
        environment = {
            **os.environ,
            "SUPERSET_URL": stack.status("superset").address,
            "PASSWORDS": json.dumps(passwords),
            "MANIFEST": json.dumps(printed["manifest"]),
            "MOST_SECONDS": str(MOST_SECONDS * slowness()),
        }
        walked = subprocess.run(
            ["node", "--test", "--test-timeout=1200000", "user_tasks.mjs"],
            cwd=REPOSITORY / "dashboards" / "tests",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        print(walked.stdout)
        assert walked.returncode == 0, walked.stdout + walked.stderr
    finally:
        stack.down()
