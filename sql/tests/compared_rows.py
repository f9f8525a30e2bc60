"""Rows that match across tables and shards, and answers in a form that can be compared."""

import random
import re
import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from clickhouse_servers import Server
from test_tables import TABLES, encoded_as

from tailrace.clickhouse.client import ClickHouseError
from tailrace.clickhouse.query_files import QUERIES
from tailrace.dashboards import asset_files

INSTANCES = [f"db{number}" for number in range(8)]
OF_SHORT_SESSIONS = INSTANCES[:4]
"""Servers whose sessions begin with a login; on the others a session covers the whole range."""
NOW = datetime.now(UTC).replace(microsecond=0)
VALUES = {
    "instance": INSTANCES,
    "source": ["slowlog", "audit", "general", "errorlog"],
    "log": ["/log/a.log", "/log/b.log"],
    "kind": ["settings", "accounts", "CENSUS", "EVENT", "ENTRY", "FRONTIER", "GAP", "access_denied"],
    "change": ["added", "changed", "removed"],
    "stage": ["FRAMER", "PARSER"],
    "event_class": ["connection", "query", "table", "admin"],
    "status": [0, 0, 1045],
    "level": ["low", "medium", "high", "critical"],
    "verb": ["SELECT", "INSERT", "GRANT"],
    "data_class": [["pci"], ["pii"], ["pci", "pii"]],
    "database": ["shop", "crm", ""],
    "user": ["app", "ann", "root"],
}


COLUMNS = (
    "SELECT name, type FROM system.columns WHERE database = 'tailrace' AND table = {table:String} "
    "AND default_kind IN ('', 'DEFAULT')"
)


def insert_same_rows(*servers: Server) -> None:
    """Inserts the same rows into every written table of the servers."""
    generator = random.Random(1)
    written = (
        "server_facts",
        "server_snapshots",
        "server_changes",
        "table_sizes",
        "pull_costs",
        "metadata_lock_waits",
    )
    for table in [*TABLES.values(), *written]:
        columns = servers[0].user("admin").rows(COLUMNS, {"table": table})
        types = {column["name"]: encoded_as(column["type"]) for column in columns}
        rows = [plausible_row(generator, number, types) for number in range(150)]
        for each in servers:
            each.user("admin").insert(f"tailrace.{table}", rows)


def plausible_row(generator: random.Random, number: int, types: dict[str, str]) -> dict[str, object]:
    """Values that depend on others do so here: a text on its statement, a login on its event class."""
    row = {name: value(generator, name, kind) for name, kind in types.items()}
    query_id, trace = row.get("query_id", 0), row.get("TraceId", "")
    overridden = {
        "event_id": str(uuid.UUID(int=number)),
        "cluster": "c" + str(row.get("instance", ""))[-1:],
        "fingerprint": f"select {query_id}",
        "rule_set": "tailrace-1",
        "plan_hash": query_id,
        "endpoint": trace,
        "ServiceName": trace,
        "database": "shop" if trace else row.get("database"),
    }
    if row.get("event_class") == "connection" and row["instance"] in OF_SHORT_SESSIONS:
        overridden |= {"command": "Connect", "event_name": ""}
    return row | {name: each for name, each in overridden.items() if name in types}


def value(generator: random.Random, name: str, kind: str) -> object:
    """Returns one of few values of a column, so that rows of different tables and shards match."""
    if name in VALUES:
        return generator.choice(VALUES[name])
    if "UUID" in kind and "Array" not in kind:
        return str(uuid.UUID(int=generator.randrange(60)))
    if kind.startswith("Array"):
        is_list_of_text = "." not in name and "String)" in kind
        return [generator.choice(["shop.cards", "shop.orders"])] if is_list_of_text else []
    if kind.startswith("Map"):
        return {"value": "1"}
    if "DateTime" in kind:
        return f"{NOW - timedelta(seconds=generator.randrange(80_000)):%Y-%m-%d %H:%M:%S}"
    if "String" in kind or "Enum" in kind:
        return f"{name}{generator.randrange(3)}"
    if "Bool" in kind:
        return generator.random() < 0.5
    return generator.randrange(4)


# Properties of one server: its own usage, and the order of equal rows.
NOT_COMPARED = {"server_metrics"}

WITHOUT_ROWS = {
    "alerts_actions_of_entity",
    *("accounts", "alerts_due", "alerts_silences", "ledger_details", "ledger_rows", "connection_statements"),
    *("coverage_exports", "unmasked_accesses", "coverage_reviews", "deadlocks", "evidence_accounts"),
    *("evidence_alert_actions", "evidence_audit_log_access", "evidence_audit_log_changes"),
    *("evidence_definitions", "evidence_exports", "evidence_reviews", "evidence_unknown_access"),
    *("innodb_messages", "login_guesses", "query_calls", "rule_coverage"),
    *("page_alert_earlier", "page_alert_gap", "page_alert_history", "page_alert_queries"),
    *("page_alert_sessions", "page_event_pseudonyms", "page_incident_history"),
    *("page_query_digest", "page_query_logging", "page_query_logging_changes", "page_query_versions"),
    *("page_query_ddl", "page_query_deadlocks", "page_query_lock_waits", "page_query_counters"),
    *("page_entity_evidence", "samples_statements"),
    *(
        "page_setup_listed",
        "page_setup_rule_counts",
        "page_setup_rules",
        "page_setup_settings",
        "page_setup_slow_settings",
    ),
    *("ledger_repairs", "canary_rules", "rule_health", "api_token", "api_tokens"),
    *("page_rule_servers", "rule_outcomes", "scheduled_searches", "search_run_attempts", "health_audit"),
    "health_audit_changes",
    *("search_run_history", "delivery_channels", "schedule_tokens", "ledger_statement_records"),
}
"""Queries without a result for these rows: `make test-shards` runs their own tests on two shards."""


def queries() -> list[str]:
    return sorted(path.stem for path in QUERIES.glob("*.sql") if path.stem not in NOT_COMPARED)


def chart_queries() -> list[str]:
    return sorted({Path(each.content["sql"]).stem for each in asset_files.load() if each.kind == "datasets"})


def asked(server: Server, name: str, text: str) -> Counter[str]:
    """Returns the rows of a query in any order, numbers rounded; or ClickHouse's error code for it."""
    try:
        rows = server.user("admin").rows(text, parameters_of(name, text))
    except ClickHouseError as error:
        return Counter([f"refused with {error.code}"])
    return Counter(str({name: rounded(each) for name, each in row.items()}) for row in rows)


def parameters_of(name: str, text: str) -> dict[str, object]:
    """Returns a value for each parameter of a query."""
    own = next((each for prefix, each in PARAMETERS_OF.items() if name.startswith(prefix)), {})
    known = {**PARAMETERS, **own}
    return {each: known.get(each, 7) for each in re.findall(r"\{(\w+):[A-Z]", text)}


def check_result(name: str, answer: Counter[str]) -> None:
    """Raises AssertionError unless exactly the queries of WITHOUT_ROWS have no result."""
    listed = "WITHOUT_ROWS of sql/tests/compared_rows.py"
    assert answer or name in WITHOUT_ROWS, (
        f"{name} returns no rows: add the values that it selects to VALUES or plausible_row of "
        f"sql/tests/compared_rows.py, or its name to {listed}"
    )
    assert not answer or name not in WITHOUT_ROWS, f"{name} returns rows: remove it from {listed}"


PARAMETERS = {
    "from": f"{NOW - timedelta(days=1):%Y-%m-%d %H:%M:%S}",
    "to": f"{NOW + timedelta(minutes=1):%Y-%m-%d %H:%M:%S}",
    "now": f"{NOW:%Y-%m-%d %H:%M:%S}",
    "since": f"{NOW - timedelta(days=1):%Y-%m-%d %H:%M:%S}",
    "oldest": f"{NOW - timedelta(days=1):%Y-%m-%d %H:%M:%S}",
    "through": 1000,
    "period": 0,
    "class": "pci",
    "levels": "['low', 'high']",
    "rules": "[]",
    "instance": "db1",
    "log": "/log/a.log",
    "source": "slowlog",
    "sources": "['slowlog', 'audit', 'general', 'errorlog']",
    "generation": 1,
    "channel": "mail",
}
"""Parameters of all queries; other numbers are 7."""

PARAMETERS_OF = {
    "rule_outcomes": {"rule": ""},
    "alert_risk": {"kind": "", "name": ""},
    "page_rule_entities": {"rule": "rule_id1"},
    "page_event_pseudonyms": {"event_ids": "[]"},
    "page_alerts_newest": {"since": 0},
    "page_rule": {"rule": "", "by_day": 0},
    "page_alert": {
        **dict.fromkeys(("level", "cluster", "rule", "field", "value"), ""),
        **dict.fromkeys(("verdict", "by_assignee", "assignee"), ""),
        "state": "any",
        "id": "00000000-0000-0000-0000-000000000007",
        "ids": "['00000000-0000-0000-0000-000000000007']",
        "event_ids": "[]",
    },
    "page_incident": {
        "ids": "['00000000-0000-0000-0000-000000000007']",
        "clients": "['ip0', 'ip1', 'ip2', 'host0', 'host1', 'host2']",
        "servers": "['db1', 'db2', 'db3']",
        "connections": "[1, 1, 2]",
        "users": "['app', 'ann', 'root']",
    },
    "page_entity": {
        "kind": "user",
        "name": "app",
        "cluster": "",
        "text": "",
        "kinds": "[]",
        "names": "[]",
        "near": "[]",
        "before_id": "",
        "ids": f"['{uuid.UUID(int=3)}', '{uuid.UUID(int=5)}']",
        "queries": "['0000000000000001', '0000000000000002']",
        "limit": 200,
        "clusters": "[]",
        "servers": "[]",
        "width": 3600,
        "begin": f"{NOW - timedelta(hours=12):%Y-%m-%d %H:%M:%S}",
        "earlier_end": f"{NOW - timedelta(hours=13):%Y-%m-%d %H:%M:%S}",
        "classes_from": f"{NOW - timedelta(days=1):%Y-%m-%d %H:%M:%S}",
    },
    "page_query": {
        "query_id": 1,
        "cluster": "",
        "query_ids": "[1, 2, 3]",
        "width": 3600,
        "clusters": "[]",
        "servers": "['db1', 'db2']",
        "names": "['table0', 'table1']",
        "tables": "['shop.cards']",
        "fingerprints": "['select 1']",
        "text": "select",
        "prefix": "0000",
        "digest": "a",
        "verb": "SELECT",
    },
}
"""More parameters of the queries whose names begin so; an empty text does not restrict."""
PARAMETERS_OF["api"] = {
    **PARAMETERS_OF["page_alert"],
    **dict.fromkeys(("user", "client", "database", "table", "verb", "kind", "event_class", "program"), ""),
    **dict.fromkeys(("failed", "outcome", "before_id", "before_log", "before_instance", "hash"), ""),
    "before": f"{NOW:%Y-%m-%d %H:%M:%S}",
    "query_id": 0,
    "min_seconds": 0,
    "limit": 200,
}
PARAMETERS_OF["page_search"] = {"clusters": "[]", "servers": "[]"}
PARAMETERS_OF["page_session"] = PARAMETERS_OF["page_entity"]


def rounded(each: object) -> object:
    return float(f"{each:.9g}") if isinstance(each, float) else each
