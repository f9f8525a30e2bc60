"""`tailrace alerts incidents`: incidents of alerts of one actor, and the alerts of one incident."""

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tailrace import console
from tailrace.alerts import triage
from tailrace.alerts.incidents import Incident, Incidents
from tailrace.alerts.triage import AlertError
from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.cli.spans import seconds
from tailrace.clickhouse.client import ClickHouse

PURPOSE = "list incidents: alerts of one actor that are close in time; or the alerts of one"
ACCOUNT = "analyst"
INCIDENT_KEYS = (
    *("id", "level", "state", "began", "ended", "alerts", "users", "clients", "instances"),
    *("tactics", "rules", "alert_ids"),
)
ALERT_KEYS = (
    *("id", "level", "state", "verdict", "assignee", "began", "event_time", "rule_id", "rule_title"),
    *("entity_key", "cluster", "instance", "alert_count"),
)
SHORT_ID = 8


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "id", nargs="?", metavar="ID", help="an incident's id, the id of one of its alerts, or a prefix"
    )
    parser.add_argument(
        "--since", type=seconds, default=7 * 86_400, metavar="SPAN",
        help="with an event in the last 24h, 7d … (default: 7d)",
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="also those whose alerts are all closed")
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="show at most N (default: 50)")
    output.add_option(parser)


def incidents(clickhouse: ClickHouse) -> Incidents:
    return Incidents(lambda query, **given: clickhouse.rows(query, given))


def of(clickhouse: ClickHouse, prefix: str) -> Incident:
    """Returns the incident of the alert whose id has this prefix. Raises AlertError."""
    (id_,) = triage.resolve(clickhouse, [prefix])
    found = incidents(clickhouse).of(id_)
    if found is None:
        raise AlertError(f"alert {prefix} is suppressed and belongs to no incident")
    return found


def alerts_of(clickhouse: ClickHouse, prefixes: Sequence[str], action: str, verdict: str = "") -> list[str]:
    """Returns the ids of the alerts of incidents whose state allows an action. Raises AlertError."""
    ids = [id_ for prefix in prefixes for id_ in of(clickhouse, prefix).ids]
    if found := triage.possible(clickhouse, list(dict.fromkeys(ids)), action, verdict):
        return found
    raise AlertError(f"the state of none of the {console.number(ids, 'alert')} allows {action}")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    clickhouse = context.clickhouse(ACCOUNT)
    if arguments.id:
        rows = [
            {key: _plain(alert[key]) for key in ALERT_KEYS} for alert in of(clickhouse, arguments.id).alerts
        ]
        _write(arguments, rows, ALERT_KEYS, _alerts)
        return Exit.OK
    until = datetime.now(UTC) + timedelta(days=1)
    found, _ = incidents(clickhouse).within(until - timedelta(days=1, seconds=arguments.since), until)
    shown = [each for each in found if arguments.all or each.state != triage.CLOSED]
    _write(arguments, [_row(each) for each in shown[: arguments.limit]], INCIDENT_KEYS, _list)
    if arguments.output == output.TABLE:
        print(f"shown {min(len(shown), arguments.limit)} of {len(shown)}")
    return Exit.OK


def _row(incident: Incident) -> dict[str, Any]:
    return {
        "id": incident.id,
        "level": incident.level,
        "state": incident.state,
        "began": _plain(incident.began),
        "ended": _plain(incident.ended),
        "alerts": len(incident.alerts),
        "users": incident.values("account"),
        "clients": incident.values("client"),
        "instances": incident.values("instance"),
        "tactics": incident.tactics,
        "rules": incident.rules,
        "alert_ids": incident.ids,
    }


def _plain(value: object) -> object:
    return f"{value:%Y-%m-%d %H:%M:%S}" if isinstance(value, datetime) else value


def _write(arguments: argparse.Namespace, rows: list[dict], keys: tuple[str, ...], table: Any) -> None:
    if arguments.output == output.JSON:
        output.write_json(rows)
    elif arguments.output == output.CSV:
        output.write_csv(keys, rows)
    elif rows:
        table(rows)


def _list(rows: list[dict[str, Any]]) -> None:
    header = (
        "id",
        "level",
        "state",
        "begin (UTC)",
        "latest event (UTC)",
        "alerts",
        "about",
        "tactics in order",
    )
    lines = [
        (
            row["id"][:SHORT_ID], row["level"], row["state"], row["began"], row["ended"], row["alerts"],
            console.plain(", ".join([*row["users"], *row["clients"]] or row["instances"])),
            ", ".join(row["tactics"]),
        )
        for row in rows
    ]  # fmt: skip
    console.table(header, lines, right=("alerts",))


def _alerts(rows: list[dict[str, Any]]) -> None:
    header = ("id", "level", "state", "begin (UTC)", "event (UTC)", "rule", "about", "instance")
    lines = [
        (
            row["id"][:SHORT_ID], row["level"], row["state"], row["began"], row["event_time"],
            *(console.plain(row[name]) for name in ("rule_title", "entity_key", "instance")),
        )
        for row in rows
    ]  # fmt: skip
    console.table(header, lines)
