"""What a channel receives of a run: the form of an alert, so that every kind of channel can send it."""

import uuid
from datetime import datetime
from urllib.parse import quote

from tailrace.alerts.delivery.delivery_log import Due
from tailrace.search.scheduled.found import Found
from tailrace.search.scheduled.saved import NAMESPACE, SavedSearch
from tailrace.search.scheduled.slots import Slot

PAGE = "/tailrace/search/?q="
MAX_LINE = 300
NO_TAGS: list[str] = []


def message(search: SavedSearch, slot: Slot, found: Found, attempt: int) -> Due:
    """Returns the delivery of a run. Its id is the same for every attempt, so receivers drop repetitions."""
    title = f"Scheduled search {search.name}: {_events(found.events)}"
    return Due(
        {
            "alert_id": str(run_id(search, slot)),
            "rule_id": str(uuid.UUID(search.id)),
            "rule_title": title,
            "rule_file": "",
            "level": "informational",
            "tags": NO_TAGS,
            "cluster": "",
            "instance": "",
            "entity": {},
            "entity_key": "",
            "event_time": _written(slot.until),
            "window_from": _written(slot.since),
            "detected_at": _written(slot.until),
            "count": 1,
            "metric": found.events,
            "late": False,
            "event_ids": [],
            "statements": [line[:MAX_LINE] for line in found.lines],
            "facts": _facts(search, slot, found),
            "link_path": PAGE + quote(found.search, safe=""),
            "user": "",
            "src_ip": "",
            "database": "",
            "program": "",
            "next_steps": _next_steps(slot, found),
            "false_positives": [],
        },
        attempt,
        0,
    )


def run_id(search: SavedSearch, slot: Slot) -> uuid.UUID:
    """Returns the id of a run."""
    return uuid.uuid5(NAMESPACE, f"{search.owner}\n{search.name}\n{int(slot.until.timestamp())}")


def missed_text(slot: Slot) -> str:
    """Returns what was not searched, empty if no run was missed."""
    if not slot.missed:
        return ""
    runs = "1 run was" if slot.missed == 1 else f"{slot.missed} runs were"
    return f"{runs} missed, so no run covered {_shown(slot.missed_since)} to {_shown(slot.since)} UTC"


def _facts(search: SavedSearch, slot: Slot, found: Found) -> dict[str, str]:
    facts = {
        "search": found.search,
        "events": str(found.events),
        "owner": search.owner,
        "role": search.role,
        "shown events": str(len(found.lines)),
        "missed runs": missed_text(slot),
    }
    return {name: value for name, value in facts.items() if value}


def _next_steps(slot: Slot, found: Found) -> list[str]:
    missed = missed_text(slot)
    return [*([f"{missed}: search this time yourself."] if missed else []), "Open the search."]


def _events(events: int) -> str:
    return "1 event" if events == 1 else f"{events} events"


def _shown(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"


def _written(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S.%f}"
