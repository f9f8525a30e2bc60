"""Runs the browser tests (*.test.mjs) against a stack with the workload."""

import subprocess
from pathlib import Path

import pytest

from e2e import hostile_clients
from tailrace.dashboards import asset_files

DASHBOARDS = [asset.content for asset in asset_files.load() if asset.kind == "dashboards"]


# It also starts the stack and installs it on a new machine.
@pytest.mark.browser
@pytest.mark.timeout(4800)
def test_dashboards_show_what_is_true(browser_tests, tmp_path, request):
    """`--browser-tests developer.test.mjs` runs one file, without the check that each dashboard was drawn."""
    opened, files = tmp_path / "opened", request.config.getoption("--browser-tests", "")
    environment = {**browser_tests, "OPENED": str(opened), "BROWSER_CACHE": str(tmp_path / "cache")}
    ran = npm("test", "--silent", "--", *filter(None, files.split(",")), environment=environment)
    assert ran.returncode == 0, "the tests in *.test.mjs say what is wrong, above"
    if not files:
        assert_each_dashboard_was_drawn(opened)


def assert_each_dashboard_was_drawn(opened: Path) -> None:
    """Each line of the file is a role and a slug."""
    by_whom = {tuple(line.split()) for line in opened.read_text().splitlines()}
    for content in DASHBOARDS:
        slug = content["slug"]
        assert any((role, slug) in by_whom for role in content["roles"]), f"no role of {slug} has drawn it"


@pytest.mark.browser
def test_no_client_ends_superset(stack):
    hostile_clients.attack_all_ports(stack, resets=300)


@pytest.mark.long
@pytest.mark.timeout(4800)
def test_each_role_can_draw_each_of_its_dashboards(browser_tests):
    """Uses a browser. test_roles.py queries the same data without one."""
    ran = npm("run", "roles", "--silent", environment={**browser_tests, "DRAW": "all"})
    assert ran.returncode == 0, "the tests in roles.test.mjs say what is wrong, above"


def npm(*arguments: str, environment: dict[str, str]) -> subprocess.CompletedProcess:
    return subprocess.run(["npm", *arguments], cwd=Path(__file__).parent, env=environment, check=False)
