"""The tables of the pages of rules, from rows of sql/queries/page_rule*.sql and the rule files."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tailrace.alerts import mitre_attack
from tailrace.alerts.entity_key import PLACES, entity_of
from tailrace.alerts.exception_proposals import Proposal
from tailrace.alerts.proposal_formatting import document, explanation, refusal
from tailrace.plural import counted as plural
from tailrace.rules.catalog import RuleText
from tailrace_pages import formats, links
from tailrace_pages.columns import Column
from tailrace_pages.read_bars import ReadBars
from tailrace_pages.rule_reasons import in_few_words
from tailrace_pages.time_range import TimeRange

Row = Mapping[str, Any]

OUTCOMES = {
    "open_alerts": "Open",
    "acknowledged": "Acknowledged",
    "true_positives": "True positive",
    "false_positives": "False positive",
    "benign": "Benign",
    "closed": "Closed without verdict",
    "suppressed": "Suppressed",
}
"""Columns of page_rules.sql that add up to the number of alerts."""
HARMLESS = ("false_positives", "benign")
DAY = 86_400
SOURCES = frozenset({"audit", "general", "slowlog", "errorlog"})

RULES = (
    Column("level", "Level", 16, "severity"),
    Column("title", "Rule", 0, link="address"),
    Column("alerts", "Alerts", 8, "count"),
    Column("not_closed", "Open or acknowledged", 14, "count"),
    Column("true_positives", "True positives", 10, "count"),
    Column("harmless", "False or benign", 10, "count"),
    Column("last_shown", "Last alert (UTC)", 20, note="In the time range"),
    Column("servers", "Servers on which it can fire", 20),
)
RULES_CSV = (
    *RULES,
    *(Column(key, title, 0, "count") for key, title in OUTCOMES.items() if key != "true_positives"),
    Column("file", "Rule file"),
    Column("rule_id", "Id"),
)
ORDERS = {
    "severity": "Level",
    "alerts": "Most alerts",
    "last": "Latest alert",
    "servers": "Fewest servers",
}
"""Orders of the list, by the value of the argument `order`; the first is the default."""
REACHES = {
    "": "All",
    "nowhere": "Cannot fire on any server",
    "partly": "Cannot fire on some servers",
    "fired": "With alerts in the time range",
}
"""Filters of the list, by the value of the argument `show`."""
NO_ALERT = "raises no alert itself"
"""What stands for the servers of a rule whose matches only correlations count."""
ENTITIES = (
    Column("entity_key", "Entity", 0, "entity", link="address"),
    Column("entity_alerts", "Alerts", 8, "count"),
    Column("matches", "Count", 10, "count", note="How often they were detected"),
    Column("not_closed", "Open or acknowledged", 16, "count"),
    Column("true_positives", "True positives", 12, "count"),
    Column("harmless", "False or benign", 12, "count"),
    Column("last_alert", "Last alert (UTC)", 20, "time"),
)
SERVERS = (
    Column("instance", "Instance", 20, link="address", note="Leads to its setup, with what to change"),
    Column("cluster", "Cluster", 16),
    Column("reason", "Why it cannot fire", 0),
    Column("missing", "Missing fields and event classes", 32),
)
DAYS = (
    Column("day", "Day (UTC)", 0, "day"),
    *(Column(key, title, 12, "count") for key, title in OUTCOMES.items()),
)


def rules(catalog: Mapping[str, RuleText], counted: Iterable[Row], servers: Iterable[Row]) -> list[dict]:
    """Returns the rules of the files, and those that have an alert or run, highest level first."""
    by_rule = {row["rule_id"]: row for row in counted}
    coverage: dict[str, list[Row]] = {}
    for row in servers:
        coverage.setdefault(row["rule_id"], []).append(row)
    keys = {*catalog, *by_rule, *coverage}
    found = [_rule(key, catalog.get(key), by_rule.get(key), coverage.get(key, [])) for key in keys]
    return sorted(found, key=lambda row: (_rank(row["level"]), -row["alerts"], row["title"], row["rule_id"]))


def in_order(rows: Sequence[dict], order: str) -> list[dict]:
    """Returns the rows of `rules` in an order of ORDERS; those that are equal stay by severity. A rule whose
    servers or last alert are unknown is last."""
    keys = {
        "alerts": lambda row: -row["alerts"],
        "last": lambda row: -_second(row["last_alert"]) if row["last_alert"] else 0,
        "servers": lambda row: (row["of_servers"] is None, row["able"] or 0),
    }
    return sorted(rows, key=keys[order]) if order in keys else list(rows)


def with_reach(rows: Sequence[dict], reach: str) -> list[dict]:
    """Returns the rows that a filter of REACHES selects. Where a rule can fire must be known for it."""
    chosen = {
        "nowhere": lambda row: bool(row["of_servers"]) and not row["able"],
        "partly": lambda row: bool(row["of_servers"]) and row["able"] < row["of_servers"],
        "fired": lambda row: row["alerts"] > 0,
    }
    return [row for row in rows if reach not in chosen or chosen[reach](row)]


def caption(shown: Sequence[dict], total: int, order: str = "severity") -> str:
    """Returns what the list contains, and how many of its rules other pages do not count."""
    by = {
        "severity": "highest level first, then by alerts of the time range",
        "alerts": "those with the most alerts of the time range first",
        "last": "those with the latest alert of the time range first",
        "servers": "those that can fire on the fewest servers first",
    }
    listed = f"Rules, {by[order]}: {len(shown):,} of {total:,}"
    silent = sum(row["servers"] == NO_ALERT for row in shown)
    if silent:
        which = plural(silent, "of them raises no alert itself", "of them raise no alerts themselves")
        listed += f"; {which}: correlations count the matches"
    if unknown := sum(row["servers"] == formats.UNKNOWN for row in shown):
        listed += f"; the detect job does not report on which servers {unknown:,} of them can fire"
    return listed


def _rank(level: str) -> int:
    return formats.LEVELS.index(level) if level in formats.LEVELS else len(formats.LEVELS)


def _rule(key: str, text: RuleText | None, counted: Row | None, servers: Sequence[Row]) -> dict:
    numbers = {name: int(counted[name]) if counted else 0 for name in ("alerts", *OUTCOMES)}
    able = sum(bool(row["can_fire"]) for row in servers)
    return {
        **numbers,
        "rule_id": key,
        "title": text.title if text else counted["title"] if counted else servers[0]["title"],
        "level": text.level if text else counted["latest_level"] if counted else servers[0]["level"],
        "file": text.file if text else "",
        "address": links.address("rules", key),
        "not_closed": numbers["open_alerts"] + numbers["acknowledged"],
        "harmless": sum(numbers[name] for name in HARMLESS),
        "last_alert": counted["last_alert"] if counted else None,
        "able": able if servers else None,
        "of_servers": len(servers) or None,
        "last_shown": formats.time(counted["last_alert"]) if counted else _why_none(servers, able),
        "servers": f"{able} of {len(servers)}" if servers else _without_servers(text),
    }


def _without_servers(text: RuleText | None) -> str:
    """Returns what stands for the servers of a rule on which the detect job does not report."""
    return NO_ALERT if text and text.is_only_counted else formats.UNKNOWN


def _why_none(servers: Sequence[Row], able: int) -> str:
    """Returns what stands for the last alert of a rule without alerts."""
    return "cannot fire" if servers and not able else "none"


def numbers(days: Sequence[Row]) -> list[dict[str, str]]:
    """Returns the numbers above the page, from rows of `days`: alerts by what they turned out to be.

    They are unknown if no day of the range has an alert or a log that was read.
    """
    totals = {name: _total(row[name] for row in days) for name in OUTCOMES}
    listed = [("Alerts", _total(totals.values())), *((OUTCOMES[name], each) for name, each in totals.items())]
    return [{"title": title, "value": formats.count(number)} for title, number in listed]


def _total(counts: Iterable[int | None]) -> int | None:
    known = [each for each in counts if each is not None]
    return sum(known) if known else None


def attack(tags: Sequence[str]) -> str:
    """Returns tactics and techniques of MITRE ATT&CK as a text."""
    tactics = [f"{name} ({id_})" for id_, name in mitre_attack.tactics(tags)]
    return ", ".join([*tactics, *mitre_attack.techniques(tags)])


def days(rows: Iterable[Row], span: TimeRange, read: ReadBars) -> list[dict[str, Any]]:
    """Returns a row for each day of the range. A day without an alert is unknown if no log was read."""
    found = {_second(row["day"]): row for row in rows}
    first = span.since.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    listed = []
    while first < span.until:
        row, following = found.get(_second(first)), first + timedelta(days=1)
        ends = _second(max(first, span.since)), _second(min(following, span.until))
        nothing = 0 if read.is_read(*ends, SOURCES) else None
        listed.append({"day": first, **{name: int(row[name]) if row else nothing for name in OUTCOMES}})
        first = following
    return listed


def chart(shown: Sequence[Row]) -> dict[str, Any]:
    """Returns the data of static/chart.js: stacked bars of days, without outcomes that no alert has."""
    return {
        "times": [_second(row["day"]) for row in shown],
        "width": DAY,
        "stacked": True,
        "series": [
            {"label": title, "kind": "bars", "values": [row[name] for row in shown]}
            for name, title in OUTCOMES.items()
            if any(row[name] for row in shown)
        ],
    }


def _second(time: datetime) -> int:
    return int(time.timestamp())


def entities(rows: Iterable[Row], key: str, span: TimeRange) -> list[dict[str, Any]]:
    """Returns the entities of a rule; each leads to the rule's alerts of its user, or of its first field."""
    given = {"rule": key, "state": "any"}
    return [{**row, "address": links.alerts(span, **given, **_field(row["entity_key"]))} for row in rows]


def _field(key: str) -> dict[str, str]:
    """Returns the filters of the inbox for an entity; it filters by one field."""
    try:
        entity = entity_of(key)
    except ValueError:
        return {}
    names = [name for name in ("user", *entity) if name in entity and name not in PLACES] or [*entity]
    return {"field": names[0], "value": entity[names[0]]} if names and entity[names[0]] else {}


def unable(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Returns the servers on which the rule cannot fire; each leads to its setup."""
    return [
        {
            **row,
            "reason": in_few_words(row["reason"]),
            "missing": _missing(row),
            "address": links.address("setup", arguments={"instance": row["instance"]}),
        }
        for row in rows
        if not row["can_fire"]
    ]


def _missing(row: Row) -> str:
    classes = [f"events of the class {name}" for name in row["missing_classes"]]
    return ", ".join([*classes, *row["missing_fields"]])


def proposals(accepted: Iterable[Proposal], refused: Iterable[Proposal]) -> list[dict[str, Any]]:
    """Returns the sentences about proposed exceptions with their YAML; a refused one has no YAML."""
    found = [{"sentences": explanation(each), "yaml": document(each)} for each in accepted]
    return [*found, *({"sentences": [refusal(each) + "."], "yaml": ""} for each in refused)]
