"""`tailrace demo` through the whole pipeline: ClickHouse contains the two days of the shop of the manifest.

Its quick counterparts are embedded/tests/test_demo_shop.py and test_demo_shop_detect.py.
"""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from e2e.stack import PARTS, PORTS, Stack
from e2e.wait_for_idle import tailrace
from tailrace.clickhouse.client import ClickHouse, Row

FIRST_PORT = int(os.environ.get("DEMO_FIRST_PORT", "22660"))
WAIT_SECONDS = 300
EVENTS = {"slowlog": "query_events", "audit": "audit_events", "errorlog": "error_events"}

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def stack(tmp_path_factory) -> Iterator[Stack]:
    """An own stack: the number of entries would delay the tests of a shared one."""
    made = Stack(
        tmp_path_factory.mktemp("demo") / "home",
        FIRST_PORT,
        (*PARTS, "detect", "facts"),
        port_detect=str(FIRST_PORT + len(PORTS)),
    )
    yield made
    made.down()


@pytest.fixture(scope="module")
def printed(stack) -> dict[str, Any]:
    """Returns the JSON that the demo prints."""
    return json.loads(tailrace(stack, "demo", "--json", "--wait", str(WAIT_SECONDS), seconds=1500))


@pytest.fixture(scope="module")
def stories(printed) -> dict[str, Any]:
    return printed["manifest"]["stories"]


@pytest.fixture(scope="module")
def clickhouse(stack, printed) -> ClickHouse:
    return stack.clickhouse()


def one(clickhouse: ClickHouse, query: str) -> Row:
    (row,) = clickhouse.rows(query)
    return row


def test_every_entry_is_one_event(clickhouse, printed):
    counted = {
        f"{row['instance']}/{source}": row["events"]
        for source, table in EVENTS.items()
        for row in clickhouse.rows(
            f"SELECT instance, uniqExact(event_id) AS events FROM tailrace.{table} GROUP BY instance"
        )
    }
    assert counted == printed["manifest"]["entries"]
    assert printed["books"]["balances"]
    assert not printed["books"]["behind_bytes"]
    assert one(clickhouse, "SELECT count() AS dead FROM tailrace.dead_letters")["dead"] == 0


def test_exactly_the_alerts_of_the_manifest_are_raised(clickhouse, printed):
    raised = {
        (row["level"], row["rule_title"]): row["alerts"]
        for row in clickhouse.rows(
            "SELECT level, rule_title, count() AS alerts FROM tailrace.alerts FINAL GROUP BY ALL"
        )
    }
    assert raised == {(each["level"], each["rule"]): each["alerts"] for each in printed["manifest"]["alerts"]}


def test_the_dropped_index_changed_the_plan_and_the_latency(clickhouse, stories):
    facts = stories["dropped_index"]
    change = one(
        clickhouse,
        "SELECT instance, hex(query_id) AS id, verdict, executions_before, rows_examined_after, "
        "toUnixTimestamp(changed_at) - toUnixTimestamp(parseDateTimeBestEffort('"
        + facts["at"]
        + "')) AS seconds_later FROM tailrace.plan_changes FINAL",
    )
    assert (change["instance"], change["id"], change["verdict"]) == (
        facts["instance"],
        facts["query_id"],
        "slower",
    )
    assert change["executions_before"] == facts["executions_before"]
    assert 0 <= change["seconds_later"] < 600
    load = one(
        clickhouse,
        "SELECT uniqExact(event_id) AS executions, sum(query_time) AS seconds FROM tailrace.query_events "
        f"WHERE hex(query_id) = '{facts['query_id']}' AND rows_examined > 1000",
    )
    heaviest = one(
        clickhouse,
        "SELECT hex(query_id) AS id FROM tailrace.query_events GROUP BY id "
        "ORDER BY sum(query_time) DESC LIMIT 1",
    )
    assert heaviest["id"] == facts["query_id"]
    assert load["executions"] == facts["executions_after"]
    assert load["seconds"] == pytest.approx(facts["seconds_after"], rel=1e-4)


def test_the_loop_is_in_the_traces_and_in_the_log(clickhouse, stories, printed):
    facts = stories["loop"]
    where = f"hex(query_id) = '{facts['query_id']}'"
    loops = one(
        clickhouse,
        "SELECT count() AS traces, min(repeats) AS least, max(repeats) AS most FROM "
        f"(SELECT TraceId, count() AS repeats FROM tailrace.otel_traces WHERE {where} GROUP BY TraceId)",
    )
    assert loops == {"traces": facts["traces"], "least": facts["repeats"], "most": facts["repeats"]}
    logged = one(clickhouse, f"SELECT uniqExact(event_id) AS n FROM tailrace.query_events WHERE {where}")
    assert logged["n"] == facts["executions"]
    spans = one(clickhouse, "SELECT count() AS spans FROM tailrace.otel_traces")
    assert spans["spans"] == printed["manifest"]["spans"]


def test_the_attack_and_the_export_are_in_the_audit_log(clickhouse, stories):
    spray, export = stories["spray"], stories["export"]
    refused = one(
        clickhouse,
        "SELECT count() AS logins, uniqExact(user) AS accounts FROM tailrace.audit_events "
        f"WHERE ip = '{spray['address']}' AND status = 1045",
    )
    assert (refused["logins"], refused["accounts"]) == (spray["refused_logins"], spray["accounts"])
    exported = one(
        clickhouse,
        "SELECT user, ip, connection_id, rows_sent FROM tailrace.query_events "
        f"WHERE hex(query_id) = '{export['query_id']}'",
    )
    assert exported == {
        "user": export["user"],
        "ip": export["address"],
        "connection_id": export["connection"],
        "rows_sent": export["rows"],
    }


def test_deadlocks_and_the_replica_are_in_the_error_logs(clickhouse, stories):
    kinds = {
        (row["instance"], row["kind"]): row["messages"]
        for row in clickhouse.rows(
            "SELECT instance, kind, countIf(kind != 'deadlock' OR mapContains(details, 'rolled_back')) "
            "AS messages "
            "FROM tailrace.error_events GROUP BY ALL"
        )
    }
    assert kinds[("shop-db-1", "deadlock")] == stories["deadlocks"]["count"]
    assert kinds[("shop-db-2", "replication_error")] == stories["replica"]["failed_reconnects"]


def test_the_gap_is_recorded_and_repaired(clickhouse, stories, printed):
    gap = stories["gap"]
    postings = clickhouse.rows(
        "SELECT instance, source, from_offset, to_offset, bytes FROM tailrace.ledger WHERE kind = 'GAP' "
        "ORDER BY bytes DESC"
    )
    place = {name: gap[name] for name in ("instance", "source", "from_offset", "to_offset")}
    assert postings == [{**place, "bytes": gap["bytes"]}, {**place, "bytes": -gap["bytes"]}]
    again = one(
        clickhouse,
        "SELECT count() AS events, countIf(event_time < parseDateTimeBestEffort('"
        + gap["from"]
        + "') OR event_time >= parseDateTimeBestEffort('"
        + gap["to"]
        + "')) AS outside FROM tailrace.audit_events WHERE has(flags, 'backfilled')",
    )
    assert again == {"events": gap["entries"], "outside": 0}
    assert printed["books"]["gaps"] == []


def test_a_second_call_feeds_nothing(stack, clickhouse, printed):
    again = json.loads(tailrace(stack, "demo", "--json", "--wait", str(WAIT_SECONDS), seconds=900))
    assert again["manifest"] == printed["manifest"]
    assert again["links"] == printed["links"]
    events = one(clickhouse, "SELECT count() AS n FROM tailrace.audit_events")["n"]
    audits = (n for log, n in printed["manifest"]["entries"].items() if log.endswith("/audit"))
    assert events == sum(audits)
