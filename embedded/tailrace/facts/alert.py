"""The alert of errant transactions, a row of tailrace.alerts as the detect job writes them."""

import hashlib
import uuid
from datetime import UTC, datetime

from tailrace.alert_link import link_path
from tailrace.clickhouse import Row
from tailrace.facts.errant import Verdict

ALERTS = "alerts"
RULE_ID = "9f0b6a52-6a3f-4f1e-8a0e-51f1c7b9a3d4"
TITLE = "Errant transactions on a replica"
NEXT_STEPS = (
    "Look at what was written: mysqlbinlog on the replica, with the transactions named here.",
    "Find out who could write there: read_only, super_read_only, accounts with SUPER or CONNECTION_ADMIN.",
    "Before a failover: apply them at the source, inject empty ones there, or rebuild the replica.",
)
FALSE_POSITIVES = (
    "The source was set up anew (RESET MASTER), so that it no longer knows transactions it once had.",
    "Maintenance on the replica that did not switch off its binary log.",
)


def alert_of(verdict: Verdict) -> Row:
    """One row. The same transactions on the same replica make the same alert."""
    member = verdict.member
    entity = {"cluster": member.cluster, "instance": member.instance}
    identity = "\0".join((RULE_ID, member.instance, verdict.errant)).encode()
    micros = int(verdict.at * 1_000_000)
    at = _written(micros)
    return {
        "alert_id": str(uuid.UUID(bytes=hashlib.sha256(identity).digest()[:16])),
        "rule_id": RULE_ID,
        "rule_title": TITLE,
        "level": "high",
        "tags": ["attack.impact", "attack.t1565.001"],
        **entity,
        "entity": entity,
        "entity_key": " ".join(f"{name}={value}" for name, value in entity.items()),
        "event_time": at,
        "window_from": at,
        "seen_at": at,
        "updated_at": at,
        "count": 1,
        "metric": verdict.count,
        "event_ids": [],
        "statements": [],
        "facts": verdict.attributes,
        "link_path": link_path(entity, TITLE, micros, micros),
        "next_steps": list(NEXT_STEPS),
        "false_positives": list(FALSE_POSITIVES),
        "rule_file": "embedded/tailrace/facts/errant.py",
    }


def _written(micros: int) -> str:
    return f"{datetime.fromtimestamp(micros / 1_000_000, UTC):%Y-%m-%d %H:%M:%S.%f}"
