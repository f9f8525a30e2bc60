"""Tests the queries that find statements: by id, text, table and digest, and the nearest ones."""

import pytest
from query_page_rows import IT, OTHER, START, TEXT, asking, execution, fingerprint, insert_statements


@pytest.fixture
def ask(admin, user):
    """Asks with the rows of insert_statements (FIRST_ROWS)."""
    return asking(user)


FIRST_ROWS = {"ask": insert_statements}


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"prefix": "FFFF0000"}, [(IT, "id")]),
        ({"number": IT}, [(IT, "id")]),
        ({"text": "FROM `ORD"}, [(IT, "text")]),
        ({"tables": ["orders"]}, [(IT, "table")]),
        ({"tables": ["shop.orders"]}, [(IT, "table")]),
        ({"tables": ["log"]}, [(OTHER, "table")]),
        ({"tables": ["sbtest?"]}, [(OTHER, "table")]),
        ({"text": "select"}, [(OTHER, "text"), (IT, "text")]),
        ({}, []),
        ({"text": "100%"}, []),
    ],
)
def test_search_finds_by_id_table_and_text(ask, asked, found):
    nothing = {"prefix": "", "number": 0, "text": "", "tables": []}
    assert [(row["id"], row["found_by"]) for row in ask("search", **nothing | asked)] == found


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ([TEXT], [IT]),
        (["SELECT id from orders where id=?"], [IT]),
        (["select id", "select c?from`sbtest?`"], [OTHER]),
        (["select id from `orders` where id = ? limit ?"], []),
        ([], []),
    ],
)
def test_similar_statements_differ_in_spaces_quotes_and_case_only(ask, texts, found):
    assert [row["id"] for row in ask("similar", fingerprints=texts)] == found


def test_the_nearest_statements_have_the_same_tables_and_verb_or_share_a_table(ask, stored):
    orders = {"tables_read": ["orders", "lines"]}
    stored(
        "fingerprints",
        fingerprint(11, "select a, b, c from orders join lines using(id) where d = ?", **orders),
        fingerprint(12, "select e from orders join lines using(id)", **orders),
        fingerprint(13, "select a, b from orders join lines", tables_read=["`crm`.Orders", "lines"]),
        fingerprint(14, "delete orders from orders join lines", verb="DELETE", **orders),
        fingerprint(15, "select a from orders, lines, users", tables_read=["orders", "lines", "users"]),
        fingerprint(16, "select a from users", tables_read=["users"]),
    )
    asked = "select c, b, a from shop.orders join lines using(id) where d = ? and f = ?"

    found = ask("nearest", verb="SELECT", tables=["shop.orders", "lines"], text=asked)

    assert [row["id"] for row in found if row["kind"] == "nearest"] == [11, 12], "the most alike first"
    assert {row["id"] for row in found if row["kind"] == "sharing"} == {IT, 13, 14, 15}
    assert found[0]["alike"] == pytest.approx(12 / 15), "all words but the database, `and` and the new column"
    assert ask("nearest", verb="SELECT", tables=["sbtest?"], text="select ?")[0]["kind"] == "sharing"
    assert ask("nearest", verb="SELECT", tables=[], text="select ?") == []


def test_a_digest_finds_its_statement(ask, stored):
    stored("query_events", execution(START, 1, attributes={"Query_digest": "ABCD"}))
    assert [row["id"] for row in ask("digest", digest="abcd")] == [IT]
    assert ask("digest", digest="abce") == []
