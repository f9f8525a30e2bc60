"""Tests that access.yaml restricts the rows that each reader of ClickHouse sees, in every query."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import yaml
from clickhouse_servers import Server
from entity_rows import Store
from test_rights import ACCESS_DENIED, DEVELOPER, MAY_READ
from test_tables import VIEW_TARGETS

from tailrace import search
from tailrace.clickhouse import row_policies, server_config
from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.clickhouse.row_policies import AUDIENCES, COLUMNS, OF_TAILRACE
from tailrace.config.yaml_reader import ConfigurationError
from tailrace.rules.data_classes import ClassPattern
from tailrace.search import over_http
from tailrace_pages.entities import listing
from tailrace_pages.entities.kinds import Entity
from tailrace_pages.entities.reading import Reading
from tailrace_pages.time_range import TimeRange

NO_MERGE_OF_SHARDS = 10
"""merge() finds no columns where a Distributed table has a row policy."""

DEAD_LETTERS = defaultdict(set, dead_letters=DEVELOPER)
"""Readable except for one column."""

RESTRICTED = {
    "developer": {"clusters": ["shop"], "databases": ["shop", "it's"]},
    "compliance": {"instances": ["db-1"]},
    "security": {"databases": ["shop", "(none)"]},
    "unmasked": {"clusters": ["shop"], "instances": ["db-1"], "databases": ["shop"]},
}
ID_OF_ALL = "00000000-0000-0000-0001-000000000000"
SERVERS = [("shop", "db-1"), ("shop", "db-2"), ("other", "db-3")]
DATABASES = ["shop", "it's", "billing", ""]
PLACES = [(cluster, instance, database) for cluster, instance in SERVERS for database in DATABASES]
ID = {place: number for number, place in enumerate(PLACES, 1)}
"""Id of the statement, trace and alert of each location, by which a row is identified."""


def seen(audience: str, place: tuple[str, str, str]) -> bool:
    """The meaning of the file, implemented in Python."""
    named = dict(zip(("clusters", "instances", "databases"), place, strict=True))
    return all((named[key] or "(none)") in values for key, values in RESTRICTED[audience].items())


@pytest.fixture(scope="module")
def server(own_server: Server) -> Server:
    return own_server


@pytest.fixture(scope="module")
def restricted(server) -> Iterator[None]:
    server.stop()
    server.settings.access.write_text(yaml.safe_dump(RESTRICTED))
    server.start()
    yield
    server.settings.access.unlink()


VIEWS = {"effective_logging_settings", "log_days", "logging_in_force"}
"""Of COLUMNS: views with the privileges of their definer."""
TODAY = TimeRange(datetime.now(UTC) - timedelta(days=1), datetime.now(UTC))
NOON = f"{datetime.now(UTC) - timedelta(hours=2):%Y-%m-%d %H:%M:%S}"


@pytest.fixture(scope="module")
def seeded(server, restricted) -> ClickHouse:
    """Inserts a row of every location into each table that contains locations."""
    admin = server.user("admin")
    server.migrate()
    for table in COLUMNS.keys() - VIEWS - VIEW_TARGETS:
        columns = admin.rows(
            "SELECT name, type FROM system.columns WHERE database = 'tailrace' AND table = {table:String} "
            "AND default_kind NOT IN ('MATERIALIZED', 'ALIAS')",
            {"table": table},
        )
        types = {column["name"]: column["type"] for column in columns}
        admin.insert(f"tailrace.{table}", [row(place, types) for place in PLACES])
    return admin


def row(place: tuple[str, str, str], types: dict[str, str]) -> dict[str, object]:
    """Returns a row of a table with columns of these types."""
    *_, database = place
    uuid = f"00000000-0000-0000-0000-{ID[place]:012}"
    times = {name: NOON for name, type_ in types.items() if re.match(r"(?!Array).*DateTime", type_)}
    who_and_what = {"actor": "ann", "action": "ack", "reason": "seen", "channel": "mail", "outcome": "begun"}
    names = {"log": f"{database}.log", "kind": "settings", "key": "long_query_time", "change": "added"}
    ids = {**identity(place), "event_id": uuid, "dead_letter_id": uuid}
    values = {**times, **who_and_what, **names, **ids, "attributes": {"value": "1"}}
    if "silence_id" in types:
        values |= {"silence_id": uuid, "action": "begin"}
    if types.get("action", "").startswith("Enum"):
        values |= {"host": "box", "action": "listed"}
    return {name: value for name, value in values.items() if name in types}


def places_shown(clickhouse: ClickHouse, table: str) -> set[tuple]:
    """Returns the rows of a table by their identifying values."""
    columns = ", ".join(map(str, COLUMNS[table]))
    rows = clickhouse.rows(f"SELECT DISTINCT {columns} FROM tailrace.{table}")
    return {tuple(str(value) for value in each.values()) for each in rows}


def places_expected(audience: str, table: str) -> set[tuple]:
    """Returns the same rows for the locations that the audience can see."""
    columns = COLUMNS[table]
    asked = {row_policies.DIMENSIONS[key] for key in RESTRICTED[audience]}
    if columns == ("cluster", "instance") and not asked & set(columns):
        return set()  # rows of whole servers have no database
    by_server = {"cluster", "instance"}.issuperset(columns)
    places = [
        place for place in PLACES if seen(audience, place) or (by_server and seen_server(audience, place))
    ]
    return {tuple(str(identity(place)[column]) for column in columns) for place in places}


def seen_server(audience: str, place: tuple[str, str, str]) -> bool:
    return any(seen(audience, (*place[:2], database)) for database in DATABASES)


def identity(place: tuple[str, str, str]) -> dict[str, object]:
    uuid = f"00000000-0000-0000-0000-{ID[place]:012}"
    named = dict(zip(("cluster", "instance", "database"), place, strict=True))
    number = ID[place]
    return {
        **named,
        "entity": named,
        "query_id": number,
        "TraceId": str(number),
        "trace_id": str(number),
        "alert_id": uuid,
    }


@pytest.mark.parametrize("audience", AUDIENCES)
def test_each_audience_sees_its_rows_of_every_table(seeded, user, audience):
    reader = user(f"reader_{audience}")
    granted = [
        each for each in sorted(COLUMNS) if f"reader_{audience}" in MAY_READ[each] | DEAD_LETTERS[each]
    ]
    for table in granted:
        if audience == "security" and table == "receipts":
            continue  # their databases are not distinguished, see below
        assert places_shown(reader, table) == places_expected(audience, table), table


@pytest.mark.parametrize("role", search.ROLES.values(), ids=list(search.ROLES))
def test_a_search_finds_the_rows_of_the_audience(seeded, user, role):
    asked = search.Request(search.parse("last:2d"), role, datetime.now(UTC))
    found = search.listing(over_http.rows_of(user(role.account)), asked, 100).events
    audience = role.account.removeprefix("reader_")
    places = [(event["log"], event["cluster"], event["instance"], event["database"]) for event in found]
    logs = {"slow", "error"} | ({"audit", "alert"} if audience != "developer" else set())
    assert sorted(places) == sorted(
        (log, *place) for log in logs for place in PLACES if seen(audience, place)
    )


def test_a_suppression_that_covers_other_servers_too_is_hidden(seeded, user):
    for entity in ({}, {"user": "etl"}):
        row = {"silence_id": ID_OF_ALL, "action": "begin", "actor": "ann", "reason": "seen", "entity": entity}
        seeded.insert("tailrace.silences", [{**row, "until": "2099-01-01 00:00:00"}])
    asked = f"SELECT count() FROM tailrace.silences WHERE silence_id = '{ID_OF_ALL}'"
    assert seeded.execute(asked).strip() == "2"
    for audience in ("compliance", "security"):  # security may see rows without a database
        assert user(f"reader_{audience}").execute(asked).strip() == "0", audience


@pytest.mark.parametrize("audience", ["developer", "compliance", "security"])
def test_what_a_projection_could_answer_is_of_the_same_rows(seeded, user, audience):
    rows = user(f"reader_{audience}").rows(
        "SELECT instance, count() AS times FROM tailrace.query_events GROUP BY instance ORDER BY instance"
    )
    expected = Counter(
        instance for cluster, instance, database in PLACES if seen(audience, (cluster, instance, database))
    )
    assert {row["instance"]: row["times"] for row in rows} == expected


def test_who_is_restricted_by_databases_alone_sees_nothing_of_whole_servers(seeded, user):
    for table in ("ledger", "receipts", "server_facts", "server_snapshots"):
        assert user("reader_security").execute(f"SELECT count() FROM tailrace.{table}").strip() == "0", table


@pytest.mark.parametrize("name", ["auditor", "admin", "explain"])
def test_others_see_all(seeded, user, name):
    assert places_shown(user(name), "query_events") == set(map(tuple, PLACES))


def test_views_show_no_more(seeded, user):
    asked = "SELECT DISTINCT instance FROM tailrace.audit_coverage_gaps ORDER BY instance"
    assert [each["instance"] for each in user("reader_compliance").rows(asked)] == ["db-1"]
    assert [each["instance"] for each in seeded.rows(asked)] == ["db-1", "db-2", "db-3"]


def test_every_table_is_decided_on(seeded):
    """A table with rows of servers has conditions; a view has those of its tables."""
    invokers = seeded.rows(
        "SELECT name FROM system.tables WHERE database = 'tailrace' "
        "AND (engine = 'MaterializedView' OR create_table_query LIKE '%SQL SECURITY INVOKER%')"
    )
    decided = COLUMNS.keys() | OF_TAILRACE | {each["name"] for each in invokers}
    tables = {
        each["name"] for each in seeded.rows("SELECT name FROM system.tables WHERE database = 'tailrace'")
    }
    assert decided == tables, (
        "name each table in COLUMNS or OF_TAILRACE of embedded/tailrace/clickhouse/row_policies.py; "
        "a view has SQL SECURITY INVOKER"
    )


def test_a_reader_cannot_leave_its_rows(seeded, user):
    for statement in (
        "SELECT count() FROM tailrace.query_events WHERE 1 OR database = 'billing'",
        "SELECT count() FROM merge('tailrace', '^query_events$')",
        "SELECT countIf(database = 'billing') FROM (SELECT * FROM tailrace.query_events)",
    ):
        try:
            found = user("reader_developer").execute(statement).strip()
        except ClickHouseError as error:
            assert error.code in (ACCESS_DENIED, NO_MERGE_OF_SHARDS), error
        else:
            expected = len(places_expected("developer", "query_events"))
            assert found in ("0", str(expected)), statement


def test_a_class_has_the_patterns_of_databases_that_the_audience_sees(seeded, user):
    """Records that can name any database add none: failed ones, those of general logs and of error logs."""
    common = {"cluster": "shop", "instance": "db-1", "event_time": NOON}
    forged = {**common, "database": "payroll"}
    user("writer").insert(
        "tailrace.audit_events",
        [
            {**forged, "source": "audit", "status": 1049},
            {**forged, "source": "general"},
            {**common, "source": "audit", "database": "shop", "tables_read": ["payroll.salaries"]},
        ],
    )
    user("writer").insert("tailrace.query_events", [{**forged, "source": "slowlog", "error_code": 1049}])
    user("writer").insert("tailrace.error_events", [{**forged, "source": "errorlog", "kind": "aborted"}])
    patterns = ["*.cards", "shop.orders.*", "it?s.people", "billing.*", "payroll.salaries"]
    classes = {"pci": [ClassPattern(each, False, "", "") for each in patterns]}

    def shown(audience: str) -> list[str]:
        its = Reading(Store(user(f"reader_{audience}")), Entity("class", "pci"), TODAY)
        return [row["pattern"] for row in listing.patterns("pci", classes, its.databases).rows]

    assert shown("compliance") == patterns[:4], "of one server"
    assert shown("security") == patterns[:2], "of one database"
    for audience in ("developer", "unmasked"):
        with pytest.raises(ClickHouseError):
            shown(audience)


def test_without_the_file_nobody_is_restricted(tmp_path):
    assert row_policies.load(tmp_path / "access.yaml") == {}
    assert server_config.row_policies("reader_developer", {}) == ""


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("developers: {clusters: [shop]}", "unknown key 'developers'; the nearest known one is 'developer'"),
        (
            "developer: {cluster: [shop]}",
            "developer: unknown key 'cluster'; the nearest known one is 'clusters'",
        ),
        ("developer: {clusters: shop}", "developer: `clusters` must be a list"),
        ("developer: {clusters: []}", "developer: `clusters` must be a list"),
        ("developer: {databases: [7]}", "developer: `databases` must be text"),
        ("developer: {}", "`developer` must be at least one of clusters, instances, databases"),
        ("- developer", "expected keys and values"),
    ],
)
def test_a_mistake_is_reported_with_its_key(tmp_path, written, message):
    file = tmp_path / "access.yaml"
    file.write_text(written)
    with pytest.raises(ConfigurationError) as error:
        row_policies.load(file)
    assert message in str(error.value) and str(file) in str(error.value)
