"""The status of the byte range of an alert about a gap. A backfill does not change the alert, which states
the loss."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tailrace.plural import counted
from tailrace_pages import formats, links
from tailrace_pages.alerts import details
from tailrace_pages.page_errors import UnavailableError

if TYPE_CHECKING:
    from tailrace_pages.store import Store

NUMBERS = ("generation", "from_offset", "to_offset")
"""Facts of the alert, in the units of the ledger: the generation of the file, and bytes."""
UNREAD = "What is still missing of the lost bytes is unknown, because it could not be read now."
LEDGER = "/superset/dashboard/books/#TAB-books-what-is-missing"


@dataclass(frozen=True)
class Gap:
    """The sentences of the page, and the addresses of the pages with the range."""

    text: str
    is_repaired: bool
    addresses: Mapping[str, str]


def read(store: "Store", alert: Mapping[str, Any], has_evidence: bool) -> Gap | None:
    """Returns the state of the range; None for other alerts, and if the ledger no longer has the range. A
    state that cannot be read is unknown: the rest of the page, with the forms of the alert, does not need it.
    """
    known = alert["facts"]
    if not (all(known.get(name, "").isdecimal() for name in NUMBERS) and known.get("log")):
        return None
    numbers = {name: int(known[name]) for name in NUMBERS}
    log = {"instance": alert["instance"], "source": known.get("source", ""), "log": known["log"]}
    try:
        found = store.row("page_alert_gap", **log, **numbers)
    except UnavailableError:
        return Gap(UNREAD, False, _addresses(alert, has_evidence))
    if found is None:
        return None
    text = f"{_bytes(found)} {_minutes(found)}"
    return Gap(text, not found["missing_bytes"], _addresses(alert, has_evidence))


def _addresses(alert: Mapping[str, Any], has_evidence: bool) -> dict[str, str]:
    addresses = {"Gaps by file": LEDGER}
    if has_evidence:
        span = details.around(alert).arguments()
        addresses["Evidence of lost bytes"] = links.address("evidence", "pci", "gaps", arguments=span)
    return addresses


def _bytes(found: Mapping[str, Any]) -> str:
    lost, missing = int(found["lost_bytes"]), int(found["missing_bytes"])
    if found["repaired_at"] is None:
        return f"{counted(lost, 'lost byte is', 'lost bytes are')} still missing."
    at = f"shipped again, the last of them at {formats.time(found['repaired_at'])} UTC"
    if missing:
        return (
            f"{formats.count(lost - missing)} of {counted(lost, 'lost byte')} were {at}. "
            f"{counted(missing, 'byte is', 'bytes are')} still missing."
        )
    return f"{counted(lost, 'lost byte was', 'lost bytes were')} {at}. No byte is missing any more."


def _minutes(found: Mapping[str, Any]) -> str:
    if found["log_from"] is None or found["log_to"] is None:
        return "The minutes of the log that they cover are unknown: no records next to them are stored."
    span = f"{found['log_from']:%Y-%m-%d %H:%M} to {found['log_to']:%Y-%m-%d %H:%M} UTC"
    return f"They are of the minutes {span} of the log."
