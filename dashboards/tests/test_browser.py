"""Runs the browser tests (*.test.mjs) against a stack with the workload."""

import json
import subprocess
from pathlib import Path

import pytest
from loaded_assets import of_kind

from dashboards.tests import browser, rendered_tabs
from e2e import hostile_clients
from tailrace.dashboards import layout


# It also starts the stack and installs it on a new machine.
@pytest.mark.browser
@pytest.mark.timeout(4800)
def test_dashboards_show_the_values_of_the_workload(browser_tests, tmp_path, request):
    """Draws the tabs of rendered_tabs.py, and requests the data of the other charts without drawing them.

    `--browser-tests developer.test.mjs` runs one file, without the check that each tab was drawn.
    """
    show_values(browser_tests, tmp_path, request, rendered_tabs.drawn())


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.timeout(4800)
def test_dashboards_show_the_values_of_the_workload_in_every_tab(browser_tests, tmp_path, request):
    every = {
        each.content["slug"]: [tab.title for tab in layout.tabs(each.content)]
        for each in of_kind("dashboards")
    }
    show_values(browser_tests, tmp_path, request, every)


def show_values(browser_tests: dict, tmp_path: Path, request, tabs: dict[str, list[str]]) -> None:
    """Runs the tests with these tabs drawn, by slug of the dashboard."""
    opened, files = tmp_path / "opened", request.config.getoption("--browser-tests", "")
    drawing = {"DRAWN": json.dumps(tabs), "OPENED": str(opened), "BROWSER_CACHE": str(tmp_path / "cache")}
    arguments = filter(None, files.split(","))
    ran = npm("test", "--silent", "--", *arguments, environment={**browser_tests, **drawing})
    assert ran.returncode == 0, "the tests in *.test.mjs say what is wrong, above"
    if not files:
        assert_drawn(opened, tabs)


def assert_drawn(opened: Path, tabs: dict[str, list[str]]) -> None:
    """Each line of the file is a role, a slug and the title of a tab that was drawn."""
    by_whom = {tuple(json.loads(line)) for line in opened.read_text().splitlines()}
    for content in (each.content for each in of_kind("dashboards")):
        slug = content["slug"]
        missing = {
            title
            for title in tabs[slug]
            if not any((role, slug, title) in by_whom for role in content["roles"])
        }
        assert not missing, f"no role of {slug} has drawn {missing}"


@pytest.mark.browser
def test_no_client_ends_superset(stack):
    hostile_clients.attack_all_ports(stack, resets=300)


@pytest.mark.long
@pytest.mark.timeout(4800)
def test_each_role_can_draw_each_of_its_dashboards(browser_tests):
    """Uses a browser. test_roles.py queries the same data without one."""
    ran = npm("run", "roles", "--silent", environment={**every_tab(browser_tests), "DRAW": "all"})
    assert ran.returncode == 0, "the tests in roles.test.mjs say what is wrong, above"


def every_tab(environment: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name != "DRAWN"}


def npm(*arguments: str, environment: dict[str, str]) -> subprocess.CompletedProcess:
    chosen = {**environment, "CHROMIUM_FLAGS": browser.FLAGS}
    return subprocess.run(["npm", *arguments], cwd=Path(__file__).parent, env=chosen, check=False)
