"""Which statements may be explained, and the reasons why others may not."""

import json
from pathlib import Path

import pytest

from tailrace_capture.explain.samples import Sample, SamplesError, from_file
from tailrace_capture.explain.statement import refusal

CONTRACTS = Path(__file__).resolve().parents[3] / "schemas" / "contracts"


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1",
        "select * from orders where id = 5;",
        "  -- a comment\n SELECT /* another */ count(*) FROM t # end",
        "(SELECT a FROM t) UNION ALL (SELECT b FROM u ORDER BY 1 LIMIT 3)",
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT * FROM n",
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT * FROM t",
        "WITH `t` (n) AS (SELECT 1) SELECT * FROM t",
        "SELECT * FROM t WHERE a IN (1, 2) AND NOT EXISTS (SELECT 1 FROM u WHERE u.id = t.id)",
        "SELECT /*+ NO_INDEX_MERGE(t) */ REPLACE(name, 'a', 'b'), INSERT(a, 1, 2, 'x') FROM `t`",
        "SELECT 'it''s; DROP TABLE t' AS \"INTO\", @@version, x'4d', 0x4d FROM t AS `update`",
        "SELECT t.update_time, t.`delete`, sum(t.a) OVER (PARTITION BY b) FROM shop.t",
        "SELECT * FROM t FORCE INDEX (a) JOIN u USING (id) WHERE MATCH (t.x) AGAINST ('y')",
        "SELECT 'ü', größe FROM straße",
        "SELECT t.lock FROM t",
        "SELECT 'a\\'; DROP TABLE t -- '",
    ],
)
def test_explains_what_only_reads(statement):
    assert refusal(statement) == ""


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("", "begins with nothing"),
        ("UPDATE t SET a = 1", "begins with UPDATE"),
        ("EXPLAIN ANALYZE SELECT 1", "begins with EXPLAIN"),
        ("SELECT 1; DROP TABLE t", "more than one statement"),
        ("SELECT 1; -- ok\n DROP TABLE t", "more than one statement"),
        ("WITH x AS (SELECT 1) DELETE FROM t", "holds DELETE"),
        ("SELECT * FROM t INTO OUTFILE '/tmp/x'", "holds INTO"),
        ("SELECT a INTO @x FROM t", "holds INTO"),
        ("SELECT * FROM t FOR UPDATE", "holds UPDATE"),
        ("SELECT * FROM t LOCK IN SHARE MODE", "holds LOCK"),
        ("SELECT * FROM t FOR SHARE", "holds SHARE"),
        ("SELECT @a := 1", "assigns a variable"),
        ("SELECT 1 /*! INTO OUTFILE '/tmp/x' */", "comment that servers execute"),
        ("SELECT 1 /*!50000 + f() */", "comment that servers execute"),
        ("SELECT 1 /*M!100000 + f() */", "comment that servers execute"),
        ("SELECT my_function(1)", "calls MY_FUNCTION"),
        ("SELECT shop.my_function (1)", "calls MY_FUNCTION"),
        ("SELECT shop.count(1)", "calls COUNT"),
        ("SELECT `my_function`(1)", "calls `my_function`"),
        ('SELECT "my_function"(1)', 'calls "my_function"'),
        ("SELECT my_function/* */(1)", "calls MY_FUNCTION"),
        ("SELECT sleep(10)", "calls SLEEP"),
        ("SELECT benchmark(1e9, md5('x'))", "calls BENCHMARK"),
        ("SELECT get_lock('x', 10)", "calls GET_LOCK"),
        ("SELECT load_file('/etc/passwd')", "calls LOAD_FILE"),
        ("WITH t(n) AS (SELECT leak(1)) SELECT n FROM t", "calls LEAK"),
        ("SELECT a FROM t GROUP BY a WITH ROLLUP HAVING leak(a)", "calls LEAK"),
        ("SELECT NEXT VALUE FOR s", "holds NEXT"),
        ("SELECT nextval(s)", "holds NEXTVAL"),
        ("SELECT * FROM t WHERE a = 'cut off", "cut off"),
        ("SELECT * FROM t WHERE a IN (1, 2", "parentheses"),
        ("SELECT 1) UNION (SELECT 2", "parentheses"),
        ("SELECT 1" + " " * 1_000_000, "longer than"),
    ],
)
def test_refuses_what_might_do_more(statement, why):
    assert why in refusal(statement)


def test_an_open_comment_is_refused_by_its_signs_or_the_server():
    """The text after /* is read as words: nothing of it can be hidden."""
    assert refusal("SELECT 1 /* open; DROP TABLE t") == "holds more than one statement"


def test_samples_of_a_file(tmp_path):
    file = tmp_path / "samples.jsonl"
    rows = [
        {"query_id": f"{number:016x}", "database": "shop", "statement": "SELECT 1"} for number in range(12)
    ]
    file.write_text("\n".join(map(json.dumps, rows)) + "\n")

    assert from_file(file)("any", 11, {})[-1] == Sample("000000000000000A", "shop", "SELECT 1")
    file.write_text('{"query_id": "5", "statement": "SELECT 1"}')
    with pytest.raises(SamplesError, match="16 hexadecimal digits"):
        from_file(file)("any", 1, {})


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1evil(2)",
        "SELECT shop.1evil(2)",
        "SELECT 0x1evil(1)",
        "SELECT \u2003ABS(1)",
        "SELECT 1 --\u00a0, sleep(9)\n FROM (SELECT 1 `\u00a0`) t",
        "SELECT 1.0INTO @a",
    ],
)
def test_statements_that_servers_parse_differently_are_not_explained(statement):
    assert refusal(statement)


@pytest.mark.parametrize(
    "statement", ["SELECT 1.5e3, .5, 0x1F, 0b01 FROM t WHERE a = 1", "SELECT a.b FROM t a"]
)
def test_numbers_are_no_names(statement):
    assert refusal(statement) == ""


@pytest.mark.parametrize("case", json.loads((CONTRACTS / "open_literal.json").read_text()))
def test_open_literals(case):
    assert (refusal(case["text"]) == "cut off in the middle of a string") == case["is_open"]
