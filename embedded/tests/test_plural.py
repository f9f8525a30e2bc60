"""Numbers with their nouns in messages of commands, pages and the verifier."""

import pytest

import tailrace.plural
import tailrace_verify.plural
from tailrace import console


@pytest.mark.parametrize("counted", [tailrace.plural.counted, tailrace_verify.plural.counted])
def test_the_noun_agrees_with_the_number(counted):
    written = [counted(number, "row") for number in (0, 1, 2, 1234)]
    assert written == ["0 rows", "1 row", "2 rows", "1,234 rows"]
    assert counted(1, "entry", "entries") == "1 entry"
    assert counted(2, "row was", "rows were") == "2 rows were"


def test_a_list_is_counted_with_its_noun():
    assert console.number(["a"], "open gap") == "1 open gap"
    assert console.number([], "open gap") == "0 open gaps"
