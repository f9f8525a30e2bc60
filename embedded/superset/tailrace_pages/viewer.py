"""Who asks for a page: the name, the bundles of the roles, and the audience whose ClickHouse account is used.

`page` decorates every view:

    @blueprint.get("/tailrace/queries/")
    @page("queries")
    def search(): ...

Who is not logged in is sent to the login and back. Who lacks the bundle gets the page of status 403. The
response has a content security policy without inline scripts and styles, stricter than Superset's own.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from flask import g, redirect, request
from flask_login import current_user

from tailrace_pages import permissions
from tailrace_pages.page_errors import ForbiddenError

AUDIENCES = {
    "Tailrace security": "tailrace_security",
    "Tailrace compliance": "tailrace_audit",
    "Tailrace developer": "tailrace",
    "Tailrace admin": "tailrace_security",
    "Admin": "tailrace_security",
}
"""Roles with the connection (a file of dashboards/databases) that their pages read. The first role counts."""

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'self'",
}


@dataclass(frozen=True)
class Viewer:
    """A person who is logged in."""

    name: str
    """The user name of Superset, which actions record as their actor."""
    bundles: frozenset[str]
    """Of permissions.BUNDLES."""
    audience: str
    """A value of AUDIENCES."""

    def may(self, bundle: str) -> bool:
        return bundle in self.bundles


def viewer() -> Viewer:
    """Returns who asks in this request. Raises ForbiddenError for a role without an audience."""
    if "tailrace_viewer" not in g:
        g.tailrace_viewer = _viewer()
    return g.tailrace_viewer


def _viewer() -> Viewer:
    from superset import security_manager

    roles = security_manager.get_user_roles(current_user)
    names = {role.name for role in roles}
    audience = next((AUDIENCES[name] for name in AUDIENCES if name in names), None)
    if audience is None:
        known = ", ".join(name for name in AUDIENCES if name.startswith("Tailrace"))
        raise ForbiddenError(
            f"This page reads data as one of the roles {known}; ask the administrator for one."
        )
    return Viewer(current_user.username, bundles_of(role.id for role in roles), audience)


def bundles_of(roles: Iterable[int]) -> frozenset[str]:
    """Returns the bundles that the roles with these numbers hold, with one query."""
    from superset import db, security_manager

    held, named, on = (
        security_manager.permissionview_model,
        security_manager.permission_model,
        security_manager.viewmenu_model,
    )
    found = (
        db.session.query(named.name)
        .join(held, held.permission_id == named.id)
        .join(on, held.view_menu_id == on.id)
        .join(held.role)
        .filter(on.name == permissions.RESOURCE, security_manager.role_model.id.in_(list(roles)))
    )
    return frozenset(name.removeprefix("can_") for (name,) in found)


def sees_dashboard(slug: str) -> bool:
    """Returns whether Superset shows a dashboard to the person of this request."""
    from superset.commands.dashboard.exceptions import DashboardAccessDeniedError, DashboardNotFoundError
    from superset.daos.dashboard import DashboardDAO

    try:
        DashboardDAO.get_by_id_or_slug(slug)
    except (DashboardAccessDeniedError, DashboardNotFoundError):
        return False
    return True


def page(bundle: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a view that needs this bundle. Raises ValueError for an unknown one, when it is defined."""
    permissions.permission_of(bundle)

    def decorate(view: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(view)
        def checked(*arguments: Any, **named: Any) -> Any:
            if not current_user.is_authenticated:
                return _to_login()
            if not viewer().may(bundle):
                raise ForbiddenError(
                    "The administrator assigns roles; docs/ROLES.md lists what each one shows."
                )
            return view(*arguments, **named)

        checked.tailrace_bundle = bundle
        return with_policy(checked)

    return decorate


def with_policy(view: Callable[..., Any]) -> Callable[..., Any]:
    """Gives the answers of a view the content security policy of the pages; flask_talisman reads it."""
    view.talisman_view_options = {"content_security_policy": POLICY, "content_security_policy_nonce_in": []}
    return view


def _to_login() -> Any:
    """Redirects to the login, which leads back to this page; after a form, to the page with the form."""
    from superset import appbuilder

    target = request.full_path.rstrip("?") if request.method == "GET" else _referring_path()
    return redirect(appbuilder.get_url_for_login_with(request.script_root + target))


def _referring_path() -> str:
    referrer = request.referrer or ""
    return (
        referrer.removeprefix(request.host_url.rstrip("/")) if referrer.startswith(request.host_url) else "/"
    )
