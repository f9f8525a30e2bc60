"""The bundles of dashboards/roles.yaml that work pages require, as permissions of Superset.

A bundle `read_alerts` is the permission `can_read_alerts` on the resource RESOURCE. A page that the menu of
Superset lists has an entry in MENU, and a role with the bundle also has `menu_access` on its title.
Superset creates all of them at its start (registration.add_permissions), before roles are applied.
"""

RESOURCE = "Tailrace pages"

BUNDLES = (
    *("read_alerts", "handle_alerts", "rules", "test_rules"),
    *("search", "schedule_searches", "queries", "entities", "evidence", "setup"),
    *("retention", "place_holds", "reveal_names"),
)

MENU = {
    "Alert inbox": "read_alerts",
    "Rules": "rules",
    "Search": "search",
    "Queries": "queries",
    "Users and clients": "entities",
    "Evidence": "evidence",
    "Setup": "setup",
    "Retention": "retention",
}
"""Titles of pages in the order of the menu, with the bundle that shows them."""

MENU_ACCESS = "menu_access"


def permission_of(bundle: str) -> tuple[str, str]:
    """Returns the permission of a bundle and its resource. Raises ValueError for an unknown bundle."""
    if bundle not in BUNDLES:
        raise ValueError(f"unknown bundle {bundle!r}; there are {', '.join(BUNDLES)}")
    return f"can_{bundle}", RESOURCE


def wanted() -> list[tuple[str, str]]:
    """Returns every permission that the pages need, with its resource."""
    return [*map(permission_of, BUNDLES), *((MENU_ACCESS, title) for title in MENU)]
