"""Tests embedded/superset/tailrace_table_search.py: the conversion of a table's search."""

import importlib.util

import pytest

from tailrace.config.resources import REPOSITORY

_SPEC = importlib.util.spec_from_file_location(
    "tailrace_table_search", REPOSITORY / "embedded" / "superset" / "tailrace_table_search.py"
)
search = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(search)

ILIKE = {"op": "ILIKE", "col": "user"}


def widened(value, form=None, **its) -> object:
    asked = {
        "form_data": {"server_pagination": True} if form is None else form,
        "queries": [{"filters": [{**ILIKE, "val": value, **its}]}],
    }
    search.widen(asked)
    return asked["queries"][0]["filters"][0]["val"]


@pytest.mark.parametrize(
    ("typed", "pattern"),
    [
        ("ap", "%ap%"),
        ("100%", "%100\\%%%"),
        ("%", "%\\%%%"),
        ("a_b", "%a\\_b%"),
        ("c:\\x", "%c:\\\\x%"),
        ("o'brien", "%o'brien%"),
    ],
)
def test_a_search_is_for_the_text_anywhere(typed, pattern):
    assert widened(f"{typed}%") == pattern


def test_other_patterns_stay_unchanged():
    assert widened("%ap%", form={"viz_type": "filter_select"}) == "%ap%", "of a filter"
    assert widened(["ap%"], op="IN") == ["ap%"]
    assert widened("ap%", form={}) == "ap%", "of a chart whose pages the browser turns"
    own = {"server_pagination": True, "adhoc_filters": [{"subject": "user", "comparator": "ap%"}]}
    assert widened("ap%", form=own) == "ap%", "of a chart's own"
    for odd in (None, [], {"form_data": {"server_pagination": True}}, {"queries": None}):
        search.widen(odd)
