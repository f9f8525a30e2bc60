"""Tests the search of statements without Superset: matching of pasted ones, search texts, formatting."""

from datetime import UTC, datetime, timedelta

import pytest

from tailrace.config.resources import REPOSITORY
from tailrace_pages.statements import formatting, matching, searching
from tailrace_pages.time_range import TimeRange

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
RULES = REPOSITORY / "stream-jobs/query-core/src/test/resources/fingerprint/rules.psv"
NOT_FOUND = {
    "a number after a version comment's mark",
    "mysqldump",
    "Percona's tools",
    "SET PASSWORD",
    "replication",
    "servers",
    "a literal that never ends after others",
    "quotes that do not match",
    "a quoted name that never ends",
    "a name that starts with a digit",
    "passwords after a semicolon",
    "names after passwords",
}
"""Cases of the fingerprinter whose pasted statement is not found: passwords, text after quotes that do not
match, and tools whose statements have one name."""


def rules() -> list[tuple[str, str, str]]:
    """Returns name, statement and fingerprint of the golden cases of the fingerprinter."""
    found = []
    for line in RULES.read_text().splitlines():
        name, rest = line.split("|", 1)
        statement, fingerprint = rest.rsplit("|", 1)
        found.append((name, statement.replace("\\n", "\n"), fingerprint))
    return found


def test_pasted_statements_match_the_fingerprints_of_the_fingerprinter():
    """70 of 82 cases match. Each also has the words by which ClickHouse finds its candidates."""
    missed = set()
    for name, statement, fingerprint in rules():
        pattern = matching.pattern_of(statement)
        if not pattern.matches(fingerprint):
            missed.add(name)
        else:
            assert all(word.lower() in fingerprint.lower() for word in pattern.words()), name
    assert missed == NOT_FOUND
    assert (len(rules()), len(missed)) == (82, 12)


def test_a_fingerprint_matches_itself_and_no_other_one():
    fingerprints = sorted({fingerprint for *_, fingerprint in rules()})
    for pasted in fingerprints:
        assert [each for each in fingerprints if matching.pattern_of(pasted).matches(each)] == [pasted]


@pytest.mark.parametrize(
    ("statement", "fingerprint"),
    [
        ("SELECT a FROM t WHERE id = 1 AND b = 2", "select a from t where id = ?"),
        ("SELECT a FROM t WHERE id = 1", "select a from t where id = ? and b = ?"),
        ("SELECT a FROM t WHERE id = 1", "select a from u where id = ?"),
        ("SELECT a FROM t WHERE id = b", "select a from t where id = ?"),
        ("SELECT a FROM t WHERE id > 1", "select a from t where id >= ?"),
        ("SELECT a FROM t WHERE id IN (1, 2)", "select a from t where id in (select ?)"),
        ("SELECT a FROM t WHERE id IN (SELECT 1)", "select a from t where id in(?+)"),
        ("INSERT INTO t VALUES (1, NOW())", "insert into t values(?+)"),
        ("INSERT INTO t VALUES (1), (2)", "insert into t values(?+) on duplicate key update a=?"),
        ("SELECT a FROM t ORDER BY b DESC", "select a from t order by b"),
        ("SELECT a FROM t LIMIT 10", "select a from t"),
        ("SELECT 1 UNION SELECT 2", "select ? /*repeat union all*/"),
        ("SELECT 1 UNION SELECT 2", "select ?"),
        ("RENAME TABLE child1 TO child2", "rename table child1 to child3"),
        ("GRANT ALL ON *.* TO 'ann'@'%'", "grant all on *.* to `bob`@`%`"),
        ("CALL shop.p1(1)", "call shop.p2"),
        ("SELECT 'a'", "select ?, ?"),
        ("SELECT a-b FROM t", "select a+b from t"),
    ],
)
def test_statements_of_another_class_do_not_match(statement, fingerprint):
    assert not matching.pattern_of(statement).matches(fingerprint)


@pytest.mark.parametrize(
    "statement",
    [
        "select a from `t` where b = :id and c in (:one, :two)",
        "SELECT `a` FROM t WHERE b = %s AND c IN (%s)",
        "SELECT a FROM T WHERE b = $1 AND c IN ($2, $3);",
        "/* of an application */ SELECT a FROM t -- a comment\n WHERE b=-1.5e3 AND c IN(NULL)",
        "select a from t where b = ? and c in(?+)",
    ],
)
def test_placeholders_comments_and_quotes_of_names_do_not_matter(statement):
    assert matching.pattern_of(statement).matches("select a from t where b = ? and c in(?+)")


def test_equal_quotes_come_first():
    rows = [{"query": "select a from `t`"}, {"query": "select a from t"}, {"query": "select b from t"}]
    found = matching.matching(matching.pattern_of("SELECT a FROM t"), rows)
    assert [row["query"] for row in found] == ["select a from t", "select a from `t`"]


def test_a_fingerprint_that_was_cut_is_compared_as_far_as_it_is_stored():
    columns = ", ".join(f"column_{'x' * (number % 7)}" for number in range(3000))
    stored = f"select {columns} from t"[: 16 * 1024]
    assert matching.pattern_of(f"SELECT {columns} FROM t WHERE a = 1").matches(stored)
    assert not matching.pattern_of("SELECT a FROM t").matches(stored)


@pytest.mark.parametrize(
    "text", ["in (" * 5000, "values (" * 2500, "1" * 20_000 + "a", "(" * 20_000, "'\\" * 9000]
)
def test_any_text_can_be_pasted(text):
    pattern = matching.pattern_of("select " + text)
    assert not pattern.matches("select b from t")
    assert len(pattern.words()) <= matching.MOST_WORDS


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
    assert meaning.pattern is None
    assert {name: getattr(meaning, name) for name in expected} == expected


def test_a_statement_is_compared_and_nothing_else():
    meaning = searching.meaning_of("  SELECT a\nFROM t WHERE id = 'x' ")
    assert meaning.pattern
    assert meaning.parameters()["text"] == ""
    asked = []

    def rows(query, **parameters):
        asked.append((query, parameters))
        return [{"id": 1, "query": "select a from t where id = ?"}, {"id": 2, "query": "select a from t"}]

    groups = searching.found(rows, meaning, TimeRange(NOON - HOUR, NOON))
    assert {name: [row["id"] for row in found] for name, found in groups.items()} == {"statement": [1]}
    assert asked == [("page_query_candidates", {"words": ["select", "where", "from", "id"]})]


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
