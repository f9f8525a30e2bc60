"""The forms of the alert inbox: what they offer, and where they lead."""

from collections.abc import Callable
from typing import Any

from flask import request

from tailrace.alerts import triage
from tailrace.alerts.triage import AlertError
from tailrace.clickhouse.client import ClickHouseError
from tailrace_pages import rendering
from tailrace_pages.alerts import filters, handling, restrictions
from tailrace_pages.alerts.blueprint import PAGE
from tailrace_pages.page_errors import UnavailableError
from tailrace_pages.viewer import viewer

RULES = "/tailrace/rules/"
"""The pages of rules, which have forms of suppressions."""


def done(action: Callable[[], str], failure: Callable[[AlertError], str] = handling.failure) -> Any:
    """Does the action and goes back to the page of the form, which shows the result once. The rows that were
    selected in the form stay selected there."""
    selected = request.form.getlist("ids")
    try:
        return rendering.back_with(action(), back(), selected=selected)
    except AlertError as error:
        return rendering.back_with(failure(error), back(), "failed", selected)
    except ClickHouseError as error:
        raise UnavailableError(f"ClickHouse refused the action: {error}") from error


def back() -> str:
    """Returns the address from which a form came, if it is one of the inbox or of a rule."""
    path = request.form.get("back", "")
    roots = tuple(request.script_root + root for root in (PAGE.path, RULES))
    return path if path.startswith(roots) and "\\" not in path else roots[0]


def restricted() -> frozenset[str]:
    """The columns by which the viewer's audience is restricted."""
    return restrictions.columns_of(viewer().audience)


def choices() -> dict[str, Any]:
    """What the forms offer."""
    return {
        "choices": filters.CHOICES,
        "verdicts": triage.VERDICTS,
        "actions": handling.ACTIONS,
        "allowed": tuple(handling.ACTIONS),
        "scopes": handling.SCOPES,
        "spans": tuple(handling.SPANS),
        "can_act": handling.can_act() and viewer().may("handle_alerts"),
        "can_suppress": handling.can_suppress() and viewer().may("handle_alerts"),
        "back": request.script_root + request.full_path.rstrip("?"),
    }
