"""Incidents: alerts of one actor, and of actors that an alert names together, that are close in time.

Two alerts are linked if both are about the same user of a cluster or about the same client, and at most
GAP lies between the end of one and the begin of the other, or between each and further alerts of this actor
between them. An incident is a set of alerts that are connected by such links. It therefore depends neither on
the order of arrival nor on actions. An alert that is about no actor is linked by its server.

The id of an incident is that of its first alert; it changes only if an earlier alert is added.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any

from tailrace.alerts import mitre_attack
from tailrace.alerts.triage import ACKNOWLEDGED, CLOSED, LEVELS, OPEN
from tailrace.clickhouse.query_files import text_of

QUERY = "incident_alerts"
GAP = timedelta(hours=1)
MARGIN = timedelta(days=3)
"""Time before and after the asked range that is read, so that incidents at its ends are complete."""
MAX_ALERTS = 50_000
"""Alerts that are read, the latest first."""
ID_DIGITS = 32

Alert = Mapping[str, Any]
Rows = Callable[..., list[dict[str, Any]]]
"""Runs a query with named parameters, as store.Store.rows does; times may be texts of ClickHouse."""


@dataclass(frozen=True)
class Incident:
    """Alerts that belong together, by start time."""

    alerts: Sequence[Alert]

    @property
    def id(self) -> str:
        return str(self.alerts[0]["id"])

    @property
    def began(self) -> datetime:
        return self.alerts[0]["began"]

    @cached_property
    def ended(self) -> datetime:
        return max(alert["event_time"] for alert in self.alerts)

    @cached_property
    def level(self) -> str:
        """The highest level."""
        return max((str(alert["level"]) for alert in self.alerts), key=_rank)

    @property
    def rank(self) -> int:
        return _rank(self.level)

    @cached_property
    def state(self) -> str:
        """Open if an alert is open, else acknowledged if one is, else closed."""
        states = {alert["state"] for alert in self.alerts}
        return next(state for state in (OPEN, ACKNOWLEDGED, CLOSED) if state in states)

    @cached_property
    def tactics(self) -> list[str]:
        """Names of the tactics of ATT&CK in the order of their first alert."""
        named = [name for alert in self.alerts for _, name in mitre_attack.tactics(alert["tags"])]
        return list(dict.fromkeys(named))

    @cached_property
    def rules(self) -> list[str]:
        """Titles of the rules in the order of their first alert."""
        return list(dict.fromkeys(str(alert["rule_title"]) for alert in self.alerts))

    @cached_property
    def worst_rules(self) -> list[str]:
        """Titles of the rules by the highest level of their alerts, then by their first alert."""
        worst: dict[str, int] = {}
        for alert in self.alerts:
            title = str(alert["rule_title"])
            worst[title] = max(worst.get(title, -1), _rank(str(alert["level"])))
        return sorted(worst, key=lambda title: -worst[title])

    def values(self, column: str) -> list[str]:
        """Returns the distinct values of a column that are not empty, sorted."""
        return sorted({str(alert[column]) for alert in self.alerts} - {""})

    @property
    def ids(self) -> list[str]:
        return [str(alert["id"]) for alert in self.alerts]


def _rank(level: str) -> int:
    return LEVELS.index(level) if level in LEVELS else -1


def grouped(alerts: Iterable[Alert]) -> list[Incident]:
    """Returns the incidents of alerts, the most severe first, then the one with the latest event."""
    ordered = sorted(alerts, key=lambda alert: (alert["began"], alert["id"]))
    parents = list(range(len(ordered)))
    for numbers in _by_actor(ordered).values():
        for first, second in _linked(ordered, numbers):
            parents[_root(parents, second)] = _root(parents, first)
    members: dict[int, list[Alert]] = {}
    for number, alert in enumerate(ordered):
        members.setdefault(_root(parents, number), []).append(alert)
    found = [Incident(each) for each in members.values()]
    return sorted(found, key=lambda each: (-each.rank, -each.ended.timestamp(), each.id))


def _by_actor(alerts: Sequence[Alert]) -> dict[tuple[str, ...], list[int]]:
    """Returns the positions of alerts by each user and client that they are about, or else by server."""
    found: dict[tuple[str, ...], list[int]] = {}
    for number, alert in enumerate(alerts):
        for actor in _actors(alert):
            found.setdefault(actor, []).append(number)
    return found


def _actors(alert: Alert) -> list[tuple[str, ...]]:
    named = []
    if alert["account"]:
        named.append(("user", str(alert["cluster"]), str(alert["account"]).casefold()))
    if alert["client"]:
        named.append(("client", str(alert["client"]).casefold()))
    return named or [("server", str(alert["cluster"]), str(alert["instance"]))]


def _linked(alerts: Sequence[Alert], numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Returns pairs of following alerts of one actor without a pause of more than GAP between them."""
    pairs, end = [], alerts[numbers[0]]["event_time"]
    for first, second in pairwise(numbers):
        if alerts[second]["began"] - end <= GAP:
            pairs.append((first, second))
        end = max(end, alerts[second]["event_time"])
    return pairs


def _root(parents: list[int], number: int) -> int:
    while parents[number] != number:
        parents[number] = parents[parents[number]]
        number = parents[number]
    return number


@dataclass(frozen=True)
class Incidents:
    """Reads incidents. `rows` reads ClickHouse as an account that sees alerts."""

    rows: Rows

    def within(self, since: datetime, until: datetime) -> tuple[list[Incident], bool]:
        """Returns the incidents with an event in a time range, and whether some alerts were not read."""
        alerts = self._alerts(since - MARGIN, until + MARGIN)
        found = [
            each
            for each in grouped(alerts[:MAX_ALERTS])
            if any(since <= alert["event_time"] < until for alert in each.alerts)
        ]
        return found, len(alerts) > MAX_ALERTS

    def of(self, alert_id: str) -> Incident | None:
        """Returns the incident of an alert, given its 32 digits; None if it is in none."""
        time = self.rows(
            "SELECT toDateTime(max(alerts.event_time), 'UTC') AS time, count() AS found FROM tailrace.alerts "
            "WHERE lower(replaceAll(toString(alert_id), '-', '')) = {id:String}",
            id=alert_id,
        )[0]
        if not int(time["found"]):
            return None
        around = _time(time["time"])
        alerts = self._alerts(around - MARGIN, around + MARGIN)[:MAX_ALERTS]
        return next((each for each in grouped(alerts) if alert_id in each.ids), None)

    def _alerts(self, since: datetime, until: datetime) -> list[dict[str, Any]]:
        span = {"from": f"{since:%Y-%m-%d %H:%M:%S}", "to": f"{until:%Y-%m-%d %H:%M:%S}"}
        found = self.rows(text_of(QUERY), limit=MAX_ALERTS + 1, **span)
        return [
            {**row, "began": _time(row["began"]), "event_time": _time(row["event_time"])} for row in found
        ]


def _time(value: datetime | str) -> datetime:
    """Returns an aware time in UTC."""
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    return found if found.tzinfo else found.replace(tzinfo=UTC)
