"""The first page of each role (embedded/superset/tailrace_home.py)."""

import importlib.util

import pytest

from tailrace.config.resources import REPOSITORY
from tailrace.dashboards import asset_files
from tailrace.dashboards import roles as dashboard_roles

_SPEC = importlib.util.spec_from_file_location(
    "tailrace_home", REPOSITORY / "embedded" / "superset" / "tailrace_home.py"
)
home = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(home)


def test_a_role_opens_an_overview_that_it_sees():
    seen_by = {
        each.content["slug"]: each.content["roles"]
        for each in asset_files.load()
        if each.kind == "dashboards"
    }
    for key in ("developer", "compliance", "security"):
        slug = home.home_of([dashboard_roles.load()[key].name]).rstrip("/").rpartition("/")[2]
        assert slug == f"{key}-overview" and key in seen_by[slug]


@pytest.mark.parametrize(
    ("roles", "slug"),
    [
        (["Tailrace unmasked samples", "Tailrace security"], "security-overview"),
        (["Tailrace admin"], "developer-overview"),
        (["Admin"], "developer-overview"),
    ],
)
def test_the_first_known_role_decides(roles, slug):
    assert home.home_of(roles) == f"/superset/dashboard/{slug}/"


def test_other_users_get_the_list():
    assert home.home_of(["Tailrace unmasked samples"]) == home.home_of([]) == "/dashboard/list/"
