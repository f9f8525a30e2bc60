"""Converts an alert to fields of the Elastic Common Schema 8.17; other fields are under `tailrace`."""

from datetime import UTC, datetime

from tailrace.alerts import mitre_attack
from tailrace.alerts.triage import LEVELS
from tailrace.clickhouse.client import Row

ECS_VERSION = "8.17.0"
EMPTY = ("", None, [], {})
SEVERITY = dict(zip(LEVELS, (1, 21, 47, 73, 99), strict=True))
"""Numbers of event.severity, as in Elastic's detection engine for its four levels, and 1 below."""

OWN = (
    *("alert_id", "level", "cluster", "instance", "entity", "count", "metric", "late", "facts", "statements"),
    *("event_ids", "next_steps", "false_positives", "rule_file"),
)


def document(alert: Row, dashboards: str) -> dict[str, object]:
    """Converts a row of tailrace.alerts to a JSON object; unknown values are omitted."""
    tactics, techniques = mitre_attack.tactics(alert["tags"]), mitre_attack.techniques(alert["tags"])
    return known(
        {
            "@timestamp": time_of(alert["event_time"]),
            "ecs": {"version": ECS_VERSION},
            "message": message(alert),
            "tags": alert["tags"],
            "event": {
                "kind": "alert",
                "module": "tailrace",
                "dataset": "tailrace.alerts",
                "id": id_of(alert),
                "severity": SEVERITY.get(str(alert["level"])),
                "start": time_of(alert["window_from"]),
                "end": time_of(alert["event_time"]),
                "created": time_of(alert["detected_at"]),
            },
            "rule": {"id": alert["rule_id"], "name": alert["rule_title"]},
            "user": {"name": alert["user"]},
            "source": {"ip": alert["src_ip"]},
            "host": {"name": alert["instance"]},
            "threat": {
                "framework": "MITRE ATT&CK" if tactics or techniques else "",
                "tactic": {"id": [id_ for id_, _ in tactics], "name": [name for _, name in tactics]},
                "technique": {"id": techniques},
            },
            "url": {"full": link(alert, dashboards)},
            "tailrace": {**{name: alert[name] for name in OWN}, "alert_id": id_of(alert)},
        }
    )


def message(alert: Row) -> str:
    """Returns the alert in one line."""
    about = f": {alert['entity_key']}" if alert["entity_key"] else ""
    where = f" on {alert['instance']}" if alert["instance"] else ""
    stands_for = f" ({alert['count']} alerts)" if int(alert["count"]) > 1 else ""
    return f"{alert['level']}: {alert['rule_title']}{about}{where}{stands_for}"


def link(alert: Row, dashboards: str) -> str:
    """Returns the URL of the dashboard, filtered on the alert's entity and time; empty if it has no link."""
    return f"{dashboards}{alert['link_path']}" if alert["link_path"] else ""


def time_of(written: object) -> str:
    """Converts a UTC time of ClickHouse to RFC 3339."""
    return datetime.fromisoformat(str(written)).replace(tzinfo=UTC).isoformat().replace("+00:00", "Z")


def id_of(alert: Row) -> str:
    """Returns 32 hexadecimal digits."""
    return str(alert["alert_id"]).replace("-", "")


def known(value: object) -> object:
    """Returns the value without empty texts, lists and objects at any depth; keeps numbers and booleans."""
    if isinstance(value, list):
        return [inner for each in value if (inner := known(each)) not in EMPTY]
    if not isinstance(value, dict):
        return value
    inner = {key: known(each) for key, each in value.items()}
    return {key: each for key, each in inner.items() if each not in EMPTY}
