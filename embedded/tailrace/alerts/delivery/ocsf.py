"""Converts an alert to a Detection Finding (class 2004) of the Open Cybersecurity Schema Framework 1.3.0.

What the class has no attribute for is under `unmapped`, as the framework requires.
"""

from datetime import datetime

from tailrace import __version__
from tailrace.alerts import mitre_attack
from tailrace.alerts.delivery import ecs
from tailrace.alerts.triage import LEVELS
from tailrace.clickhouse.client import Row

VERSION = "1.3.0"
CATEGORY, CLASS = 2, 2004
SEVERITY = dict(zip(LEVELS, (1, 2, 3, 4, 5), strict=True))
CREATE, UPDATE, CLOSE = 1, 2, 3
NEW, RESOLVED = 1, 4
RULE = 1
"""`analytic.type_id` of a rule."""
RELATIONAL = 1
"""`database.type_id` of a relational database."""
USER_NAME, IP_ADDRESS, HOSTNAME = (4, "User Name"), (2, "IP Address"), (1, "Hostname")
"""`type_id` and `type` of an observable."""

UNMAPPED = (
    "cluster",
    "entity",
    "metric",
    "late",
    "facts",
    "event_ids",
    "false_positives",
    "rule_file",
    "tags",
)


def document(alert: Row, dashboards: str) -> dict[str, object]:
    """Converts a row of tailrace.alerts to a JSON object; unknown values are omitted."""
    activity = CREATE if int(alert["count"]) <= 1 else UPDATE
    level = str(alert["level"])
    return ecs.known(
        {
            "activity_id": activity,
            "activity_name": "Create" if activity == CREATE else "Update",
            "category_uid": CATEGORY,
            "category_name": "Findings",
            "class_uid": CLASS,
            "class_name": "Detection Finding",
            "type_uid": 100 * CLASS + activity,
            "time": millis(alert["event_time"]),
            "start_time": millis(alert["window_from"]),
            "end_time": millis(alert["event_time"]),
            "severity_id": SEVERITY.get(level, 0),
            "severity": level.capitalize(),
            "status_id": NEW,
            "status": "New",
            "count": int(alert["count"]),
            "message": ecs.message(alert),
            "metadata": _metadata(alert),
            "finding_info": _finding(alert, dashboards),
            "evidences": [_evidence(alert)],
            "resources": [{"name": alert["instance"], "type": "MySQL server"}] if alert["instance"] else [],
            "observables": _observables(alert),
            "remediation": {"desc": "\n".join(alert["next_steps"])},
            "unmapped": {name: alert[name] for name in UNMAPPED},
        }
    )


def _metadata(alert: Row) -> dict[str, object]:
    return {
        "version": VERSION,
        "uid": f"{ecs.id_of(alert)}-{alert['count']}",
        "product": {"name": "Tailrace", "vendor_name": "Tailrace", "version": __version__},
        "logged_time": millis(alert["detected_at"]),
    }


def _finding(alert: Row, dashboards: str) -> dict[str, object]:
    return {
        "uid": ecs.id_of(alert),
        "title": alert["rule_title"],
        "desc": ecs.message(alert),
        "types": ["Database activity"],
        "analytic": {
            "uid": alert["rule_id"],
            "name": alert["rule_title"],
            "type_id": RULE,
            "type": "Rule",
        },
        "attacks": _attacks(alert["tags"]),
        "created_time": millis(alert["detected_at"]),
        "first_seen_time": millis(alert["window_from"]),
        "last_seen_time": millis(alert["event_time"]),
        "src_url": ecs.link(alert, dashboards),
    }


def _attacks(tags: list[str]) -> list[dict[str, object]]:
    """Returns one attack per tactic and technique; the tags do not say which techniques belong to which."""
    tactics = [{"tactic": {"uid": uid, "name": name}} for uid, name in mitre_attack.tactics(tags)]
    techniques = [_technique(uid) for uid in mitre_attack.techniques(tags)]
    return [{"version": "17", **each} for each in (*tactics, *techniques)]


def _technique(uid: str) -> dict[str, object]:
    """Returns T1110.003 as a sub-technique of T1110."""
    above, _, number = uid.partition(".")
    return {"technique": {"uid": above}, "sub_technique": {"uid": uid if number else ""}}


def _evidence(alert: Row) -> dict[str, object]:
    return {
        "actor": {"user": {"name": alert["user"]}, "app_name": alert["program"]},
        "src_endpoint": {"ip": alert["src_ip"]},
        "dst_endpoint": {"hostname": alert["instance"]},
        "database": {"name": alert["database"], "type_id": RELATIONAL} if alert["database"] else {},
        "data": {"statements": alert["statements"]},
    }


def _observables(alert: Row) -> list[dict[str, object]]:
    found = (
        ("evidences[].actor.user.name", USER_NAME, alert["user"]),
        ("evidences[].src_endpoint.ip", IP_ADDRESS, alert["src_ip"]),
        ("evidences[].dst_endpoint.hostname", HOSTNAME, alert["instance"]),
    )
    return [
        {"name": name, "type_id": number, "type": kind, "value": value}
        for name, (number, kind), value in found
        if value
    ]


def millis(written: object) -> int:
    """Converts a UTC time of ClickHouse to milliseconds since 1970."""
    return int(datetime.fromisoformat(ecs.time_of(written)).timestamp() * 1000)
