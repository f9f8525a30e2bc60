"""Answers of pages: HTML by a template of templates/tailrace_pages, CSV, and the redirect after a form.

The templates have an environment of their own: everything is escaped, and an unknown name is an error.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import jinja2
from flask import Response, flash, g, get_flashed_messages, redirect, request, session, url_for
from flask_login import current_user
from flask_wtf.csrf import generate_csrf

from tailrace_pages import (
    csv_table,
    formats,
    kept_range,
    kept_selection,
    permissions,
    static_files,
    time_range,
)
from tailrace_pages.columns import Column, least_width
from tailrace_pages.page_errors import BadAddressError, BusyError, PageError
from tailrace_pages.time_range import TimeRange
from tailrace_pages.viewer import Viewer, viewer

PAGE_SIZE = 50
"""Rows of a table's page."""
SELECTED = "tailrace_selected"
"""Key of the session."""
KINDS = ("done", "failed")
"""Of messages after a form. Messages of Superset itself, such as "Access is Denied", are not shown."""

_menu: list[tuple[str, str]] = []
"""Titles and addresses of the registered pages, in the order of permissions.MENU."""


def now() -> datetime:
    return datetime.now(UTC)


def page_range(default: str = time_range.DEFAULT) -> TimeRange:
    """Returns the time range of this request's address. Raises BadAddressError."""
    g.tailrace_range = time_range.parse(request.args, now(), default)
    return g.tailrace_range


def shown_range() -> TimeRange:
    """Returns the time range that this request has read, or else that of `menu_range`."""
    return g.get("tailrace_range") or menu_range()


def menu_range() -> TimeRange:
    """Returns the time range of a page of the menu that keeps the range of the page before. An address with
    a range sets the one that is kept. Raises BadAddressError.
    """
    g.tailrace_range = kept_range.of_menu(now())
    return g.tailrace_range


def render(template: str, title: str, span: TimeRange | None = None, **context: Any) -> Response:
    """Returns a page. `template` is a file of templates/tailrace_pages; it extends base.html.

    With `span` the page has links and a form that change the time range.
    """
    seen_by = viewer()
    known = {
        "title": title,
        "span": span,
        "ranges": _range_links(span) if span else [],
        "fixed_times": fixed_times(span) if span else "",
        "kept": [(name, value) for name, value in _arguments() if name not in (*time_range.NAMES, "page")],
        "viewer": seen_by,
        "navigation": navigation(seen_by),
        "messages": get_flashed_messages(with_categories=True, category_filter=KINDS),
        "selected": session.pop(SELECTED, ()),
    }
    return _html(template, {**known, **context})


def render_public(template: str, title: str, **context: Any) -> Response:
    """Returns a page for visitors who are not logged in."""
    known = {"title": title, "viewer": None, "span": None, "messages": [], "navigation": []}
    return _html(template, {**known, **context})


def render_error(error: PageError) -> Response:
    """Returns the page of an error, with the navigation of the viewer if one is logged in and has a role."""
    try:
        seen_by = viewer() if current_user.is_authenticated else None
    except PageError:
        seen_by = None
    again = changed() if isinstance(error, BusyError) and request.method == "GET" else ""
    known = {"title": error.title, "sentence": str(error), "again": again}
    known |= {"viewer": seen_by, "span": None, "messages": []}
    return _html("error.html", {**known, "navigation": navigation(seen_by) if seen_by else []})


def _html(template: str, context: Mapping[str, Any]) -> Response:
    text = _environment.get_template(f"tailrace_pages/{template}").render(context)
    answer = Response(text, mimetype="text/html")
    answer.headers["Cache-Control"] = "no-store"
    return answer


def wants_csv() -> bool:
    """Whether the address ends with `format=csv`."""
    return request.args.get("format") == "csv"


def csv_answer(name: str, columns: Sequence[Column], rows: Sequence[Mapping[str, object]]) -> Response:
    """Returns rows as a file to save, whose name ends with the time range of the page; give it at most
    csv_table.LIMIT + 1 rows."""
    answer = Response(csv_table.lines(columns, rows), mimetype="text/csv")
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}{_of_range()}.csv"'
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _of_range() -> str:
    span = g.get("tailrace_range")
    return f"-{span.since:{csv_table.FILE_TIME}}-{span.until:{csv_table.FILE_TIME}}" if span else ""


def back_with(message: str, to: str, kind: str = "done", selected: Iterable[str] = ()) -> Any:
    """Redirects to a page of ours after a form, where the message is shown once; `kind`: one of KINDS.

    Checkboxes of that page with the values `selected` are selected there.
    """
    flash(message, kind)
    if kept := kept_selection.shortened(selected):
        session[SELECTED] = kept
    return redirect(to, 303)


def changed(**arguments: str | None) -> str:
    """Returns the address of this page with other arguments; None removes one."""
    left = [(name, value) for name, value in _arguments() if name not in arguments]
    given = [(name, value) for name, value in arguments.items() if value is not None]
    query = "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in left + given)
    return f"{request.script_root}{_quoted(request.path)}" + (f"?{query}" if query else "")


def fixed_times(span: TimeRange) -> str:
    """Returns the address of this page with the times of a relative range; empty for a range of two times."""
    if not span.name:
        return ""
    return changed(**{"range": None, **TimeRange(span.since, span.until).arguments()})


def navigation(seen_by: Viewer) -> list[tuple[str, str, bool]]:
    """Returns title, address and whether it is the current page, for each page that the viewer may see."""
    shown = [(title, path) for title, path in _menu if seen_by.may(permissions.MENU[title])]
    return [(title, request.script_root + path, request.path.startswith(path)) for title, path in shown]


def has_page(title: str) -> bool:
    """Whether the page with this title of the menu is registered and shown to the viewer."""
    return title in dict(_menu) and viewer().may(permissions.MENU[title])


def page_number(last: int = 9999) -> int:
    """Returns the number of the table's page in the address, which begins with 1. Raises BadAddressError."""
    text = request.args.get("page", "1")
    if not (text.isdecimal() and len(text) <= 4 and 1 <= int(text) <= last):
        raise BadAddressError(f"page={text} is not the number of a page, 1 to {last}.")
    return int(text)


def set_menu(pages: Mapping[str, str]) -> None:
    """Sets the addresses of the registered pages by their titles."""
    _menu[:] = [(title, pages[title]) for title in permissions.MENU if title in pages]


def asset(name: str) -> str:
    """Returns the address of a static file."""
    return url_for("tailrace_pages.static_file", digest=static_files.digest(name), name=name)


def _range_links(span: TimeRange) -> list[tuple[str, str, bool]]:
    links = []
    for name in time_range.NAMED:
        address = changed(**{"range": name, "from": None, "to": None, "page": None})
        links.append((name, address, name == span.name))
    return links


def _arguments() -> list[tuple[str, str]]:
    return list(request.args.items(multi=True))


def _quoted(text: str) -> str:
    return quote(text, safe=":/")


_environment = jinja2.Environment(
    loader=jinja2.PackageLoader("tailrace_pages"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_environment.globals.update(
    asset=asset,
    changed=changed,
    csrf_token=generate_csrf,
    formats=formats,
    json=json.dumps,
    kept_selection=kept_selection,
    least_width=least_width,
    link=url_for,
)
