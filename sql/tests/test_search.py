"""Searches on a real ClickHouse: compared with a filter in Python, by role and field, page by page."""

import random
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import pytest
import yaml
from search_events import ALERT, NOW, TEXTS, USERS, classes_of, event, holds, rows_of_logs

from tailrace.clickhouse.client import ClickHouseError
from tailrace.config.resources import REPOSITORY
from tailrace.dashboards.assets import compile_assets
from tailrace.search import (
    DEVELOPERS,
    ROLES,
    SECURITY,
    DeniedError,
    Request,
    SearchError,
    aggregated,
    compiled,
    listing,
    parse,
    text_of,
)
from tailrace.search.fields import FIELDS, KINDS, LOGS
from tailrace.search.model import SearchQuery
from tailrace.search.over_http import rows_of
from tailrace.search.sources import SOURCES

ACCESS_DENIED = 497
DASHBOARDS = REPOSITORY / "dashboards" / "dashboards"


@pytest.fixture(scope="module")
def events(_migrated, server) -> list[dict[str, Any]]:
    """What is stored, as events with the values of fields; the tables have nothing else."""
    server.empty_tables()
    logs = rows_of_logs()
    for table, rows in logs.items():
        server.user("writer").insert(f"tailrace.{table}", rows)
    classes = classes_of(logs)
    server.user("writer").insert("tailrace.data_access", classes)
    texts = [
        {"query_id": id_, "rule_set": "r", "fingerprint": text, "seen_at": f"{NOW:%Y-%m-%d %H:%M:%S}"}
        for id_, text in TEXTS.items()
    ]
    server.user("writer").insert("tailrace.fingerprints", texts)
    known = {row["event_id"]: row["data_class"] for row in classes}
    return [event(table, row, known) for table, rows in logs.items() for row in rows]


VALUES: Mapping[str, tuple[str, ...]] = {
    "log": tuple(LOGS),
    "kind": tuple(KINDS),
    "user": ("etl", "e*", '""', "ETL"),
    "client": ("10.0.0.9", "web-1", "10.*", '""'),
    "instance": ("db1", "db*"),
    "database": ("shop", '""'),
    "table": ("cards", "shop.cards", "c*", "shop.*", '""'),
    "reads": ("orders", "crm.cards"),
    "changes": ("cards", "shop.orders", '""'),
    "class": ("pci", "p*"),
    "verb": ("select", "DROP", "S*"),
    "command": ("Connect", "other"),
    "query": ("1", "0x2", "FF"),
    "session": ("7", "8"),
    "status": ("0", "1045", "1062"),
    "duration": ("1.5s", "500ms"),
    "rows_sent": ("5", "0"),
    "rows_affected": ("3",),
    "application": ("web", '""'),
    "endpoint": ("/pay",),
    "program": ("mysql", '""'),
    "trace": ("t1",),
    "plan": ("p1",),
    "level": ("Error", "high"),
    "code": ("MY-*",),
    "rule": ('"New client"',),
    "flag": ("truncated",),
}
WORDS = (
    "orders",
    "100%_done",
    '"TABLE 100%"',
    "É",
    "\\x",
    '"\\\\x"',
    "connect",
    '"query cards"',
    "denied",
    "drop",
    "`",
)


def a_condition(chosen: random.Random, depth: int = 0) -> str:
    kind = chosen.random()
    if depth < 2 and kind < 0.25:
        word = chosen.choice((" ", " OR "))
        return f"({a_condition(chosen, depth + 1)}{word}{a_condition(chosen, depth + 1)})"
    if kind < 0.4:
        return f"-{a_condition(chosen, depth + 1)}"
    if kind < 0.55:
        return chosen.choice(WORDS)
    name = chosen.choice(list(VALUES))
    operators = ("", "", "!=")
    if name in ("session", "status", "duration", "rows_sent", "rows_affected"):
        operators = ("", "!=", ">", "<=", "..")
    operator, value = chosen.choice(operators), chosen.choice(VALUES[name])
    if operator == "..":
        return f"{name}:0..{value}"
    more = f",{chosen.choice(VALUES[name])}" if operator in ("", "!=") and chosen.random() < 0.3 else ""
    return f"{name}:{operator}{value}{more}"


@pytest.fixture
def search(server, events):
    """Returns the events that a role finds, and those that the filter in Python finds."""

    def run(text: str, role=SECURITY, limit: int = 500) -> tuple[list[str], list[str]]:
        query = parse(text)
        statement = compiled(Request(query, role, NOW), limit)
        found = rows_of(server.user(role.account))(statement.sql, statement.parameters)
        tables = {source.table for source in role.sources}
        expected = [each for each in events if each["table"] in tables and holds(query.where, each["fields"])]
        return sorted(each["id"] for each in found), sorted(each["id"] for each in expected)

    return run


def test_random_searches_find_what_a_filter_finds(search):
    """Random conditions, the same in every run, several of them in one search."""
    chosen = random.Random(5)
    for _ in range(20):
        text = " OR ".join(f"({a_condition(chosen)} {a_condition(chosen)})" for _ in range(3))
        assert parse(text_of(parse(text))) == parse(text)
        found, expected = search(text)
        assert found == expected, text


def test_each_field_and_word_finds_what_a_filter_finds(search):
    """Each field by itself, as alternatives of a random search can hide the others."""
    for name, values in VALUES.items():
        for text in (f"{name}:{values[0]}", f"-{name}:{','.join(values)}"):
            found, expected = search(text)
            assert found == expected, text
    for word in WORDS:
        found, expected = search(word)
        assert found == expected and found, word


def test_pages_are_the_list_without_gaps_and_repetitions(server, events):
    """Many events have the same time."""
    rows, asked = rows_of(server.user(SECURITY.account)), Request(parse("user:etl,app"), SECURITY, NOW)
    whole = [each["id"] for each in listing(rows, asked, 500).events]
    paged, place = [], None
    while True:
        page = listing(rows, asked, 37, place)
        paged += [each["id"] for each in page.events]
        place = page.following
        if place is None:
            break
    assert paged == whole and len(whole) > 100
    assert sorted(whole) == sorted(each["id"] for each in events if each["fields"]["user"])


def test_the_shown_text_is_the_text_that_was_searched(server, events):
    rows = rows_of(server.user(SECURITY.account))
    shown = {
        each["id"]: each["text"] for each in listing(rows, Request(SearchQuery(), SECURITY, NOW), 500).events
    }
    assert shown == {each["id"]: "".join(each["fields"]["text"]) for each in events}


@pytest.mark.parametrize("role", ROLES.values(), ids=list(ROLES))
def test_pipes_count_what_the_list_has(server, events, role):
    rows, tables = rows_of(server.user(role.account)), {source.table for source in role.sources}
    mine = [each["fields"] | {"time": each["time"]} for each in events if each["table"] in tables]

    def asked(text: str) -> list[dict[str, Any]]:
        return aggregated(rows, Request(parse(text), role, NOW))

    assert sum(row["events"] for row in asked("| count")) == len(mine)
    logs = {row["log"]: row["events"] for row in asked("| count")}
    assert logs == {log: n for log in LOGS if (n := sum(each["log"] == [log] for each in mine))}
    by_user = {row["value"]: row["events"] for row in asked("| top user 5")}
    assert by_user == {
        name or None: sum(each["user"] == ([name] if name else []) for each in mine) for name in USERS
    }
    tables = {row["value"]: row["events"] for row in asked("log:slow | top table")}
    assert tables["shop.cards"] == sum(
        "shop.cards" in each["table"] for each in mine if each["log"] == ["slow"]
    )
    bars = {f"{row['time']:%Y-%m-%d %H}": row["events"] for row in asked("| timeline 1h")}
    assert bars == {
        hour: sum(each["time"][:13] == hour for each in mine) for hour in {each["time"][:13] for each in mine}
    }
    top = asked("log:slow | top query 2")
    assert all(row["text"] == TEXTS.get(int(row["value"], 16), "") for row in top) and len(top) == 2


def test_around_an_alert_are_the_events_of_its_entity_and_its_evidence(server, events):
    rows, id_ = rows_of(server.user(SECURITY.account)), ALERT.replace("-", "")
    its = next(each for each in events if each["id"] == ALERT)
    found = listing(rows, Request(parse(f"around:{id_}~1h"), SECURITY, NOW), 500)
    at = datetime.fromisoformat(its["time"])
    near = [each for each in events if abs(datetime.fromisoformat(each["time"]) - at) <= timedelta(hours=1)]
    evidence = its["row"]["event_ids"]
    expected = [
        each["id"]
        for each in near
        if each["id"] in evidence
        or (each["fields"]["user"] == ["etl"] and each["fields"]["instance"] == ["db1"])
    ]
    assert sorted(each["id"] for each in found.events) == sorted(expected)
    assert ALERT in expected and len(expected) > 1
    with pytest.raises(SearchError, match="there is no alert"):
        listing(rows, Request(parse(f"around:{'f' * 32}"), SECURITY, NOW))


# What a role may see


@pytest.mark.parametrize("role", ROLES.values(), ids=list(ROLES))
def test_a_role_reads_the_tables_that_its_account_and_its_dashboards_read(server, _migrated, role):
    tables = {source.table for source in SOURCES} | {"fingerprints", "data_access"}
    read = {table for table in tables if may_read(server.user(role.account), table)}
    assert role.tables == read
    shown = tables_on_dashboards(role.account.removeprefix("reader_"))
    assert role.tables <= shown


def may_read(clickhouse, table: str) -> bool:
    try:
        clickhouse.execute(f"SELECT * FROM tailrace.{table} LIMIT 0")
    except ClickHouseError as error:
        assert error.code == ACCESS_DENIED
        return False
    return True


@cache
def tables_on_dashboards(audience: str) -> set[str]:
    """Returns the tables that the datasets of the dashboards of an audience read."""
    assets = compile_assets()
    datasets = {each["uuid"]: each["sql"] for name, each in assets.items() if name.startswith("datasets/")}
    charts = {
        each["uuid"]: each["dataset_uuid"] for name, each in assets.items() if name.startswith("charts/")
    }
    files = [yaml.safe_load(file.read_text()) for file in DASHBOARDS.glob("*.yaml")]
    titles = {each["dashboard_title"] for each in files if audience in each["roles"]}
    placed = [
        part["meta"]["uuid"]
        for name, each in assets.items()
        if name.startswith("dashboards/") and each["dashboard_title"] in titles
        for part in each["position"].values()
        if isinstance(part, dict) and part["type"] == "CHART"
    ]
    return {table for uuid in placed for table in re.findall(r"tailrace\.(\w+)", datasets[charts[uuid]])}


def sample(events: Sequence[Mapping[str, Any]], name: str, tables: set[str]) -> str | None:
    """Returns a value of a field that an event of these tables has; None if no event has one."""
    known = [each["fields"][name] for each in events if each["table"] in tables and each["fields"].get(name)]
    if not known:
        return None
    return f"{known[0][0]:X}" if name == "query" else f'"{known[0][0]}"'


@pytest.mark.parametrize("role", ROLES.values(), ids=list(ROLES))
def test_a_field_is_found_by_whom_its_table_is_readable_and_refused_to_others(server, events, role):
    for field in FIELDS:
        having = [source for source in SOURCES if field.name in source.columns]
        mine = {source.table for source in having if source.rights(field.name) <= role.tables}
        value = sample(events, field.name, mine or {source.table for source in having})
        assert value is not None, field.name
        if mine:
            asked = Request(parse(f"{field.name}:{value} | count"), role, NOW)
            found = aggregated(rows_of(server.user(role.account)), asked)
            assert found and {each["log"] for each in found} <= logs_of(role), field.name
            continue
        with pytest.raises(DeniedError) as error:
            Request(parse(f"{field.name}:{value}"), role, NOW)
        missing = re.findall(r"tailrace\.(\w+)", error.value.right)
        assert missing and not any(may_read(server.user(role.account), table) for table in missing), (
            field.name
        )


def logs_of(role) -> set[str]:
    return set().union(*(source.columns["log"].values for source in role.sources))


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("role", ROLES.values(), ids=list(ROLES))
def test_a_log_is_searched_or_refused(server, events, role, log):
    try:
        found = listing(rows_of(server.user(role.account)), Request(parse(f"log:{log}"), role, NOW), 5).events
    except DeniedError:
        assert log not in logs_of(role)
    else:
        assert log in logs_of(role) and {each["log"] for each in found} == {log}


def test_clickhouse_refuses_what_the_list_of_rights_would_not(server, events):
    """A role that claims more than its account has gets an error of ClickHouse, and no events."""
    from dataclasses import replace

    claimed = replace(SECURITY, account=DEVELOPERS.account)
    with pytest.raises(ClickHouseError) as error:
        listing(rows_of(server.user(claimed.account)), Request(parse("log:audit"), claimed, NOW))
    assert error.value.code == ACCESS_DENIED


# Indexes: their expressions must be those of the statements


@pytest.mark.parametrize(
    ("text", "indexes"),
    [
        ("user:etl log:slow", {"searched_user"}),
        ("user:etl log:audit", {"searched_user"}),
        ("client:10.0.0.9 log:slow", {"searched_client"}),
        ("client:10.0.0.9 log:audit", {"searched_client"}),
        ("table:cards log:slow", {"searched_tables"}),
        ("table:shop.cards log:audit", {"searched_tables"}),
        ("reads:cards log:slow", {"searched_tables"}),
        ("changes:shop.cards log:audit", {"searched_tables"}),
        ("query:2 log:audit", {"searched_query"}),
        ("user:etl log:error", {"searched_user"}),
        ("client:10.0.0.9 log:error", {"searched_client"}),
        ("rarest log:error", {"searched_text"}),
    ],
)
def test_a_search_uses_the_index(server, events, text, indexes):
    asked = Request(parse(text), SECURITY, NOW)
    statement = compiled(asked)
    plan = server.user("admin").execute(f"EXPLAIN indexes = 1 {statement.sql}", statement.parameters)
    assert indexes <= set(re.findall(r"Name: (\w+)", plan)), plan


def test_a_text_is_looked_up_with_the_index_of_statements(server, events):
    found = (
        "SELECT query_id FROM tailrace.fingerprints WHERE lowerUTF8(fingerprint) LIKE lowerUTF8('%rarest%')"
    )
    assert found.replace("'%rarest%'", "{p0:String}") in compiled(Request(parse("rarest"), SECURITY, NOW)).sql
    plan = server.user("admin").execute(f"EXPLAIN indexes = 1 {found}")
    assert "Name: searched_text" in plan


# The kinds of events are those of the pages


def test_kinds_are_those_of_the_pages_of_entities(server, events):
    import jinja2

    from tailrace.clickhouse.query_files import QUERIES, query_text
    from tailrace.search.sources import KIND_OF_AUDIT, KIND_OF_ENTRY

    macros = jinja2.Environment().from_string(query_text(QUERIES / "parts" / "entity_conditions.sql")).module
    for table, ours, theirs in (
        ("audit_events", KIND_OF_AUDIT, macros.kind_of_audit()),
        ("query_events", KIND_OF_ENTRY, macros.kind_of_entry()),
    ):
        counted = f"SELECT countIf(({ours}) != ({theirs})) AS n, count() AS all FROM tailrace.{table} AS e"
        assert server.user("admin").rows(counted)[0] == {"n": 0, "all": 60}
