"""Prints alerts: a list that fits a terminal, and one alert with all details that its handling needs.

Names of users, programs and rules are untrusted input: control characters in them never reach the terminal.
"""

import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from tailrace import console
from tailrace.alerts import mitre_attack
from tailrace.alerts.triage import AlertDetails
from tailrace.clickhouse.client import Row

SHORT_ID = 8
"""Digits of an id that are printed; more if two listed alerts share them."""

STYLES = {"critical": "1;31", "high": console.RED, "medium": console.YELLOW, "informational": console.DIM}
LABEL_WIDTH = 16
MAX_SIGNS = 60
"""Maximum length of a rule's title or an entity in the list."""
MAX_EVENT_IDS = 20


def show_list(rows: Sequence[Row], total: int) -> None:
    """Prints one line per alert, and the total."""
    digits = _distinct_digits([str(row["id"]) for row in rows])
    header = (
        "id",
        "level",
        "event (UTC)",
        "last detected (UTC)",
        "state",
        "count",
        "rule",
        "about",
        "instance",
    )
    lines = [_line(row, digits) for row in rows]
    if lines:
        console.table(header, lines, right=("count",), styles={"level": lambda level: STYLES.get(level, "")})
    print(f"shown {len(rows)} of {total}")


def _line(row: Row, digits: int) -> tuple[object, ...]:
    return (
        str(row["id"])[:digits],
        row["level"],
        row["event_time"],
        row["updated_at"],
        _state(row),
        row["alert_count"],
        _short(row["rule_title"]),
        _short(row["entity_key"] or "-"),
        _short(row["instance"] or "-"),
    )


def _short(text: object) -> str:
    return textwrap.shorten(console.plain(text), MAX_SIGNS, placeholder="…")


def _state(row: Row) -> str:
    marks = [name for name in ("late", "silenced") if row[name]]
    who = f": {row['assignee']}" if row["assignee"] and row["state"] != "closed" else ""
    verdict = f": {row['verdict']}" if row["verdict"] else ""
    return console.plain(", ".join([f"{row['state']}{who}{verdict}", *marks]))


def _distinct_digits(ids: Sequence[str]) -> int:
    for digits in range(SHORT_ID, 32):
        if len({id_[:digits] for id_ in ids}) == len(set(ids)):
            return digits
    return 32


def show_silences(rows: Sequence[Row]) -> None:
    """Prints one line per suppression."""
    header = ("id", "state", "until (UTC)", "rule", "about", "by", "reason")
    lines = [
        (
            str(row["id"])[:SHORT_ID],
            row["state"] if row["state"] != "ended" else console.plain(f"ended by {row['ended_by']}"),
            row["until"],
            console.plain(row["rule"] or "any"),
            console.plain(_pairs(row["entity"]) or "any"),
            console.plain(row["actor"]),
            console.plain(row["reason"]),
        )
        for row in rows
    ]
    if lines:
        console.table(header, lines)
    else:
        print("no active suppression")


def print_details(details: AlertDetails, base: str) -> None:
    """Prints everything about one alert; `base` is the dashboards' address without path."""
    alert, state = details.alert, details.state
    title = console.plain(f"{alert['level']}: {alert['rule_title']}")
    print(console.styled(title, STYLES.get(str(alert["level"]), console.BOLD)))
    _fields(
        {
            "id": details.id,
            "state": _state(state),
            "about": _pairs(alert["entity"]),
            "who": _who(alert),
            "where": _where(alert),
            "when (UTC)": _when(alert),
            "count": _count(alert),
            "tactics": ", ".join(f"{name} ({id_})" for id_, name in mitre_attack.tactics(alert["tags"])),
            "techniques": ", ".join(mitre_attack.techniques(alert["tags"])),
            "rule": f"{alert['rule_id']} {alert['rule_file']}".strip(),
            "link": base + str(alert["link_path"]) if alert["link_path"] else "",
        }
    )
    _section("Statements (literals masked)", alert["statements"])
    _section("Facts", (f"{name}: {value}" for name, value in sorted(alert["facts"].items())))
    _section("Next steps", alert["next_steps"])
    _section("False positives", alert["false_positives"])
    _section("Actions", map(_action, details.actions))
    _section("Deliveries", map(_delivery, details.deliveries))
    _section("Evidence: ids of events, oldest first", _event_ids(alert["event_ids"]))


def _who(alert: Row) -> str:
    program = f" with {alert['program']}" if alert["program"] else ""
    source = f" from {alert['src_ip']}" if alert["src_ip"] else ""
    return f"{alert['user'] or 'unknown user'}{source}{program}" if alert["user"] or source or program else ""


def _where(alert: Row) -> str:
    named = {"instance": alert["instance"], "cluster": alert["cluster"], "database": alert["database"]}
    return ", ".join(f"{name} {value}" for name, value in named.items() if value)


def _when(alert: Row) -> str:
    began, ended = str(alert["window_from"])[:19], str(alert["event_time"])[:19]
    span = ended if began == ended else f"{began} to {ended}"
    late = ", late: its event came after its time" if alert["late"] else ""
    return f"{span}; raised {str(alert['detected_at'])[:19]}{late}"


def _count(alert: Row) -> str:
    grown = f", the last at {str(alert['updated_at'])[:19]}" if int(alert["count"]) > 1 else ""
    return f"{console.count(int(alert['count']))} alerts{grown}; counted by the rule: {alert['metric']}"


def _action(row: Row) -> str:
    to = f" to {row['assignee']}" if row["assignee"] else ""
    verdict = f" as {row['verdict']}" if row["verdict"] else ""
    return f"{str(row['at'])[:19]} {row['actor']}: {row['action']}{to}{verdict}: {row['reason']}"


def _delivery(row: Row) -> str:
    return (
        f"{str(row['at'])[:19]} {row['channel']}: {row['outcome']}, attempt {row['attempt']}: {row['detail']}"
    )


def _event_ids(ids: Sequence[str]) -> list[str]:
    more = len(ids) - MAX_EVENT_IDS
    return [*ids[:MAX_EVENT_IDS], *([f"and {more} more (--json has all)"] if more > 0 else [])]


def _pairs(entity: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in entity.items())


def _fields(fields: Mapping[str, object]) -> None:
    for label, value in fields.items():
        if value:
            print(f"  {console.styled(label.ljust(LABEL_WIDTH), console.DIM)}{console.plain(value)}")


def _section(title: str, lines: Iterable[str]) -> None:
    lines = list(lines)
    if lines:
        console.heading(title)
        width = max(40, shutil.get_terminal_size((100, 24)).columns - 2)
        for line in lines:
            print(textwrap.fill(console.plain(line), width, initial_indent="  ", subsequent_indent="    "))
