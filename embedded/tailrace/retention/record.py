"""The record of what people order: deletions of days of the archive, rewinds, erasures and reveals of names.

They are rows of tailrace.legal_hold_actions, beside the legal holds: append-only, without a TTL, and in the
transparency log. So an auditor can tell rows that a named person deleted from rows that are missing.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailrace.clickhouse.client import ClickHouse
from tailrace.retention import holds
from tailrace.retention.holds import Reads

ACCOUNT = holds.ACCOUNT
DELETE_ARCHIVE, REWIND = "delete_archive", "rewind"
ERASE, REVEAL = "erase", "reveal"
TITLES: Mapping[str, str] = {DELETE_ARCHIVE: "Deletion from the archive", REWIND: "Rewind"}
"""Titles of the actions that delete rows."""
RECORDED = """
SELECT lower(replaceAll(toString(hold_id), '-', '')) AS id, action, case_name, actor, reason,
    selector AS details, formatDateTime(at, '%Y-%m-%dT%H:%i:%SZ', 'UTC') AS moment
FROM tailrace.legal_hold_actions WHERE action IN {actions:Array(String)} ORDER BY at, selector
"""


@dataclass(frozen=True)
class Recorded:
    """One row of the record. `at` is UTC, such as 2026-11-27T10:31:00Z."""

    id: str
    """Of the operation, 32 hexadecimal digits; its rows share it."""
    action: str
    at: str
    actor: str
    reason: str
    details: Mapping[str, object]
    """What was deleted: `table` and `rows`, and `day` of an archive or `from` and `to` of a rewind.
    Of an erasure or a reveal: `kind` and `pseudonym`; of a reveal also `role` and id of the `token`."""
    case_name: str = ""
    """Case of an erasure."""

    def text(self) -> str:
        """Returns who did it and when, after a verb."""
        return f"by {self.actor} on {self.at}: {self.reason}"


def append(
    auditor: ClickHouse,
    action: str,
    actor: str,
    reason: str,
    details: Sequence[Mapping[str, object]],
    id_: str,
    case: str = "",
) -> None:
    """Appends rows of one operation. Raises HoldError if the person or the reason is empty, ClickHouseError,
    OSError."""
    texts = [json.dumps(each, separators=(",", ":"), sort_keys=True) for each in details]
    holds.append(auditor, str(uuid.UUID(id_)), action, actor, reason, texts, case)


def new_id() -> str:
    return uuid.uuid4().hex


def listed(clickhouse: Reads, *actions: str) -> list[Recorded]:
    """Returns what was recorded in its order, by default deletions; nothing before the migrations have run.

    Raises ClickHouseError, ValueError, OSError.
    """
    if not holds.exists(clickhouse, "legal_hold_actions"):
        return []
    rows = clickhouse.rows(RECORDED, {"actions": list(actions or TITLES)})
    return [
        Recorded(
            id=str(row["id"]),
            action=str(row["action"]),
            at=str(row["moment"]),
            actor=str(row["actor"]),
            reason=str(row["reason"]),
            details=json.loads(str(row["details"])),
            case_name=str(row["case_name"]),
        )
        for row in rows
    ]


def archive_deletions(clickhouse: Reads) -> dict[tuple[str, str], list[Recorded]]:
    """Returns deletions by table and day of the archive, the earliest first. Raises as `listed`."""
    found: dict[tuple[str, str], list[Recorded]] = {}
    for each in listed(clickhouse, DELETE_ARCHIVE):
        found.setdefault((str(each.details["table"]), str(each.details["day"])), []).append(each)
    return found


@dataclass(frozen=True)
class Summary:
    """The rows of one operation and table, for people. `first` and `last` are days or times, UTC."""

    recorded: Recorded
    table: str
    first: str
    last: str
    rows: int


def summaries(found: Sequence[Recorded]) -> list[Summary]:
    """Returns operations by table, the newest first."""
    grouped: dict[tuple[str, str], list[Recorded]] = {}
    for each in found:
        grouped.setdefault((each.id, str(each.details.get("table"))), []).append(each)
    return [
        Summary(
            recorded=each[0],
            table=table,
            first=min(_first(one) for one in each),
            last=max(_last(one) for one in each),
            rows=sum(int(str(one.details.get("rows", 0))) for one in each),
        )
        for (_, table), each in reversed(grouped.items())
    ]


def _first(each: Recorded) -> str:
    return str(each.details.get("day") or each.details.get("from") or "")


def _last(each: Recorded) -> str:
    return str(each.details.get("day") or each.details.get("to") or "")
