"""Evaluates Sigma rules with pySigma: its SQLite backend converts them to SQL, which SQLite runs.

The rules are made so that both sides are asked the same question; what is meant to differ is in
docs/DETECTION.md.
"""

import json
import random
import re
import sqlite3

from sigma.backends.sqlite import sqliteBackend
from sigma.collection import SigmaCollection

TEXT_FIELDS = ("user", "program", "statement", "path")
NUMBER_FIELDS = ("code", "rows")
ADDRESS_FIELDS = ("src_ip",)
FIELDS = TEXT_FIELDS + NUMBER_FIELDS + ADDRESS_FIELDS
KEYWORD_FIELD = "all_text"
COUNTED_FIELD = "user"
"""A field that every event has, because SQLite's windows also end at events without it."""
NUMBERS, SUMS = (1, 6), (10, 60)
"""Bounds of numeric correlations."""
WORDS = (
    "root",
    "Admin",
    "app",
    "sel",
    "SELECT",
    "from",
    "a*b",
    "a?b",
    "c:\\x",
    "x\\",
    "%",
    "_",
    "'",
    "-p",
    "",
    "日本",
)
PIECES = ("", " ", "*", "?", "\\*", "\\?", "\\\\", "\\")
REGEXES = ("^root", "n$", "[a-c]+p", "(sel|from)", "o{2}", "\\\\x", "Admin", "^$")
NETWORKS = ("10.0.0.0/8", "10.1.0.0/16", "192.168.4.0/22", "0.0.0.0/0", "10.1.2.3/32")
TEXT_MODIFIERS = (
    "",
    "",
    "|contains",
    "|startswith",
    "|endswith",
    "|contains|all",
    "|startswith|cased",
    "|contains|cased",
    "|cased",
    "|windash|contains",
    "|contains|windash",
    "|base64offset|contains",
    "|wide|base64offset|contains",
    "|base64",
    "|neq",
    "|contains|neq",
)
NUMBER_MODIFIERS = ("", "|lt", "|lte", "|gt", "|gte", "|neq")


class RandomRules:
    """Generates rules and events from few words, so that they often match."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def rule(self, name: str) -> dict:
        searches = {f"s{i}": self._search() for i in range(self.random.randint(1, 3))}
        condition = self._condition(list(searches), 0)
        return {
            "title": name,
            "name": name,
            "logsource": {"category": "database"},
            "detection": {**searches, "condition": condition},
        }

    def _search(self) -> dict | list:
        kind = self.random.randrange(10)
        if kind == 0:
            return [self.random.choice(("root", "SEL", "from", "日")) for _ in range(2)]
        if kind == 1:
            return [self._map(), self._map()]
        return self._map()

    def _map(self) -> dict:
        return dict(self._item(name) for name in self.random.sample(FIELDS, self.random.randint(1, 2)))

    def _item(self, name: str) -> tuple[str, object]:
        special = self.random.randrange(12)
        if special == 0:
            return name, None
        if special == 1:
            return f"{name}|exists", self.random.random() < 0.5
        if special == 2 and name in TEXT_FIELDS:
            modifier = self.random.choice(("", "|startswith", "|endswith", "|contains"))
            return f"{name}|fieldref{modifier}", self.random.choice(TEXT_FIELDS)
        if name in NUMBER_FIELDS:
            modifier = self.random.choice(NUMBER_MODIFIERS)
            return name + modifier, self._some(lambda: self.random.randrange(8))
        if name in ADDRESS_FIELDS:
            return name + "|cidr", self._some(lambda: self.random.choice(NETWORKS))
        if special == 3:
            return name + self.random.choice(("|re", "|re|i")), self._some(
                lambda: self.random.choice(REGEXES)
            )
        modifier = self.random.choice(TEXT_MODIFIERS)
        return name + modifier, self._some(lambda: self._value(modifier))

    def _some(self, value) -> object:
        return [value() for _ in range(self.random.randint(1, 3))] if self.random.random() < 0.6 else value()

    def _value(self, modifier: str) -> str:
        if "base64" in modifier:
            return self.random.choice(("root", "Admin", "app", "sel x"))
        parts = [self.random.choice(WORDS), self.random.choice(PIECES), self.random.choice(WORDS)]
        return "".join(parts[: self.random.randint(1, 3)])

    def _condition(self, names: list[str], depth: int) -> str:
        choice = self.random.choice
        left = choice(names)
        forms = (
            lambda: left,
            lambda: f"not {left}",
            lambda: f"{left} and {self._condition(names, depth + 1)}",
            lambda: f"{left} or {self._condition(names, depth + 1)}",
            lambda: f"not ({self._condition(names, depth + 1)})",
            lambda: "1 of s*",
            lambda: "all of them",
        )
        return forms[0 if depth > 2 else self.random.randrange(len(forms))]()

    def event(self, number: int) -> dict:
        event = {"event_id": f"e{number}", "timestamp": number}
        for name in FIELDS:
            if name == COUNTED_FIELD or self.random.random() < 0.8:
                event[name] = self._event_value(name)
        return event

    def _event_value(self, name: str) -> object:
        if name in NUMBER_FIELDS:
            return self.random.randrange(8)
        if name in ADDRESS_FIELDS:
            first = self.random.choice(("10.1", "10.9", "192.168", "172.16"))
            return f"{first}.{self.random.randrange(8)}.{self.random.randrange(6)}"
        words = (
            self.random.choice(WORDS),
            self.random.choice(("", " ", "/", "-")),
            self.random.choice(WORDS),
        )
        encoded = ("cm9vdA==", "QWRtaW4=", "eHJvb3R4", "cgBvAG8AdAA=")
        return self.random.choice(encoded) if self.random.random() < 0.08 else "".join(words)

    def correlation(self, name: str, rules: list[str]) -> dict:
        kind = self.random.choice(("event_count", "value_count", "temporal", "temporal_ordered"))
        body = self._correlation(kind, rules)
        if kind == "value_count":
            body["condition"] = {"gte": self.random.randint(2, 3), "field": COUNTED_FIELD}
        elif kind == "event_count":
            body["condition"] = {self.random.choice(("gte", "gt")): self.random.randint(2, 4)}
        elif self.random.random() < 0.5:
            body["condition"] = {"gte": 2}
        return {"title": name, "name": name, "correlation": body}

    def _correlation(self, kind: str, rules: list[str]) -> dict:
        return {
            "type": kind,
            "rules": self.random.sample(rules, self.random.randint(2, 3)),
            "timespan": f"{self.random.randint(2, 40)}s",
            **self.random.choice(({"group-by": ["code"]}, {"group-by": ["code", "rows"]}, {})),
        }

    def numeric_correlation(self, name: str, kind: str, rules: list[str]) -> dict:
        """Returns a correlation over the numbers of `rows`, which all events must have.

        No sum, average of fewer than a hundred or percentile of whole numbers equals its bound, so that
        rounding does not matter.
        """
        body = self._correlation(kind, rules)
        if "rows" in body.get("group-by", ()):
            body["group-by"] = ["code"]
        bound = self.random.randint(*SUMS if kind == "value_sum" else NUMBERS) + 0.03
        operator = self.random.choice(("gt", "gte") if kind == "value_sum" else ("gt", "gte", "lt", "lte"))
        body["condition"] = {operator: bound, "field": "rows"}
        if kind == "value_percentile":
            body["condition"]["percentile"] = self.random.choice((0, 10, 50, 90, 100))
        return {"title": name, "name": name, "correlation": body}

    def numbered(self, event: dict) -> dict:
        """Returns an event with a number in `rows`: SQLite's windows also end at events without it."""
        return {**event, "rows": self.random.randrange(8), "code": event.get("code", 0)}


def database(events: list[dict]) -> sqlite3.Connection:
    """Creates a table of the events; missing fields are NULL."""
    connection = sqlite3.connect(":memory:")
    connection.create_function("REGEXP", 2, _search, deterministic=True)
    columns = ("event_id", "timestamp", *FIELDS, KEYWORD_FIELD)
    connection.execute(f"CREATE TABLE logs ({', '.join(columns)})")
    for event in events:
        texts = "\x1f".join(str(event[name]) for name in FIELDS if name in event)
        row = [event.get(name) for name in columns[:-1]]
        connection.execute(f"INSERT INTO logs VALUES ({', '.join('?' * len(columns))})", [*row, texts])
    return connection


def _search(pattern: str, text: object) -> bool:
    return text is not None and re.search(pattern, str(text)) is not None


def matches(rules: list[dict], events: list[dict]) -> set[tuple[str, str]]:
    """Returns (rule, event id) of every match of a rule over single events."""
    connection = database(events)
    found = set()
    for rule in rules:
        backend = sqliteBackend(collate_nocase=True, fulltext_field=KEYWORD_FIELD)
        for query in backend.convert(SigmaCollection.from_dicts([rule])):
            ids = connection.execute(query.replace("SELECT *", "SELECT event_id", 1))
            found |= {(rule["name"], event_id) for (event_id,) in ids}
    return found


def _each_part_once(query: str) -> str:
    """Makes SQLite evaluate each common table expression once, not again for each row that refers to it."""
    return re.sub(r"\b(\w+) AS \(SELECT", r"\1 AS MATERIALIZED (SELECT", query)


def alerts(rules: list[dict], correlation: dict, events: list[dict]) -> set[tuple[str, tuple, int]]:
    """Returns (correlation, group, second) of alerts, without those within a timespan after another."""
    backend = sqliteBackend(
        collate_nocase=True, fulltext_field=KEYWORD_FIELD, timestamp_format="unix", event_id_field="event_id"
    )
    used = [rule for rule in rules if rule["name"] in correlation["correlation"]["rules"]]
    [query] = backend.convert(SigmaCollection.from_dicts([*used, correlation]))
    rows = database(events).execute(_each_part_once(query)).fetchall()
    names = correlation["correlation"].get("group-by", [])
    ends = sorted({(tuple(str(json.loads(row[1])[name]) for name in names), int(row[2])) for row in rows})
    span = int(correlation["correlation"]["timespan"][:-1])
    apart: list[tuple[tuple, int]] = []
    for group, end in ends:
        if not apart or apart[-1][0] != group or end - apart[-1][1] >= span:
            apart.append((group, end))
    return {(correlation["name"], group, end) for group, end in apart}
