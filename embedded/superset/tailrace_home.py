"""Opens the overview of a user's audience in place of Superset's page "Welcome", which viewers see empty."""

from collections.abc import Iterable

PAGES = ("/", "/superset/welcome/")

LIST = "/dashboard/list/"

OVERVIEWS = {
    "Tailrace developer": "/superset/dashboard/developer-overview/",
    "Tailrace compliance": "/superset/dashboard/compliance-overview/",
    "Tailrace security": "/superset/dashboard/security-overview/",
    "Tailrace admin": "/superset/dashboard/developer-overview/",
    "Admin": "/superset/dashboard/developer-overview/",
}
"""The first page by role; the first of these roles decides. Other users get the list of dashboards."""


def home_of(roles: Iterable[str]) -> str:
    """Returns the path of the first page of a user with these roles."""
    held = set(roles)
    return next((page for role, page in OVERVIEWS.items() if role in held), LIST)


def open_overview():
    """before_request: redirects users who are logged in from PAGES to their first page."""
    from flask import redirect, request
    from flask_login import current_user

    if request.path in PAGES and request.method == "GET" and current_user.is_authenticated:
        return redirect(home_of(role.name for role in current_user.roles))
    return None
