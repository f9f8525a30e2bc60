"""Tests which statements of datasets are one for the check that a dataset only reads."""

import importlib.util

import pytest

from tailrace.config.resources import REPOSITORY

_SPEC = importlib.util.spec_from_file_location(
    "tailrace_superset_patches", REPOSITORY / "embedded" / "superset" / "tailrace_superset_patches.py"
)
patches = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(patches)


@pytest.mark.parametrize(
    "value", ["", "db-1", "; DROP TABLE x", "it''s", "it\\'s", "\\\\", "-- x", "#", "$$", "/*", '"', "\n"]
)
def test_only_the_text_of_a_string_is_left_out(value):
    statement = "SELECT \"a'b\", `c'd` -- it's\nFROM t WHERE x IN ('{}', 'y') AND n = 7"
    assert patches.without_literals(statement.format(value)) == statement.format("").replace("'y'", "''")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT 'a' AS x", "SELECT 'a'; DROP TABLE x --' AS x"),
        ("SELECT 'a'", "SELECT 'a''; DROP TABLE x --"),
        ("SELECT 'a'", "SELECT 'a\\'; DROP TABLE x --"),
        ("SELECT 1 # it's\n, 'a'", "SELECT 1 # it's\n; DROP TABLE x --'a'"),
        ("SELECT 1 /* it's */, 'a'", "SELECT 1 /* it's */; DROP TABLE x --'a'"),
        ("SELECT $$it's$$, 'a'", "SELECT $$it's$$; DROP TABLE x --'a'"),
        ("SELECT 1 -- it's\r, 'a'", "SELECT 1 -- it's\r; DROP TABLE x --'a'"),
        ("SELECT 1 AS `a` FROM t WHERE x = 'y'", "SELECT 1 AS `b` FROM t WHERE x = 'y'"),
    ],
)
def test_statements_that_differ_outside_of_strings_are_two(one, other):
    assert patches.without_literals(one) != patches.without_literals(other)
