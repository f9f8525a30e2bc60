"""What the page reads as the account of the viewer's audience."""

from collections.abc import Mapping
from typing import Any

from tailrace.evidence.parameters import retention
from tailrace.migrations import expiry, hold_state
from tailrace.retention.selection import Selection, selection
from tailrace.retention.selectors import Selector
from tailrace_pages.store import store


class Reading:
    """The viewer's access to ClickHouse, in the form that tailrace.retention reads."""

    def rows(self, statement: str, parameters: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
        return store().rows(statement, **(parameters or {}))


def selected(selector: Selector) -> Selection:
    """Returns what a selector selects now. Raises UnavailableError."""
    return selection(Reading(), selector, expiry.times(retention()))


def unapplied(selector: Selector) -> list[str] | None:
    """Returns the tables whose TTL does not keep the selected rows yet; None if the viewer sees no TTL.

    Raises UnavailableError.
    """
    return hold_state.unapplied(Reading(), selector, retention())
