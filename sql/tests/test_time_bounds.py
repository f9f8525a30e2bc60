"""Tests that no query compares a DateTime64 column with a DateTime (sql/README.md, *Bounds of times*)."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from compared_rows import NOW, parameters_of, queries

from tailrace.clickhouse.client import ClickHouse
from tailrace.dashboards import asset_files

RANGE = ((NOW - timedelta(days=1)).isoformat(), (NOW + timedelta(minutes=1)).isoformat())
COMPARISON = re.compile(
    r"^( *)FUNCTION id: \d+.* function_name: (?:less|greater), .*\n.*\n.*\n", re.MULTILINE
)
COLUMN = re.compile(r"COLUMN id: \d+, .*column_name: (\w+), result_type: (?:Nullable\()?DateTime64\(")
BOUND = re.compile(r"CONSTANT id: \d+, .*constant_value_type: (?:Nullable\()?DateTime\b(?!64)")
SELECTED = re.compile(r"PROJECTION COLUMNS\n((?: +\w+ \w.*\n)+)")


def mixed(tree: str) -> Iterator[str]:
    """Yields the columns that a query compares with `<` or `>` and a DateTime, from EXPLAIN QUERY TREE."""
    for found in COMPARISON.finditer(tree):
        indent = " " * (len(found[1]) + 6)
        arguments = re.match(rf"(?:{indent}.*\n)+", tree[found.end() :] + "\n")[0]
        sides = re.findall(rf"^{indent}(\S.*)$", arguments, re.MULTILINE)
        columns = [column for side in sides if (column := COLUMN.match(side))]
        if columns and any(map(BOUND.match, sides)):
            yield columns[0][1]


def test_a_comparison_with_a_datetime_is_found(admin):
    asked = (
        "SELECT count() FROM (SELECT event_time AS at FROM tailrace.query_events) "
        "WHERE at < {bound} AND at >= {bound} AND toDateTime(at) < {bound}"
    )
    for bound, found in (("now()", ["at"]), ("toDateTime64(now(), 6)", [])):
        assert list(mixed(tree_of(admin, asked.format(bound=bound), {}))) == found


def test_no_query_compares_a_datetime64_with_a_datetime(admin, rendered):
    times = times_of_datasets()
    failures = []
    for name in queries():
        text = rendered(name, *RANGE)
        tree = tree_of(admin, text, parameters_of(name, text))
        failures += [f"{name}: {column}" for column in mixed(tree)]
        types = dict(each.strip().split(" ", 1) for each in SELECTED.search(tree)[1].splitlines())
        failures += [
            f"{name}: Superset compares {time} with a DateTime; select identity(…) AS {time}"
            for time in times.get(name, ())
            if "DateTime64(" in types[time] and not re.search(rf"identity\([\w.]+\) AS {time}\b", text)
        ]
    assert failures == []


def times_of_datasets() -> dict[str, set[str]]:
    """Returns the columns that Superset compares with the time range of a dashboard, by query."""
    found: dict[str, set[str]] = {}
    for each in asset_files.load():
        if each.kind == "datasets" and each.content.get("main_dttm_col"):
            found.setdefault(Path(each.content["sql"]).stem, set()).add(each.content["main_dttm_col"])
    return found


def tree_of(admin: ClickHouse, text: str, parameters: dict[str, object]) -> str:
    """Returns a query with the type of each expression; one pass, because the others only rewrite it."""
    return admin.execute(f"EXPLAIN QUERY TREE passes = 1 {text} FORMAT TSVRaw", parameters)
