"""Static checks that the tests of work pages go through every page: no page can be forgotten in ROUTES."""

import re

from dashboards.tests.pages import FILES, ROUTES
from tailrace.config.resources import REPOSITORY

PAGES = REPOSITORY / "embedded" / "superset" / "tailrace_pages"
ADDRESS = re.compile(r'^@blueprint\.(get|post)\("(/tailrace/[^"]+)"\)', re.MULTILINE)

MADE_BY_FORMS = {
    ("GET", "/tailrace/evidence/exports/<number>/"),
    ("GET", "/tailrace/evidence/exports/<number>/bundle"),
    ("GET", "/tailrace/evidence/verifications/<number>/"),
}
"""Pages that a form creates: test_pages_evidence.py opens them."""


def addresses() -> set[tuple[str, str]]:
    """Returns the method and the address of each view, as its module writes them."""
    modules = PAGES.rglob("*views.py")
    found = {match for module in modules for match in ADDRESS.findall(module.read_text())}
    return {(method.upper(), address) for method, address in found}


def answers(address: str, path: str) -> bool:
    """Returns whether a path without its query is one of an address with placeholders in angle brackets."""
    texts = re.split(r"<[^>]+>", address)
    return bool(re.fullmatch("[^/]+".join(map(re.escape, texts)), path.partition("?")[0]))


def test_every_address_has_a_route():
    found = addresses()
    tested = {
        (method, address)
        for method, address in found
        if any(route.method == method and answers(address, route.path) for route in ROUTES)
    }
    assert found > MADE_BY_FORMS
    assert found - MADE_BY_FORMS == tested, "add a route to ROUTES in dashboards/tests/pages.py"


def test_every_route_is_one_of_a_page():
    lost = {
        route.path
        for route in ROUTES
        if not any(method == route.method and answers(address, route.path) for method, address in addresses())
    }
    assert not lost, "no view of tailrace_pages has such an address"


def test_every_file_is_that_of_a_page():
    """test_pages_access.py asks for a file in one role, and for its page in each."""
    pages = {
        (route.path.partition("?")[0], route.roles, route.hidden_from) for route in ROUTES if route.opens
    }
    assert {(each.path.partition("?")[0], each.roles, each.hidden_from) for each in FILES} <= pages
