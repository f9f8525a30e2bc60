"""What the logs of a period cannot show: minutes without audit by server, servers without audit, days
that are not fully reviewed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tailrace.plural import counted
from tailrace_pages import formats
from tailrace_pages.columns import Column

AUDITED = "audited"
NOT_AUDITED = (
    "no audit log",
    "listed audit log never arrived",
    "audit log not seen in the period",
    "auditing was off",
)
PARTLY_REVIEWED = "partly reviewed"
STATES = ("missing", "unknown", "behind")
"""States of minutes that are not covered, the worst first."""
SHOWN_DAYS = 14

COLUMNS = (
    Column("instance", "Instance", 24),
    Column("state", "Audit status", 0, note="The worst status that applies in the period"),
    Column("missing", "Missing (min)", 14, "count", note="Bytes of these minutes were lost"),
    Column(
        "unknown",
        "Unknown (min)",
        14,
        "count",
        note="No census: the log may have grown. Minutes before it was first watched count",
    ),
    Column("behind", "Behind (min)", 14, "count", note="Bytes of these minutes were not read yet"),
    Column("watched", "Watched (min)", 14, "count", note="Minutes of the period with a census of the log"),
    Column("audit_last_seen", "Audit log last seen (UTC)", 24, "time"),
    Column("listed_since", "Listed since (UTC)", 24, "time", note="Since when a log of it is listed"),
)


def by_server(
    servers: Iterable[Mapping[str, Any]], coverage: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Returns a row for each server, those with the largest gaps first.

    Minutes are the worst of its logs. They are unknown (None) for a server without an audit log, and missing
    and behind minutes also for one whose log was never watched in the period.
    """
    logs: dict[str, list[Mapping[str, Any]]] = {}
    for log in coverage:
        logs.setdefault(log["instance"], []).append(log)
    rows = [{**server, **_worst(logs.get(server["instance"], ()))} for server in servers]
    return sorted(rows, key=_rank)


def _worst(logs: Sequence[Mapping[str, Any]]) -> dict[str, int | None]:
    """Returns the minutes of the worst log by state, and `watched` and `minutes` of the period."""
    if not logs:
        return dict.fromkeys((*STATES, "watched", "minutes"))
    worst = {name: max(log[name] for log in logs) for name in (*STATES, "minutes")}
    watched = min(log["watched"] for log in logs)
    unseen = {} if any(log["watched"] for log in logs) else {"missing": None, "behind": None}
    return {**worst, "watched": watched, **unseen}


def _rank(row: Mapping[str, Any]) -> tuple:
    audited = row["state"] not in NOT_AUDITED
    return audited, -sum(row[state] or 0 for state in STATES), row["state"] == AUDITED, row["instance"]


def headline(
    rows: Sequence[Mapping[str, Any]], days: Sequence[Mapping[str, Any]], links: Mapping[str, str]
) -> list:
    """Returns the numbers above the page. Without any audit log, the minutes are unknown.

    `days` are those that reviews do not cover completely, with `day_without_review` and `state`.
    """
    known = bool(rows)
    lost, unseen = _minutes(rows, "missing"), _minutes(rows, "unknown")
    watched, minutes = (formats.count(_minutes(rows, name)) for name in ("watched", "minutes"))
    with_log = sum(row["minutes"] is not None for row in rows)
    audited = counted(with_log, "server")
    unaudited = sum(row["state"] in NOT_AUDITED for row in rows) if known else None
    return [
        _number(
            "Servers without audit", unaudited, links.get("servers", ""), f"of {len(rows):,}" if known else ""
        ),
        _number("Minutes missing", lost, links.get("coverage", ""), f"of {watched} watched"),
        _number(
            "Minutes unknown",
            unseen,
            links.get("coverage", ""),
            f"of {minutes}, {audited} with a watched or listed audit log",
        ),
        _number("Days not fully reviewed", len(days), links.get("days_without_review", ""), _listed(days)),
    ]


def unseen(rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns what the logs of the period do not show, for the form; empty if each minute was read."""
    unaudited = sum(row["state"] in NOT_AUDITED for row in rows)
    parts = [f"{minutes:,} {state}" for state in STATES if (minutes := _minutes(rows, state))]
    listed = [f"minutes of audit logs: {', '.join(parts)}"] if parts else []
    if unaudited:
        listed.append(f"{counted(unaudited, 'server')} without audit")
    return "; ".join(listed)


def _minutes(rows: Sequence[Mapping[str, Any]], column: str) -> int | None:
    """Returns the sum of the known minutes; None, unknown, if no server has any."""
    known = [row[column] for row in rows if row[column] is not None]
    return sum(known) if known else None


def _number(title: str, value: int | None, link: str, note: str) -> dict[str, str]:
    return {"title": title, "value": formats.count(value), "link": link, "note": note}


def _listed(days: Sequence[Mapping[str, Any]]) -> str:
    """Returns the first and the last of the days, and how many of them are partly reviewed."""
    if not days:
        return "each day with a known server is reviewed"
    first, last = days[0]["day_without_review"], days[-1]["day_without_review"]
    ends = f"{first}" if first == last else f"{first} to {last}"
    partly = sum(day["state"] == PARTLY_REVIEWED for day in days)
    listed = f"{ends}, {partly:,} partly reviewed" if partly else ends
    return f"{listed}; days without a known server do not count"
