"""Rows for the tests of work pages, with names that an attacker would choose. They stay until the stack ends.

A page that shows other tables adds its rows to `insert`, and the values of its routes to the result. All rows
have the cluster CLUSTER and are DAYS_AGO old, so that they change nothing that other tests see.
"""

import json
import uuid
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from e2e.alert_rows import alert, evidence
from tailrace.clickhouse.client import ClickHouse
from tailrace.retention import holds
from tailrace.rules import catalog
from tailrace.search.scheduled import saved
from tailrace.search.scheduled.saved import SavedSearch, Schedule
from tailrace_pages.entities import addresses

CLUSTER = "pages"
CHANNEL, OWNER = "pages<b>", "security"
DAYS_AGO = 40
MINUTES_AGO = DAYS_AGO * 24 * 60

SCRIPT = "<script>alert(1)</script>"
HOSTILE = (
    f"{SCRIPT}",
    "\"'><img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "\x1b[31m\x00\u202e\u2028%s\\",
    "</textarea></table></script><svg onload=alert(1)>",
    '=HYPERLINK("http://x")',
)
"""Names of users, hosts, programs and rules, and statements, as logs can contain them."""
FIRST_QUERY_ID = 0xABCD_EF00_0000_0100


def insert(clickhouse: ClickHouse) -> dict[str, str]:
    """Inserts the rows and returns values for the placeholders of routes: `alert` is the most hostile one."""
    rows = [_hostile_alert(number, text) for number, text in enumerate(HOSTILE)]
    clickhouse.insert("tailrace.alerts", rows, async_insert=0)
    clickhouse.insert("tailrace.audit_events", [_event(row) for row in rows], async_insert=0)
    clickhouse.insert(
        "tailrace.alert_actions (alert_id, actor, action, reason)",
        [
            {"alert_id": row["alert_id"], "actor": text, "action": "comment", "reason": text}
            for row, text in zip(rows, HOSTILE, strict=True)
        ],
        async_insert=0,
    )
    _insert_statements(clickhouse)
    alert_id = rows[0]["alert_id"].replace("-", "")
    names = {"query": f"{FIRST_QUERY_ID:016X}", "name": quote(addresses.encode(HOSTILE[0]), safe="")}
    rules = {"rule": quote(addresses.encode(HOSTILE[0]), safe=""), "written": next(iter(catalog.load()))}
    stored = {"search": _insert_search(clickhouse), "hold": _insert_hold(clickhouse)}
    return {"alert": alert_id, "none": uuid.uuid4().hex, **stored, **names, **rules}


def _insert_hold(clickhouse: ClickHouse) -> str:
    """Inserts a released legal hold, which changes no TTL; returns its id."""
    id_ = uuid.uuid4()
    selector = json.dumps({"client": [SCRIPT], "cluster": [CLUSTER]})
    steps = ((holds.PLACE, SCRIPT), (holds.REQUEST, HOSTILE[1]), (holds.CONFIRM, HOSTILE[5]))
    rows = [
        {
            "hold_id": str(id_),
            "action": action,
            "actor": actor,
            "reason": SCRIPT,
            "account": CLUSTER,
            "at": f"2026-01-0{day} 00:00:00",
            "case_name": SCRIPT,
            "selector": selector,
        }
        for day, (action, actor) in enumerate(steps, start=1)
    ]
    clickhouse.insert("tailrace.legal_hold_actions", rows, async_insert=0)
    return id_.hex


def _insert_search(clickhouse: ClickHouse) -> str:
    """Saves a shared search of the user `security`, with a schedule and a run; returns its id."""
    schedule = Schedule(timedelta(days=1), [CHANNEL])
    search = SavedSearch(
        OWNER, SCRIPT, "security", f'user:"{SCRIPT}"', schedule, shared=True, needs_account=False
    )
    saved.store(clickhouse, search)
    channel = {"channel": CHANNEL, "kind": "webhook", "state": "failing", "detail": SCRIPT}
    clickhouse.append("tailrace.delivery_channels", [channel])
    run = {"owner": OWNER, "name": SCRIPT, "until": "2040-01-01 00:00:00", "channel": CHANNEL}
    clickhouse.append("tailrace.search_runs", [{**run, "outcome": "failed", "events": 3, "detail": SCRIPT}])
    return search.id


def _insert_statements(clickhouse: ClickHouse) -> None:
    """Inserts a statement for each name, with an execution and a plan."""
    at = f"{datetime.now(UTC) - timedelta(days=DAYS_AGO):%Y-%m-%d %H:%M:%S}"
    for number, text in enumerate(HOSTILE):
        its = {"query_id": FIRST_QUERY_ID + number, "cluster": CLUSTER, "instance": text, "database": text}
        who = {"user": text, "host": text, "tags": {"application": text, "route": text, "version": text}}
        execution = {**its, **who, "event_time": at, "query_time": 1, "weight": 1, "plan_hash": text}
        plan = {**its, "plan_hash": text, "hash_rules": text, "source": text, "seen_at": at, "tree": text}
        advice = f"missing index · {text}: no index can be used: consider one on ({text}) · {text}"
        known = {"query_id": FIRST_QUERY_ID + number, "rule_set": "tailrace-2", "seen_at": at}
        named = {"fingerprint": f"select `{text}`", "verb": text, "tables_read": [text]}
        clickhouse.insert("tailrace.query_events", [execution], async_insert=0)
        clickhouse.insert("tailrace.plans", [{**plan, "advice": [advice]}], async_insert=0)
        clickhouse.insert("tailrace.fingerprints", [{**known, **named}], async_insert=0)


def alert_of_pages(**fields) -> dict:
    """Returns an alert of these tests; `fields` override its values."""
    return alert(**{"minutes_ago": MINUTES_AGO, "cluster": CLUSTER, **fields})


def _hostile_alert(number: int, text: str) -> dict:
    return alert_of_pages(
        minutes_ago=MINUTES_AGO + 60 * number,
        rule_title=text,
        rule_id=text,
        level="critical",
        entity={"user": text, text: "x"},
        entity_key=text,
        instance=text,
        user=text,
        src_ip=text,
        database=text,
        program=text,
        statements=[text, f"SELECT '{text}'"],
        facts={text: text},
        next_steps=[text],
        false_positives=[text],
        rule_file=text,
    )


def _event(row: dict) -> dict:
    return evidence(row, host=row["src_ip"], tables_read=[row["user"]], connection_id=4711)
