"""The canonical form of rows and the digest of a minute."""

import random
from decimal import Decimal

import pytest

from tailrace_verify import merkle, rows

LINE = (
    rb'{"a":"x\"y\\z\/\b\f\n\r\t\u0001\u001F/","b":"18446744073709551615","c":[1,2.50,1e-7,-0],'
    rb'"d":null,"e":true,"f":{"z":1,"a":"\u2028"}}'
).replace(rb"\/", b"/")


def test_a_parsed_row_is_the_line_again():
    assert rows.canonical(rows.load(LINE)) == LINE
    bad = b'{"sql":"\xff\xfe caf\xc3\xa9"}'
    assert rows.canonical(rows.load(bad)) == bad


def test_python_values():
    row = {"b": 1, "a": Decimal("2.50"), "c": None, "e": False, "d": ["x", 2.0]}
    assert rows.canonical(row) == b'{"a":"2.5","b":1,"c":null,"d":["x",2],"e":false}'


@pytest.mark.parametrize("row", [b"[]", b"{", b"1", b"\xff"])
def test_no_rows(row):
    with pytest.raises(rows.RowError):
        rows.load(row)


def test_a_value_without_a_form():
    with pytest.raises(rows.RowError, match="type bytes"):
        rows.canonical({"a": b"x"})


def test_the_order_of_rows_does_not_matter():
    lines = [b'{"a":%d}' % number for number in range(50)]
    shuffled = random.Random(1).sample(lines, len(lines))
    assert rows.minute_root(lines) == rows.minute_root(shuffled)
    assert rows.minute_root(lines) == merkle.root(sorted(merkle.leaf_hash(line) for line in lines))
    assert rows.minute_root(rows.load(line) for line in lines) == rows.minute_root(lines)
    assert rows.minute_root([*lines, lines[0]]) != rows.minute_root(lines)
    assert rows.minute_root([]) == merkle.EMPTY


def test_the_query_takes_names_only():
    assert rows.query("t", ["b", "a"], "1") == "SELECT `a`, `b` FROM t WHERE 1 FORMAT JSONEachRow"
    with pytest.raises(rows.RowError):
        rows.query("t", ["a`, secret"], "1")
