"""Calls of parameterized views are replaced by the queries of the views."""

import pytest

from tailrace.clickhouse.query_files import QUERIES, query_text
from tailrace.clickhouse.view_calls import views, views_of, with_queries_of_views

LOGINS = """-- A view.
CREATE OR REPLACE VIEW tailrace.logins {on_cluster}
SQL SECURITY INVOKER AS
-- From `begin` on.
SELECT user FROM tailrace.audit_events
WHERE event_time >= { begin: DateTime64(6, 'UTC') } AND kind = {kind:String}
COMMENT 'Logins, of anybody''s account'
"""
KNOWN = views_of([LOGINS])


def test_a_call_becomes_the_query_of_the_view_with_its_values():
    sql = "SELECT count() FROM tailrace.logins(begin = {from:DateTime('UTC')}, kind = 'login') AS attempts"

    assert with_queries_of_views(sql, KNOWN) == (
        "SELECT count() FROM (\n"
        "SELECT user FROM tailrace.audit_events\n"
        "WHERE event_time >= CAST({from:DateTime('UTC')} AS DateTime64(6, 'UTC')) "
        "AND kind = CAST('login' AS String)\n"
        ") AS attempts"
    )


@pytest.mark.parametrize(
    "value",
    ["range_start", "''", "[]", "{{ first }}", "['a', 'b)']", "{to:DateTime64(6, 'UTC')}", "f(now(), 1)"],
)
def test_values_are_inserted_as_they_are(value):
    sql = f"FROM tailrace.logins(begin = {value}, kind = 'login')"

    assert f"CAST({value} AS DateTime64(6, 'UTC'))" in with_queries_of_views(sql, KNOWN)


def test_the_last_migration_counts():
    found = views_of([LOGINS, LOGINS.replace("audit_events", "connections")])

    assert "FROM tailrace.connections" in found["logins"].query


def test_a_view_that_calls_a_view_is_replaced_too():
    outer = LOGINS.replace("tailrace.logins", "tailrace.outer_logins").replace(
        "FROM tailrace.audit_events", "FROM tailrace.logins(begin = {begin:DateTime64(6, 'UTC')}, kind = '')"
    )
    text = with_queries_of_views(
        "FROM tailrace.outer_logins(begin = range_start, kind = '')", views_of([LOGINS, outer])
    )

    assert "tailrace.logins(" not in text and "tailrace.audit_events" in text


def test_a_table_with_all_its_columns_is_not_confused_with_an_expression_of_the_query():
    view = LOGINS.replace(
        "SELECT user FROM tailrace.audit_events\n", "SELECT records.* FROM audit_events AS records\n"
    )
    sql = "SELECT count() AS records FROM tailrace.logins(begin = range_start, kind = '')"
    text = with_queries_of_views(sql, views_of([view]))

    assert "SELECT logins_records.* FROM audit_events AS logins_records\n" in text
    assert text.startswith("SELECT count() AS records FROM (")


def test_a_call_without_its_end_is_an_error():
    with pytest.raises(ValueError, match="is not closed: begin = now"):
        with_queries_of_views("FROM tailrace.logins(begin = now(), kind = ''", KNOWN)


@pytest.mark.parametrize("values", ["begin = range_start", "begin = range_start, kind = '', more = 1"])
def test_a_missing_or_unknown_parameter_is_an_error(values):
    with pytest.raises(ValueError, match=r"logins has the parameters \['begin', 'kind'\]"):
        with_queries_of_views(f"FROM tailrace.logins({values})", KNOWN)


@pytest.mark.parametrize(
    "text",
    [
        LOGINS.replace("SQL SECURITY INVOKER", "SQL SECURITY DEFINER"),
        LOGINS.replace("{ begin: DateTime64(6, 'UTC') }", "now()").replace("{kind:String}", "''"),
    ],
    ids=["of its maker", "without parameters"],
)
def test_other_views_remain(text):
    sql = "SELECT * FROM tailrace.logins(begin = range_start, kind = '')"

    assert with_queries_of_views(sql, views_of([text])) == sql


def test_no_query_of_a_page_calls_a_parameterized_view():
    queries = [query_text(file) for file in sorted(QUERIES.glob("*.sql"))]

    assert len(views()) >= 5
    assert not [text for text in queries for name in views() if f"tailrace.{name}(" in text]


def test_superset_can_read_the_queries_of_views():
    """Its parser (sqlglot 28.10) knows ASOF JOIN and ASOF LEFT JOIN, but not ASOF INNER JOIN."""
    assert not [name for name, view in views().items() if "ASOF INNER JOIN" in view.query]
