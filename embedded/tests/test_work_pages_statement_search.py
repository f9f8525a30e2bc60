"""Tests the search of statements without Superset: search texts, pasted statements, formatting."""

from datetime import UTC, datetime

import pytest
from golden_fingerprints import rules

from tailrace.fingerprint.client import Fingerprint
from tailrace_pages.statements import formatting, listing, searching
from tailrace_pages.statements.fingerprinting import Pasted
from tailrace_pages.time_range import TimeRange


@pytest.mark.parametrize(
    "text",
    [
        "select 1",
        "  (SELECT a\nFROM t WHERE id = 'x') ",
        "/* of an application */ -- a comment\n--\n# another\n SELECT a FROM t",
        "/*!50017 CREATE */ TRIGGER t",
        "administrator command: Quit",
        "call p(1)",
    ],
)
def test_a_statement_is_searched_as_nothing_else(text):
    meaning = searching.meaning_of(text)
    assert meaning == searching.Meaning(text.strip(), is_statement=True)


@pytest.mark.parametrize(
    "text",
    ["select", "selected words", "orders", "from t where", "/* select 1", "-- select 1", "", "(" * 20_000],
)
def test_words_are_no_statement(text):
    assert not searching.meaning_of(text).is_statement


def test_any_text_is_recognized_in_linear_time():
    """Nested quantifiers without atomic groups would need longer than the test may take."""
    for text in ("/**/" * 25_000, "/*" * 50_000, "-- \n" * 25_000 + "-", "(#\n" * 30_000, " " * 100_000):
        assert not searching.meaning_of(text + "x").is_statement


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ffff000000000001", {"prefix": "FFFF000000000001", "whole_id": 0xFFFF_0000_0000_0001}),
        ("0xFFFF0000", {"prefix": "FFFF0000", "whole_id": None}),
        ("1A2B3C4D…", {"prefix": "1A2B3C4D"}),
        ("18446462598732840961", {"number": 0xFFFF_0000_0000_0001, "prefix": ""}),
        ("99999999999999999999", {"number": 0}),
        ("9" * 5000, {"number": 0}),
        ("AB" * 32, {"digest": "ab" * 32, "prefix": ""}),
        ("`Shop`.Orders_2024", {"tables": ["shop.orders_2024", "shop.orders_?"], "prefix": ""}),
        ("feed", {"prefix": "FEED", "tables": ["feed"], "text": "feed"}),
        ("where id =", {"tables": [], "prefix": "", "text": "where id ="}),
    ],
)
def test_a_search_text_can_mean_several_things(text, expected):
    meaning = searching.meaning_of(text)
    assert not meaning.is_statement
    assert {name: getattr(meaning, name) for name in expected} == expected


def test_a_pasted_statement_has_the_ids_of_both_rule_sets_and_those_that_resemble_it():
    asked = []

    def rows(query, **parameters):
        asked.append((query, parameters))
        return [{"id": 1, "query": "use shop"}, {"id": 3, "query": "use `shop`"}]

    pasted = Pasted(Fingerprint(1, 2, "use shop"), ("use shop",))
    groups = searching.found_pasted(rows, pasted)
    assert {name: [row["id"] for row in found] for name, found in groups.items()} == {
        "statement": [1, 3],
        "similar": [3],
    }
    assert asked == [
        ("page_query_similar", {"fingerprints": ["use shop"]}),
        ("page_query_texts", {"query_ids": [1, 2]}),
    ]


def test_the_beginning_of_a_statement_finds_those_that_contain_it():
    def rows(query, **parameters):
        contains = query == "page_query_search" and parameters["text"] == "select a, b from"
        return [{"id": 5, "query": "select a, b from t", "found_by": "text"}] if contains else []

    pasted = Pasted(Fingerprint(1, 2, "select a, b from "), ("select a, b from ",))
    groups = searching.found_pasted(rows, pasted)
    assert {name: [row["id"] for row in found] for name, found in groups.items()} == {"text": [5]}


def test_a_statement_that_is_not_stored_finds_the_nearest_ones_by_its_tables():
    asked = []

    def rows(query, **parameters):
        asked.append((query, parameters))
        if query == "page_query_search":
            return [{"id": 5, "query": "select b, a from t where c = ? limit ?", "found_by": "text"}]
        if query == "page_query_nearest":
            kinds = {5: "nearest", 6: "nearest", 7: "sharing"}
            return [{"id": number, "query": "", "kind": kind} for number, kind in kinds.items()]
        return []

    text = "select b, a from t where c = ?"
    its = Fingerprint(1, 1, text, "SELECT", ("t", "`U`"), ("t",))
    groups = searching.found_pasted(rows, Pasted(its, (text,)))
    assert {name: [row["id"] for row in found] for name, found in groups.items()} == {
        "text": [5],
        "nearest": [6],
        "sharing": [7],
    }
    assert asked[-1] == ("page_query_nearest", {"verb": "SELECT", "tables": ["t", "u"], "text": text})
    assert searching.not_stored(groups) == "No query with exactly this text."
    assert "none with the same tables" in searching.not_stored({"sharing": [1]})
    assert searching.not_stored({"statement": [1]}) == ""


def test_found_statements_are_listed_by_their_total_time():
    totals = [
        {
            "id": number,
            "total_seconds": seconds,
            "all_seconds": 10.0,
            "executions": 1,
            "last_seen": None,
            "statements": 2,
        }
        for number, seconds in ((1, 2.0), (3, 8.0))
    ]
    span = TimeRange(datetime(2026, 11, 24, tzinfo=UTC), datetime(2026, 11, 25, tzinfo=UTC))
    found = [{"id": number, "query": "select 1", "last_seen": None} for number in (1, 2, 3)]
    listed = listing.measured(
        lambda query, **_: totals if query.startswith("page_query_list") else [], found, span, {}
    )
    assert [int(row["query_id"], 16) for row in listed] == [3, 1, 2]
    kept = listing.measured(
        lambda query, **_: totals if query.startswith("page_query_list") else [], found, span, {}, True
    )
    assert [int(row["query_id"], 16) for row in kept] == [1, 2, 3], "the order of likeness"


def test_a_statement_without_a_fingerprint_finds_nothing():
    assert searching.found_pasted(lambda query, **_: [{"id": 1}], Pasted(problem="It does not answer.")) == {}


@pytest.mark.parametrize(
    ("fingerprint", "lines"),
    [
        (
            "select a from t left join u on t.id = u.id and u.x = ? where a between ? and ? or b in(?+)",
            "select a|from t|left join u on t.id = u.id|  and u.x = ?|where a between ? and ?|  or b in(?+)",
        ),
        (
            "select a from t where exists (select ? from u where u.id = t.id and left(u.x, ?) = ?) limit ?",
            "select a|from t|where exists (|  select ?|  from u|  where u.id = t.id"
            "|    and left(u.x, ?) = ?|)|limit ?",
        ),
        ("insert into t (a,b) values(?+)", "insert into t (a,b)|values(?+)"),
        ("update t set a = ? where id = ?", "update t|set a = ?|where id = ?"),
        ("set names utf8mb4", "set names utf8mb4"),
        ("grant select on shop.* to `a`@`%`", "grant select on shop.* to `a`@`%`"),
    ],
)
def test_formatting_breaks_lines_at_clauses(fingerprint, lines):
    assert formatting.formatted(fingerprint).replace("\n", "|") == lines


def test_formatting_changes_white_space_only():
    for *_, fingerprint in rules():
        assert "".join(formatting.formatted(fingerprint).split()) == "".join(fingerprint.split())
