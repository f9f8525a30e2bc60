"""Fixtures: a separate ClickHouse and Superset with a workload whose results are known."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from loaded_assets import charts_of, of_kind, titles_shown
from requests import Response

from dashboards.tests import alerts, browser, pages_data, rendered_tabs
from dashboards.tests.pages import ROLES, Visitor
from e2e.limits import TEST_SECONDS
from e2e.stack import Stack
from sql.tests.memory_directory import in_memory
from tailrace.credentials.names import password_name
from tailrace.dashboards import connections as superset_connections
from tailrace.dashboards import roles as dashboard_roles
from tailrace_local.components import superset

FIRST_PORT = int(os.environ.get("BROWSER_FIRST_PORT", "21240"))
TESTS = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--browser-tests", default="", help="run only these files of dashboards/tests/*.test.mjs, by commas"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives tests with Superset more time than unit tests."""
    for item in items:
        with_superset = item.get_closest_marker("browser") or item.get_closest_marker("long")
        if (
            Path(__file__).parent in item.path.parents
            and with_superset
            and not item.get_closest_marker("timeout")
        ):
            item.add_marker(pytest.mark.timeout(TEST_SECONDS))


@pytest.fixture(scope="session")
def stack(tmp_path_factory) -> Iterator[Stack]:
    """Starts ClickHouse and Superset with the dashboards. They stop after the last test.

    As on a new machine, the start applies all migrations. Other stacks of tests begin with a copied schema.
    """
    with in_memory(tmp_path_factory.mktemp("stack")) as directory:
        running = Stack(
            directory / "home",
            FIRST_PORT,
            components=("clickhouse", "superset", "evidence", "fingerprint"),
            is_migrated=False,
            health_interval="10",  # no test waits for a failed check
        )
        running.up()
        yield running
        running.down()


@pytest.fixture(scope="session")
def passwords(stack: Stack) -> dict[str, str]:
    """Creates a user of each role that has none. Returns the password of each, whose user has its name."""
    admin = superset.Superset(stack.settings, stack.home).client()
    passwords = {user: stack.home.secret(superset_connections.password_of(user)) for user in ROLES}
    for user in ROLES:
        name = dashboard_roles.load()[user].name
        dashboard_roles.ensure_user(admin, user, name, passwords[user], reset=False)
    return passwords


@pytest.fixture(scope="session")
def browser_tests(stack: Stack, passwords: dict[str, str]) -> dict[str, str]:
    """Installs and inserts all prerequisites of the JavaScript tests. Returns their environment."""
    browser.install()
    environment = {
        **os.environ,
        "SUPERSET_URL": f"http://127.0.0.1:{stack.settings.port_superset}",
        "CLICKHOUSE_URL": f"http://127.0.0.1:{stack.settings.port_clickhouse}",
        "CLICKHOUSE_PASSWORD": stack.home.secret(password_name("writer")),
        "AUDITOR_PASSWORD": stack.home.secret(password_name("auditor")),
        "WITNESS_PASSWORD": stack.home.secret(password_name("witness")),
        "FACTS_PASSWORD": stack.home.secret(password_name("facts")),
        "WORKLOAD_END": str(int(time.time()) // 60 * 60),
    }
    subprocess.run(["node", "seed.mjs"], cwd=TESTS, env=environment, check=True)
    return {
        **environment,
        "ALERTS": json.dumps(alerts.insert(stack.clickhouse())),
        "PANELS": json.dumps(_panels()),
        "DRAWN": json.dumps(rendered_tabs.drawn()),
        "ROLES": json.dumps({user: _role(user, password) for user, password in passwords.items()}),
    }


@pytest.fixture(scope="session")
def visitors(stack: Stack, passwords: dict[str, str]) -> dict[str, Visitor]:
    """Visitors of the work pages without a browser, one of each role."""
    address = superset.address(stack.settings, stack.home)
    return {user: Visitor(address, user, password) for user, password in passwords.items()}


@pytest.fixture(scope="session")
def nobody(visitors: dict[str, Visitor]) -> Visitor:
    """A visitor who is not logged in."""
    return Visitor(visitors["security"].address)


@pytest.fixture(scope="session")
def places(stack: Stack) -> dict[str, str]:
    """Inserts the rows of pages_data. Returns values for the placeholders of routes."""
    return pages_data.insert(stack.clickhouse())


@pytest.fixture(scope="session")
def opened(visitors: dict[str, Visitor]) -> Callable[[str, str], Response]:
    """Returns the response for a role at an address. All modules share one request."""
    return cache(lambda role, path: visitors[role].get(path))


def _panels() -> dict[str, dict[str, list[str]]]:
    """Returns the titles of each chart, one or those of its numbers, by slug of the dashboard and name."""
    return {
        dashboard.content["slug"]: {
            chart.content["slice_name"]: titles_shown(chart) for chart in charts_of(dashboard)
        }
        for dashboard in of_kind("dashboards")
    }


def _role(user: str, password: str) -> dict[str, object]:
    """Returns the login of an audience's user, and the visible and hidden dashboards by slug and title."""
    shown = [asset.content for asset in of_kind("dashboards")]
    sees, others = (
        {each["slug"]: each["dashboard_title"] for each in shown if (user in each["roles"]) is its}
        for its in (True, False)
    )
    return {"password": password, "sees": sees, "not": others}
