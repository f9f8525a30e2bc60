"""Backtests of a rule, which the evidence service runs (tailrace.rules.backtests).

SUPERSET_EVIDENCE_SOCKET    its Unix socket; without it the page names the command
"""

import os
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from tailrace.dashboards.connections import DATABASE_USERS
from tailrace.evidence.service.client import EvidenceService, NoServiceError, ServiceError
from tailrace_pages import formats
from tailrace_pages.columns import Column
from tailrace_pages.page_errors import BadAddressError

SOCKET = "SUPERSET_EVIDENCE_SOCKET"
DAYS = (7, 30, 90)
NOT_HERE = "This installation runs no backtests for the dashboards."
NOT_RUNNING = "The service that runs backtests does not answer."
SECTIONS = {
    "rule": "Rule",
    "exception": "Exception",
    "day": "Day",
    "entity": "Entity",
    "sample": "Example",
    "not_judged": "Not judged",
    "run": "Run",
}
"""Sections of `tailrace rules backtest`, in the order of the table."""
RUN = {
    "since": "begin of the period",
    "until": "end of the period",
    "warm_up_since": "begin of the events read, without alerts",
    "first_event": "first stored event",
    "events_read": "events read",
}
"""Items of the section `run`."""
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z")
RESULT = (
    Column("part", "Part", 12),
    Column("rule", "Rule", 28),
    Column("item", "Day, entity, time or exception", 28),
    Column("alerts", "Alerts or matches", 10),
    Column("detail", "Detail", 0),
)


def latest(rule: str, database: str, environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Returns the latest backtest of a rule and the running one; `problem` says why there is none.

    `database` is the viewer's.
    """
    nothing = {"latest": None, "running": None}
    if not environment.get(SOCKET):
        return {**nothing, "problem": NOT_HERE}
    try:
        service = EvidenceService(Path(environment[SOCKET]))
        found = service.latest_backtest(rule, DATABASE_USERS[database].removeprefix("reader_"))
    except NoServiceError:
        return {**nothing, "problem": NOT_RUNNING}
    except ServiceError as error:
        return {**nothing, "problem": _sentence(error)}
    return {**_times(found), "problem": ""}


def start(rule: str, days: str, actor: str, environment: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """Starts a backtest. Returns a message and its kind for rendering.back_with. Raises BadAddressError."""
    if days not in map(str, DAYS):
        raise BadAddressError(f"days={days} does not exist; there are {', '.join(map(str, DAYS))}.")
    if not environment.get(SOCKET):
        return NOT_HERE, "failed"
    try:
        EvidenceService(Path(environment[SOCKET])).start_backtest(rule, int(days), actor)
    except NoServiceError:
        return NOT_RUNNING, "failed"
    except ServiceError as error:
        return _sentence(error), "failed"
    return f"Backtest of {days} days started.", "done"


def _times(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _state(state) if state else None for name, state in found.items()}


def _state(state: Mapping[str, Any]) -> dict[str, Any]:
    times = {name: state[name] for name in ("requested_at", "ended_at")}
    parsed = {name: datetime.fromisoformat(text) if text else None for name, text in times.items()}
    return {**state, **parsed, "rows": rows(state["rows"])}


def rows(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows of a result by section, each with the title of its section."""
    order = [*SECTIONS]
    known = [row for row in found if row["section"] in SECTIONS]
    return [_shown(row) for row in sorted(known, key=lambda row: order.index(row["section"]))]


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a row with entities, times and names as other pages write them."""
    section, item, detail = row["section"], str(row.get("item") or ""), row.get("detail")
    if section == "entity":
        item = formats.entity(item)
    elif section == "sample":
        item, detail = _time(item), formats.entity(str(detail or ""))
    elif section == "run":
        item, detail = RUN.get(item, item), _time(str(detail or ""))
    return {**row, "part": SECTIONS[section], "item": item, "detail": detail}


def _time(text: str) -> str:
    """Returns a time as pages write it, in UTC; another text as it is."""
    found = _TIME.fullmatch(text)
    return f"{found[1]} {found[2]} UTC" if found else text


def _sentence(error: ServiceError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."
