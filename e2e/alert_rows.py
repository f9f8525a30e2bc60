"""Rows of tailrace.alerts in the format of the detect job."""

import uuid
from datetime import UTC, datetime, timedelta

from tailrace.alerts.link import link_path

RULE = "5f0c1f0e-6a2c-4f0c-9a51-0f4f7a3d1c11"


def alert(minutes_ago: float = 1, **fields) -> dict:
    """Returns one row; `fields` override its values."""
    at = datetime.now(UTC) - timedelta(minutes=minutes_ago)
    micros = int(at.timestamp() * 1e6)
    entity = fields.get("entity", {"user": "mallory"})
    title = fields.get("rule_title", "Dump-like read")
    return {
        "alert_id": str(uuid.uuid4()),
        "rule_id": RULE,
        "rule_title": title,
        "level": "high",
        "tags": ["attack.exfiltration", "attack.credential_access", "attack.t1110.003"],
        "cluster": "shop",
        "instance": "shop-db-1",
        "entity": entity,
        "entity_key": " ".join(f"{name}={value}" for name, value in entity.items()),
        "event_time": written(at),
        "window_from": written(at - timedelta(minutes=5)),
        "seen_at": written(at),
        "updated_at": written(at),
        "count": 1,
        "metric": 12,
        "event_ids": [str(uuid.uuid4()) for _ in range(30)],
        "statements": ["select * from cards where id > ?"],
        "facts": {"rows_sent": "481220", "baseline": "median 12"},
        "link_path": link_path(entity, title, micros - 300_000_000, micros),
        "user": "mallory",
        "src_ip": "10.1.20.17",
        "database": "shop",
        "program": "mysqldump",
        "next_steps": ["Ask the owner of the account."],
        "false_positives": ["A planned backup."],
        "rule_file": "exfiltration/dump.yml",
        **fields,
    }


def grown(row: dict, count: int) -> dict:
    """Returns the same alert with this count."""
    return {**row, "count": count, "updated_at": written(datetime.now(UTC))}


def evidence(row: dict, **fields) -> dict:
    """Returns the audit event that an alert names first, as a row; `fields` override its values."""
    at = datetime.fromisoformat(row["event_time"]).replace(tzinfo=UTC) - timedelta(seconds=1)
    return {
        "event_id": row["event_ids"][0],
        "cluster": row["cluster"],
        "instance": row["instance"],
        "event_time": written(at),
        "event_class": "QUERY",
        "command": "SELECT",
        "user": row["user"],
        "ip": row["src_ip"],
        "database": row["database"],
        **fields,
    }


def written(at: datetime) -> str:
    """Formats a time for ClickHouse."""
    return f"{at:%Y-%m-%d %H:%M:%S.%f}"
