"""Events for the tests of the search, the values of their fields, and a filter, as Python computes them."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tailrace.forwarding.event_rules import outcome_of_audit
from tailrace.search.model import All, Comparison, Condition, Not, Text, Value
from tailrace.search.model import Any as AnyOf

NOW = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=1)
ALERT = "aaaaaaaa-0000-4000-8000-000000000001"
TEXTS = {1: "select * from `Orders` where id = ?", 2: "drop table 100%_done", 3: "grant all on *.* to \\x é"}
USERS, CLIENTS, DATABASES = (
    ("etl", "app", ""),
    ("10.0.0.9", "::ffff:10.0.0.9", "web-1", ""),
    ("shop", "crm", ""),
)
TABLES = ([], ["shop.cards"], ["cards", "shop.orders"], ["crm.cards"])


def ids() -> Iterator[str]:
    for number in range(1, 10_000):
        yield f"{number % 7}0000000-0000-4000-8000-{number:012x}"


def times(chosen: random.Random) -> str:
    """Times of the ten hours before NOW, some of them the same."""
    return f"{NOW - timedelta(minutes=chosen.randint(60, 600)):%Y-%m-%d %H:%M:%S}"


def rows_of_logs() -> dict[str, list[dict[str, Any]]]:
    """Returns the same rows at each call: the order of the draws determines them."""
    chosen, id_ = random.Random(3), ids()
    slow = [_slow(chosen, id_) for _ in range(60)]
    audit = [_audit(chosen, id_) for _ in range(60)]
    audit[0]["flags"] = ["status_unknown"]
    errors = [_error(chosen, id_) for _ in range(40)]
    alerts = [_alert(chosen, id_, number, slow[5]["event_id"]) for number in range(6)]
    alerts[0] |= {"user": "etl", "src_ip": "", "window_from": alerts[0]["event_time"]}
    return {"query_events": slow, "audit_events": audit, "error_events": errors, "alerts": alerts}


def _common(chosen: random.Random, id_: Iterator[str]) -> dict[str, Any]:
    client = chosen.choice(CLIENTS)
    is_ip = client[:1].isdigit() or ":" in client
    return {
        "event_id": next(id_),
        "cluster": "shop",
        "instance": chosen.choice(("db1", "db2")),
        "event_time": times(chosen),
        "user": chosen.choice(USERS),
        "ip": client if is_ip and chosen.random() < 0.5 else "",
        "host": client,
        "database": chosen.choice(DATABASES),
        "flags": chosen.choice(([], ["truncated"])),
    }


def _statement(chosen: random.Random) -> dict[str, Any]:
    return {
        "connection_id": chosen.choice((0, 7, 8)),
        "rule_set": "r",
        "verb": chosen.choice(("SELECT", "DROP", "")),
        "tables_read": chosen.choice(TABLES),
        "tables_written": chosen.choice(TABLES),
        "tags": chosen.choice(({}, {"application": "web", "route": "/pay"})),
        "trace_id": chosen.choice(("", "t1")),
    }


def _slow(chosen: random.Random, id_: Iterator[str]) -> dict[str, Any]:
    return {
        **_common(chosen, id_),
        **_statement(chosen),
        "source": "slowlog",
        "query_id": chosen.randint(1, 4),
        "query_time": chosen.choice((0.5, 1.5, 20)),
        "lock_time": 0.001,
        "rows_sent": chosen.randint(0, 9),
        "rows_examined": chosen.randint(0, 9),
        "rows_affected": chosen.choice((None, 3)),
        "error_code": chosen.choice((None, 0, 1062)),
        "plan_hash": chosen.choice(("", "p1")),
    }


def _audit(chosen: random.Random, id_: Iterator[str]) -> dict[str, Any]:
    return {
        **_common(chosen, id_),
        **_statement(chosen),
        "source": chosen.choice(("audit", "general")),
        "event_class": chosen.choice(("connection", "query", "table")),
        "command": chosen.choice(("Connect", "Query")),
        "object": chosen.choice(("", "Cards")),
        "query_id": chosen.choice((None, 1, 2, 3, 4)),
        "status": chosen.choice((0, 1045, 1142)),
        "program_name": chosen.choice(("", "mysql")),
    }


def _error(chosen: random.Random, id_: Iterator[str]) -> dict[str, Any]:
    return {
        **_common(chosen, id_),
        "source": "errorlog",
        "level": chosen.choice(("Error", "Note")),
        "code": chosen.choice(("MY-010914", "")),
        "kind": chosen.choice(("access_denied", "other")),
        "message": chosen.choice(("Access denied for É", "line one\nline two 100%_done", "")),
        "thread_id": chosen.choice((0, 7)),
        "details": chosen.choice(({}, {"connection": "8"})),
    }


def _alert(chosen: random.Random, id_: Iterator[str], number: int, event_id: str) -> dict[str, Any]:
    return {
        "alert_id": ALERT if number == 0 else next(id_),
        "rule_title": chosen.choice(("Drop of a table", "New client")),
        "level": "high",
        "cluster": "shop",
        "instance": "db1",
        "event_time": times(chosen),
        "window_from": times(chosen),
        "user": chosen.choice(USERS),
        "src_ip": chosen.choice(("10.0.0.9", "")),
        "database": "",
        "program": chosen.choice(("", "mysql")),
        "event_ids": [event_id],
        "updated_at": times(chosen),
    }


def classes_of(logs: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    touched = [*logs["query_events"][:20], *logs["audit_events"][:20]]
    return [
        {
            "event_id": row["event_id"],
            "event_time": row["event_time"],
            "cluster": "shop",
            "instance": row["instance"],
            "data_class": ["pci", "pii"] if number % 2 else ["pii"],
        }
        for number, row in enumerate(touched)
    ]


def event(table: str, row: Mapping[str, Any], classes: Mapping[str, list[str]]) -> dict[str, Any]:
    fields = {
        "user": [row["user"]],
        "cluster": ["shop"],
        "instance": [row["instance"]],
        "database": [row["database"]],
    }
    specific = {"query_events": slow, "audit_events": audit, "error_events": message, "alerts": alert}[table]
    found = {**fields, **specific(row)}
    id_ = row.get("event_id") or row["alert_id"]
    if table in ("query_events", "audit_events"):
        found["class"] = classes.get(id_, [])
    known = {name: [value for value in values if value not in ("", None)] for name, values in found.items()}
    return {
        "time": row["event_time"],
        "id": id_,
        "fields": {**known, "id": [id_]},
        "table": table,
        "row": row,
    }


def place(row: Mapping[str, Any]) -> str:
    raw = row["ip"] or row["host"]
    return raw.removeprefix("::ffff:")


def statement(row: Mapping[str, Any]) -> dict[str, list]:
    tags = row["tags"]
    return {
        "client": [place(row)],
        "flag": row["flags"],
        "session": [row["connection_id"] or None],
        "verb": [row["verb"]],
        "table": [*row["tables_read"], *row["tables_written"]],
        "reads": row["tables_read"],
        "changes": row["tables_written"],
        "trace": [row["trace_id"]],
        "application": [tags.get("application", "")],
        "endpoint": [tags.get("route", "")],
    }


def slow(row: Mapping[str, Any]) -> dict[str, list]:
    its = {name: [row[name]] for name in ("rows_sent", "rows_examined", "rows_affected")}
    return {
        **statement(row),
        **its,
        "log": ["slow"],
        "kind": ["failed" if row["error_code"] else "statement"],
        "query": [row["query_id"]],
        "status": [row["error_code"]],
        "duration": [row["query_time"]],
        "lock": [row["lock_time"]],
        "plan": [row["plan_hash"]],
        "text": [TEXTS.get(row["query_id"], "")],
    }


def audit(row: Mapping[str, Any]) -> dict[str, list]:
    is_login, failed = row["event_class"] == "connection", row["status"] != 0
    of_query = "failed" if failed else "statement"
    kind = {"connection": "connection", "table": "table", "query": of_query}[row["event_class"]]
    own = f"{row['command']} {row['object']}".strip()
    return {
        **statement(row),
        "log": [row["source"]],
        "kind": ["refused" if is_login and failed and row["command"] == "Connect" else kind],
        "command": [row["command"]],
        "query": [row["query_id"]],
        "status": [row["status"] if row["status"] or outcome_of_audit(row) == "success" else None],
        "program": [row["program_name"]],
        "text": [own if row["query_id"] is None else TEXTS.get(row["query_id"], "")],
    }


def message(row: Mapping[str, Any]) -> dict[str, list]:
    denied = row["kind"] == "access_denied"
    return {
        "log": ["error"],
        "kind": ["refused" if denied else "message"],
        "client": [place(row)],
        "flag": row["flags"],
        "command": [row["kind"].replace("_", " ")],
        "session": [row["thread_id"] or int(row["details"].get("connection", 0)) or None],
        "status": [1045 if denied else None],
        "level": [row["level"]],
        "code": [row["code"]],
        "text": [row["message"]],
    }


def alert(row: Mapping[str, Any]) -> dict[str, list]:
    return {
        "log": ["alert"],
        "kind": ["alert"],
        "client": [row["src_ip"]],
        "program": [row["program"]],
        "level": [row["level"]],
        "rule": [row["rule_title"]],
        "text": [row["rule_title"]],
    }


def holds(condition: Condition | None, its: Mapping[str, list]) -> bool:
    match condition:
        case None:
            return True
        case Text(text):
            return any(text.lower() in value.lower() for value in its["text"])
        case Not(inner):
            return not holds(inner, its)
        case All(parts):
            return all(holds(part, its) for part in parts)
        case AnyOf(parts):
            return any(holds(part, its) for part in parts)
        case Comparison():
            return compares(condition, its)


def compares(comparison: Comparison, its: Mapping[str, list]) -> bool:
    known, name = its.get(comparison.field), comparison.field
    if known is None:
        return False
    if comparison.operator in ("=", "!="):
        is_one = any(same(name, each, known) for each in comparison.values)
        return is_one if comparison.operator == "=" else bool(known) and not is_one
    given = [number(each.text) for each in comparison.values]
    test = {
        "<": lambda value: value < given[0],
        "<=": lambda value: value <= given[0],
        ">": lambda value: value > given[0],
        ">=": lambda value: value >= given[0],
        "..": lambda value: given[0] <= value <= given[-1],
    }
    return any(test[comparison.operator](value) for value in known)


def number(text: str) -> float:
    return float(text.removesuffix("ms")) / 1000 if text.endswith("ms") else float(text.removesuffix("s"))


def same(name: str, value: Value, known: Sequence[Any]) -> bool:
    if value.text == "":
        return not known
    if name == "query":
        return int(value.text, 16) in known
    if name == "verb":
        value = Value(value.text.upper(), value.is_pattern)
    if name in ("session", "status", "rows_sent", "rows_examined", "rows_affected", "duration"):
        return number(value.text) in known
    names = list(known)
    if name in ("table", "reads", "changes") and "." not in value.text:
        names = [each.rpartition(".")[2] for each in known]
    pattern = re.escape(value.text).replace(r"\*", ".*") if value.is_pattern else re.escape(value.text)
    return any(re.fullmatch(pattern, each, re.DOTALL) for each in names)
