"""Builds the alert of errant transactions, a row of tailrace.alerts in the format of the detect job."""

import hashlib
import uuid
from datetime import UTC, datetime

from tailrace.alerts.entity_key import entity_key
from tailrace.alerts.link import link_path
from tailrace.clickhouse.client import Row
from tailrace.snapshots.errant_transactions import Verdict

ALERTS = "alerts"
RULE_ID = "9f0b6a52-6a3f-4f1e-8a0e-51f1c7b9a3d4"
TITLE = "Errant transactions on a replica"
NEXT_STEPS = (
    "Read the written rows with mysqlbinlog on the replica, for the transactions listed here.",
    "Find out which accounts could write there: read_only, super_read_only, SUPER, CONNECTION_ADMIN.",
    "Before a failover: apply them at the source, inject empty ones there, or rebuild the replica.",
)
FALSE_POSITIVES = (
    "A source was reset (RESET MASTER) before Tailrace first read it.",
    "Maintenance on the replica that did not switch off its binary log.",
)


def alert_of(verdict: Verdict) -> Row:
    """Returns one row. It is the same alert from the first errant transaction until there is none; later rows
    contain what was added, and the end."""
    member = verdict.member
    entity = {"cluster": member.cluster, "instance": member.instance}
    identity = "\0".join((RULE_ID, member.instance, f"{verdict.began:.3f}")).encode()
    began, at = (int(seconds * 1_000_000) for seconds in (verdict.began, verdict.at))
    return {
        "alert_id": str(uuid.UUID(bytes=hashlib.sha256(identity).digest()[:16])),
        "rule_id": RULE_ID,
        "rule_title": TITLE,
        "level": "high",
        "tags": ["attack.impact", "attack.t1565.001"],
        **entity,
        "entity": entity,
        "entity_key": entity_key(entity),
        "event_time": _written(began),
        "window_from": _written(began),
        "seen_at": _written(began),
        "updated_at": _written(at),
        "count": 1,
        "metric": verdict.count,
        "event_ids": [],
        "statements": [],
        "facts": _facts(verdict, at),
        "link_path": link_path(entity, TITLE, began, began),
        "next_steps": list(NEXT_STEPS),
        "false_positives": list(FALSE_POSITIVES),
        "rule_file": "embedded/tailrace/snapshots/errant_transactions.py",
    }


def _facts(verdict: Verdict, at: int) -> dict[str, str]:
    if verdict.errant:
        return verdict.attributes
    return {**verdict.attributes, "gtids": verdict.before, "over_at": _written(at)}


def _written(micros: int) -> str:
    return f"{datetime.fromtimestamp(micros / 1_000_000, UTC):%Y-%m-%d %H:%M:%S.%f}"
