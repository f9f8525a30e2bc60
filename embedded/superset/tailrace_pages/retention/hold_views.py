"""The routes of legal holds: a new one with its preview, the page of one, and its release."""

import re
from dataclasses import replace
from typing import Any

from flask import request, url_for

from tailrace.retention import holds
from tailrace.retention.holds import Hold
from tailrace.retention.selectors import Selector
from tailrace_pages import rendering
from tailrace_pages.page_errors import BadAddressError, NotFoundError, UnavailableError
from tailrace_pages.retention import hold_listing, holding
from tailrace_pages.retention.blueprint import blueprint
from tailrace_pages.retention.holding import RefusedError, Wanted
from tailrace_pages.retention.reading import Reading, selected, unapplied
from tailrace_pages.viewer import page, viewer

PLACED = (
    "{} placed the hold. The next run of retention applies it. On one machine, the application begins within "
    "about a minute; in containers, with the schedule of the installation. Until it ends, expired rows can "
    "still be deleted."
)
CHANGED = "The selector differs from the preview. Check the selected rows, then place the hold."

_ID = re.compile(r"[0-9a-f]{32}")


@blueprint.get("/tailrace/retention/holds/new/")
@page("place_holds")
def new_hold() -> Any:
    """The form of a new hold. A selector of the address is previewed."""
    given = Wanted(selector=holding.text(request.args, "selector"))
    if not given.selector:
        return _form(given)
    try:
        selector = given.parsed()
    except RefusedError as error:
        return _form(given, str(error))
    if rendering.wants_csv():
        return _csv_of_selected(selector)
    return _form(given)


@blueprint.post("/tailrace/retention/holds/new/")
@page("place_holds")
def place_hold() -> Any:
    """Shows what the hold would select, or places it if this was shown."""
    action, given = holding.action(request.form), holding.wanted(request.form)
    try:
        given.parsed()
        if action == holding.PREVIEW:
            return _form(given)
        if not given.is_previewed:
            return _form(given, CHANGED)
        id_ = holding.place(given, viewer().name, viewer().audience)
    except RefusedError as error:
        return _form(given, str(error), error.is_unknown)
    message = PLACED.format(viewer().name)
    return rendering.back_with(message, url_for("tailrace_retention.hold", id_=id_))


@blueprint.get("/tailrace/retention/holds/<id_>/")
@page("retention")
def hold(id_: str) -> Any:
    """One hold: what it selects, its record, and the form of its release."""
    return _page_of(_known(id_))


def _page_of(found: Hold, refusal: str = "", reason: str = "") -> Any:
    """The page of a hold, with a release that was refused. Its forms do not depend on what can be counted."""
    record = hold_listing.record_rows(holds.actions(Reading(), found.id))
    if rendering.wants_csv():
        return _csv(found, record)
    name, may_hold = viewer().name, viewer().may("place_holds")
    restriction = holding.refusal(viewer().audience) if may_hold and found.is_in_force else ""
    return rendering.render(
        "retention/hold.html",
        f"Legal hold {found.id[:8]}",
        hold=found,
        facts=_facts(found),
        found=_selected(found.selector) if found.is_in_force else None,
        columns=hold_listing.SELECTED,
        record_columns=hold_listing.RECORD,
        record=record,
        step=holding.next_step(found, name) if may_hold else "",
        restriction=restriction,
        refusal=refusal,
        reason=reason,
        text_length=holding.TEXT_LENGTH,
        waits=may_hold and found.is_in_force and found.is_requested_by(name),
        is_here=holding.is_here(),
    )


@blueprint.post("/tailrace/retention/holds/<id_>/release/")
@page("place_holds")
def release_hold(id_: str) -> Any:
    """Requests the release of a hold, or confirms the request of another person."""
    found, step = _known(id_), holding.step(request.form)
    back = url_for("tailrace_retention.hold", id_=found.id)
    reason, seen_by = holding.text(request.form, "reason"), viewer()
    try:
        holding.require_length("reason", reason)
    except RefusedError as error:
        return _page_of(found, str(error), reason)
    try:
        message = holding.release(found, step, reason, seen_by.name, seen_by.audience)
    except RefusedError as error:
        return rendering.back_with(str(error), back, "failed")
    return rendering.back_with(message, back)


def _form(given: Wanted, refusal: str = "", is_unknown: bool = False) -> Any:
    """The form with its input, and with the selected rows if the selector can be read."""
    found = _preview(given)
    return rendering.render(
        "retention/hold_new.html",
        "New legal hold",
        given=given if given.hold else replace(given, hold=holding.new_id()),
        restriction=holding.refusal(viewer().audience),
        refusal=refusal,
        is_unknown=is_unknown,
        found=found,
        columns=hold_listing.SELECTED,
        is_here=holding.is_here(),
        text_length=holding.TEXT_LENGTH,
    )


def _preview(given: Wanted) -> dict[str, Any] | None:
    try:
        return _selected(given.parsed())
    except RefusedError:
        return None


def _selected(selector: Selector) -> dict[str, Any]:
    """What a selector selects, or that it could not be counted."""
    try:
        return hold_listing.summary(selected(selector))
    except UnavailableError as error:
        return hold_listing.uncounted(str(error))


def _facts(found: Hold) -> list[tuple[str, str]]:
    try:
        return hold_listing.facts(found, unapplied(found.selector) if found.is_in_force else None)
    except UnavailableError as error:
        return hold_listing.facts(found, None, str(error))


def _known(id_: str) -> Hold:
    """Returns a hold that the viewer sees. Raises NotFoundError."""
    listed = holds.listed(Reading()) if _ID.fullmatch(id_) else []
    found = next((each for each in listed if each.id == id_), None)
    if found is None:
        raise NotFoundError("There is no legal hold with this id.")
    return found


def _csv(found: Hold, record: list[dict[str, Any]]) -> Any:
    """One of the tables of a hold."""
    name = request.args.get("table", "record")
    if name == "record":
        return rendering.csv_answer("hold-record", hold_listing.RECORD, record)
    if name == "selected":
        return _csv_of_selected(found.selector)
    raise BadAddressError(f"table={name} does not exist; there are record and selected.")


def _csv_of_selected(selector: Selector) -> Any:
    rows = hold_listing.selected_rows(selected(selector))
    return rendering.csv_answer("hold-selected", hold_listing.SELECTED, rows)
