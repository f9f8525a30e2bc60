"""Legal holds: rows that are not deleted while a case needs them.

A hold is placed by one person. Its release is requested by a person and confirmed by another. All of it is
appended to tailrace.legal_hold_actions; the view tailrace.legal_holds derives the state of each hold.
"""

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Protocol

from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.errors import ReportedError
from tailrace.retention.selectors import Selector, from_json

ACCOUNT = "auditor"
"""The user of ClickHouse that appends actions; it can neither change nor delete them."""
PLACE, REQUEST, CONFIRM = "place", "request_release", "confirm_release"
RELEASED = "released"
HOLDS = """
SELECT lower(replaceAll(toString(hold_id), '-', '')) AS id, case_name, selector, state,
    toString(placed_at) AS placed_at, placed_by, placed_because,
    toString(requested_at) AS requested_at, requested_by, requested_because,
    toString(released_at) AS released_at, released_by
FROM tailrace.legal_holds ORDER BY legal_holds.placed_at, id
"""
PLACED = "SELECT case_name, selector, placed_by FROM tailrace.legal_holds WHERE hold_id = {id:UUID}"
ACTIONS = """
SELECT action, formatDateTime(at, '%Y-%m-%d %H:%i:%S', 'UTC') AS moment, actor, reason, account
FROM tailrace.legal_hold_actions WHERE hold_id = {id:UUID} ORDER BY at
"""
_ID = re.compile(r"[0-9a-f]{1,32}")
_WHOLE_ID = re.compile(r"[0-9a-f]{32}")


class Reads(Protocol):
    """Access to ClickHouse that reads: that of the command line, or of a page's viewer."""

    def rows(self, statement: str, parameters: Mapping[str, object] | None = None) -> list[Row]: ...


class HoldError(ReportedError):
    """A hold cannot be placed, found or released; the message is shown to the user."""


@dataclass(frozen=True)
class Hold:
    """A legal hold as it is stored. Times are UTC; None and empty: not yet."""

    id: str
    """32 hexadecimal digits."""
    case_name: str
    selector: Selector
    state: str
    """active, release requested or released."""
    placed_at: str
    placed_by: str
    placed_because: str
    requested_at: str | None = None
    requested_by: str = ""
    requested_because: str = ""
    released_at: str | None = None
    released_by: str = ""

    @property
    def is_in_force(self) -> bool:
        """A hold keeps its rows until its release was confirmed."""
        return self.state != RELEASED

    def is_requested_by(self, name: str) -> bool:
        """Whether this person requested the release, so that another one must confirm it."""
        return bool(self.requested_by) and _person(self.requested_by) == _person(name)


def listed(clickhouse: Reads) -> list[Hold]:
    """Returns all holds in the order in which they were placed; none before the migrations have run.

    Raises ClickHouseError, SelectorError, OSError.
    """
    if not exists(clickhouse, "legal_holds"):
        return []
    return [_hold(row) for row in clickhouse.rows(HOLDS)]


def actions(clickhouse: Reads, id_: str) -> list[Row]:
    """Returns the recorded actions of one hold, the oldest first, with the columns of ACTIONS; times are UTC.

    `id_` has 32 hexadecimal digits. Raises ClickHouseError, OSError.
    """
    return clickhouse.rows(ACTIONS, {"id": str(uuid.UUID(id_))})


def in_force(clickhouse: Reads) -> list[Hold]:
    """Returns the holds that are not released. Raises as `listed`."""
    return [hold for hold in listed(clickhouse) if hold.is_in_force]


def exists(clickhouse: Reads, table: str) -> bool:
    """Whether database tailrace has this table or view, and the user may see it."""
    known = "SELECT 1 FROM system.tables WHERE database = 'tailrace' AND name = {table:String}"
    return bool(clickhouse.rows(known, {"table": table}))


def _hold(row: Row) -> Hold:
    return Hold(**{**row, "selector": from_json(str(row["selector"]))})


def place(
    clickhouse: ClickHouse, case: str, selector: Selector, actor: str, reason: str, id_: str = ""
) -> str:
    """Appends a new hold; returns its id. Its rows are held once the TTLs were applied.

    `id_` has 32 hexadecimal digits: if this hold exists, nothing is appended. By default it is a new one.
    Raises HoldError, also if the existing hold is another one, ClickHouseError, OSError.
    """
    if id_ and not _WHOLE_ID.fullmatch(id_):
        raise HoldError("the id of a hold has 32 hexadecimal digits")
    uuid_ = str(uuid.UUID(id_)) if id_ else str(uuid.uuid4())
    known = clickhouse.rows(PLACED, {"id": uuid_}) if id_ else []
    wanted = {"case_name": case, "selector": selector.as_json()}
    if not known:
        _append(clickhouse, uuid_, PLACE, actor, reason, **wanted)
    elif known != [{**wanted, "placed_by": actor.strip()}]:
        raise HoldError(f"the hold {id_[:8]} was already placed, with another case, selector or person")
    return uuid.UUID(uuid_).hex


def release(clickhouse: ClickHouse, prefix: str, actor: str, reason: str, step: str = "") -> Hold:
    """Requests the release of a hold, or confirms the request of another person; returns the hold after it.

    `step` is REQUEST or CONFIRM if the person has chosen one, on a page that may be older than the state.
    Raises HoldError if the hold is unknown or released, if the person who requested the release would confirm
    it, or if its next step is another one.
    """
    hold = find(listed(clickhouse), prefix)
    if not hold.is_in_force:
        raise HoldError(f"{hold.id[:8]} was released at {hold.released_at} UTC by {hold.released_by}")
    if hold.is_requested_by(actor):
        raise HoldError(
            f"{hold.requested_by} has requested the release of {hold.id[:8]}: another person must confirm it"
        )
    action = CONFIRM if hold.requested_by else REQUEST
    if step not in ("", action):
        told = f"{hold.requested_by} has requested" if hold.requested_by else "nobody has requested"
        raise HoldError(f"{told} the release of {hold.id[:8]}")
    _append(clickhouse, str(uuid.UUID(hold.id)), action, actor, reason)
    return find(listed(clickhouse), hold.id)


def _person(name: str) -> str:
    return name.strip().casefold()


def find(holds: Sequence[Hold], prefix: str) -> Hold:
    """Returns the hold whose id has this prefix. Raises HoldError."""
    prefix = prefix.lower().replace("-", "")
    found = [hold for hold in holds if hold.id.startswith(prefix)] if _ID.fullmatch(prefix) else []
    if len(found) != 1:
        what = f"{prefix} matches the ids of {len(found)} holds" if found else f"there is no hold {prefix}"
        raise HoldError(f"{what}; see: tailrace hold list")
    return found[0]


def _append(clickhouse: ClickHouse, id_: str, action: str, actor: str, reason: str, **more: str) -> None:
    if any(not text.strip() for text in more.values()):
        raise HoldError("a hold needs a case and a selector")
    _insert(clickhouse, [{**_row(id_, action, actor, reason), **more}])


def append(
    clickhouse: ClickHouse,
    id_: str,
    action: str,
    actor: str,
    reason: str,
    selectors: Sequence[str],
    case: str = "",
) -> None:
    """Appends a row with each selector, in one insert. Raises HoldError, ClickHouseError, OSError."""
    common = {**_row(id_, action, actor, reason), "case_name": case}
    _insert(clickhouse, [{**common, "selector": each} for each in selectors])


def _row(id_: str, action: str, actor: str, reason: str) -> dict[str, str]:
    if not actor.strip() or not reason.strip():
        raise HoldError("the record needs a reason and the name of a person")
    return {"hold_id": id_, "action": action, "actor": actor.strip(), "reason": reason}


def _insert(clickhouse: ClickHouse, rows: Sequence[Mapping[str, str]]) -> None:
    clickhouse.insert(f"tailrace.legal_hold_actions ({', '.join(rows[0])})", rows)


def held_days(clickhouse: Reads, table: str, first: date, last: date) -> set[date]:
    """Returns the days (UTC) of `first` to `last`, inclusive, that an archive must keep for a hold.

    A hold without a key that the table lacks holds each day of its time range: whether the rows of that day
    match is not asked, because ClickHouse may have deleted those that only the archive still has.
    """
    columns = stored_columns(clickhouse).get(table, frozenset())
    selectors = [hold.selector for hold in in_force(clickhouse)]
    chosen = [each for each in selectors if each.condition(table, columns, "at") is not None]
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    return {day for day in days if any(each.touches(day) for each in chosen)}


def stored_columns(clickhouse: Reads, database: str = "tailrace") -> dict[str, frozenset[str]]:
    """Returns by table the columns that are stored, without aliases."""
    rows = clickhouse.rows(
        "SELECT table, groupArray(name) AS columns FROM system.columns WHERE database = {database:String} "
        "AND default_kind != 'ALIAS' GROUP BY table",
        {"database": database},
    )
    return {str(row["table"]): frozenset(row["columns"]) for row in rows}
