"""The list of the work pages, and how Superset gets to know them. superset_config.py calls `register`.

A page module has

    PAGE = Page("Queries", "/tailrace/queries/")     its title in permissions.MENU and its first address
    blueprint = Blueprint("tailrace_queries", __name__)      its views, each decorated with @page(bundle)
"""

import importlib
import logging
from typing import Any

from flask import Blueprint, Flask, Response, request

from tailrace_pages import permissions, rendering, static_files
from tailrace_pages.page import Page
from tailrace_pages.page_errors import BusyError, NotFoundError, PageError
from tailrace_pages.search import schedule_access
from tailrace_pages.viewer import with_policy

PAGES = (
    "tailrace_pages.alerts.views",
    "tailrace_pages.search.views",
    "tailrace_pages.rules.views",
    "tailrace_pages.statements.views",
    "tailrace_pages.entities.views",
    "tailrace_pages.evidence.views",
    "tailrace_pages.setup.views",
    "tailrace_pages.retention.views",
)
"""The modules of the pages, one line each."""

ROOT = "/tailrace/"
YEAR_SECONDS = 365 * 86_400

_log = logging.getLogger(__name__)


def register(app: Flask) -> None:
    """Adds the pages, their entries in Superset's menu and their permissions to the application."""
    modules = [importlib.import_module(name) for name in PAGES]
    for blueprint in (_own_blueprint(), *(module.blueprint for module in modules)):
        blueprint.register_error_handler(PageError, _error_page)
        app.register_blueprint(blueprint)
    pages = [module.PAGE for module in modules]
    rendering.set_menu({page.title: page.path for page in pages})
    _add_to_menu(pages)
    add_permissions()
    schedule_access.register(app)


def add_permissions() -> None:
    """Creates the permissions that are missing, for roles to be granted; Superset's Admin gets all of them.

    Does nothing in a database without Superset's tables: metadata.py calls it again when it has made them.
    """
    from sqlalchemy import inspect
    from superset import db, security_manager

    if not inspect(db.engine).has_table(security_manager.permissionview_model.__tablename__):
        return
    admin = security_manager.find_role(security_manager.auth_role_admin)
    for name, resource in permissions.wanted():
        found = security_manager.find_permission_view_menu(name, resource)
        if found is None:
            found = security_manager.add_permission_view_menu(name, resource)
            if admin is not None:
                security_manager.add_permission_role(admin, found)


def _add_to_menu(pages: list[Page]) -> None:
    from superset import appbuilder

    known = {page.title: page.path for page in pages}
    for title in permissions.MENU:
        if title in known:
            appbuilder.add_link(title, href=known[title], label=title)


def _own_blueprint() -> Blueprint:
    """The static files, and a page for addresses below ROOT that no page has."""
    blueprint = Blueprint("tailrace_pages", __name__)

    @blueprint.get(f"{ROOT}static/<digest>/<name>")
    @with_policy
    def static_file(digest: str, name: str) -> Response:
        try:
            content = static_files.read(name)
        except FileNotFoundError:
            raise NotFoundError("There is no such file.") from None
        answer = Response(content, mimetype=static_files.media_type(name))
        answer.cache_control.public = True
        answer.cache_control.max_age = YEAR_SECONDS if digest == static_files.digest(name) else 0
        answer.cache_control.immutable = digest == static_files.digest(name)
        return answer

    @blueprint.get(f"{ROOT}<path:rest>")
    @with_policy
    def unknown(rest: str) -> Response:
        raise NotFoundError(f"There is no page {request.path}; the menu lists the pages of your role.")

    return blueprint


def _error_page(error: PageError) -> Any:
    if "text/html" in request.accept_mimetypes:
        answer = rendering.render_error(error)
    else:
        answer = Response(f"{error}\n", mimetype="text/plain")
    answer.status_code = error.status
    if isinstance(error, BusyError):
        answer.headers["Retry-After"] = f"{error.retry_seconds}"
    return answer
