"""Rows of a statement for test_pages_queries.py: executions, plans, DDL and deadlocks of two hours."""

import hashlib
import json
from datetime import UTC, datetime, timedelta

END = datetime.now(UTC).replace(hour=15, minute=0, second=0, microsecond=0) - timedelta(days=30)
START = END - timedelta(hours=2)
"""Not midnight: a range from midnight on is compared with the same hours of the day before."""
NAMED = "%Y%m%dT%H%MZ"
"""Times in names of files."""
SPAN = {"from": f"{START:%Y-%m-%dT%H:%M:%SZ}", "to": f"{END:%Y-%m-%dT%H:%M:%SZ}"}
HOSTILE = "<script>alert('x')</script>"
TEXT = f"select a, `{HOSTILE}` from pages_orders o where o.id = ? and o.b in(?+) order by a"
IT = int.from_bytes(hashlib.md5(TEXT.encode()).digest()[8:])
"""The query id of TEXT: the right-most 64 bits of its MD5 hash."""
SHOWN = f"{IT:016X}"
PATH = f"/tailrace/queries/{SHOWN}/"
PASTED = f"SELECT a, `{HOSTILE}` FROM pages_orders o WHERE o.id = 17 AND o.b IN (1, 'two') ORDER BY a ASC"
DIGEST = "cd" * 32
DDL = IT ^ 0xFFFF
"""The query id of the DDL on the table of the statement; the next one is that of another statement."""
USER = '"><img src=x onerror=alert(1)>'
OLD, NEW = "A" * 16, "B" * 16
ADVICE = "missing index · o: no index can be used: consider one on (id, b) · reads 51,000 rows"


def at(minutes: int) -> str:
    return f"{START + timedelta(minutes=minutes):%Y-%m-%d %H:%M:%S}"


def execution(minutes: int, seconds: float, **columns) -> dict:
    its = {
        "cluster": "pages-of-queries",
        "instance": "pages-1",
        "query_id": IT,
        "rule_set": "tailrace-2",
        "weight": 2,
    }
    who = {"user": USER, "host": "10.9.8.7", "database": "pages", "verb": "SELECT"}
    return {**its, **who, "event_time": at(minutes), "query_time": seconds, "rows_examined": 500, **columns}


def plan(plan_hash: str, first: int, last: int, **columns) -> dict:
    its = {
        "cluster": "pages-of-queries",
        "instance": "pages-1",
        "query_id": IT,
        "plan_hash": plan_hash,
        "source": "slowlog",
    }
    times = {"first_seen_at": at(first), "seen_at": at(last)}
    return {**its, **times, "hash_rules": "plan-1", "database": "pages", **columns}


LOCK_WAIT = {
    "cluster": "pages-of-queries",
    "instance": "pages-1",
    "at": at(71),
    "object_type": "TABLE",
    "database": "pages",
    "object_name": "pages_orders",
    "waiting_lock": "EXCLUSIVE",
    "waiting_connection": 7,
    "waiting_user": "migration",
    "waiting_command": "Query",
    "waiting_seconds": 65,
    "holding_lock": "SHARED_READ",
    "holding_connection": 8,
    "holding_user": USER,
    "holding_host": "10.9.8.7",
    "holding_command": "Sleep",
    "holding_seconds": 3600,
}
ROWS = {
    "query_events": [
        execution(-60, 0.1),
        execution(10, 0.25, plan_hash=OLD),
        execution(70, 1.5, plan_hash=NEW, tags={"application": HOSTILE, "route": "/cart"}),
        execution(
            71,
            4.5,
            plan_hash=NEW,
            attributes={"Query_digest": DIGEST.upper()},
            tags={"application": "pages-web", "version": "2"},
        ),
        execution(-30, 0, query_id=DDL + 1, tags={"application": "pages-web", "version": "0"}),
        execution(65, 0, query_id=DDL + 1, tags={"application": "pages-web", "version": "1"}),
        execution(68, 0, query_id=DDL + 1, tags={"application": "pages-web", "version": "2"}),
        execution(69, 0, query_id=DDL, verb="ALTER", tables_written=["pages_orders"]),
    ],
    "fingerprints": [
        {
            "query_id": IT,
            "rule_set": "tailrace-2",
            "fingerprint": TEXT,
            "verb": "SELECT",
            "tables_read": ["pages_orders"],
            "first_seen_at": at(-60),
            "seen_at": at(71),
        },
        {
            "query_id": DDL,
            "rule_set": "tailrace-2",
            "fingerprint": "alter table pages_orders drop index by_id",
            "verb": "ALTER",
            "tables_written": ["pages_orders"],
            "seen_at": at(69),
        },
    ],
    "plans": [
        plan(
            OLD,
            10,
            10,
            tree="query block\n  o: ref by by_id, 7 rows",
            model=json.dumps(
                {"plan": {"table": "pages_orders", "alias": "o", "index": "by_id", "ref": ["const"]}}
            ),
        ),
        plan(
            NEW,
            70,
            71,
            tree="query block\n  o: ALL, 51,000 rows",
            advice=[ADVICE],
            model=json.dumps({"plan": {"schema": "pages", "table": "pages_orders", "alias": "o"}}),
        ),
    ],
    "plan_changes": [
        {
            "cluster": "pages-of-queries",
            "instance": "pages-1",
            "query_id": IT,
            "changed_at": at(70),
            "old_plan": OLD,
            "new_plan": NEW,
            "verdict": "slower",
            "ratio": 6,
            "executions_before": 40,
            "executions_after": 20,
            "updated_at": at(71),
        }
    ],
    "error_events": [
        {
            "cluster": "pages-of-queries",
            "instance": "pages-1",
            "source": "errorlog",
            "kind": "deadlock",
            "event_time": at(minutes),
            "details": {
                "rolled_back": "1",
                "transaction_1_user": "warehouse",
                "transaction_1_query_id": f"{DDL:016X}",
                "transaction_2_user": USER,
                "transaction_2_query_id": SHOWN,
            },
        }
        for minutes in range(54, 66 + 1)
    ],
}
