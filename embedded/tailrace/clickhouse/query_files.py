"""The files of sql/queries.

A file may include others: `{%- include "parts/NAME.sql" -%}`. The compiler of dashboards leaves other Jinja
to Superset. All other readers render it without any variable: values are parameters of ClickHouse,
`{name:Type}`, and never part of the text.
"""

import re
from functools import cache
from pathlib import Path

import jinja2

from tailrace.clickhouse.view_calls import with_queries_of_views
from tailrace.config.resources import ROOT

QUERIES = ROOT / "sql" / "queries"

EXACT_SECONDS = 2 * 86_400
"""The longest range for which queries with `exact` read single events; they read longer ones from rollups."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_EXACT = " exact"
_INCLUDE = re.compile(r"""^\{%- include "((?:parts/)?[a-z_]+)\.sql" -%\}\n""", re.MULTILINE)
_JINJA = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)


def query_text(file: Path) -> str:
    """Returns a query with the files that it includes: Superset's Jinja cannot load files.

    An included file is a shared fragment in parts/ or another query: evidence and dashboards use the same
    queries. The queries of parameterized views replace their calls."""
    return with_queries_of_views(with_included_queries(file.read_text(), file.parent))


def with_included_queries(text: str, queries: Path) -> str:
    def part(found: re.Match) -> str:
        return with_included_queries((queries / f"{found[1]}.sql").read_text(), queries)

    return _INCLUDE.sub(part, text)


def text_of(query: str) -> str:
    """Returns the SQL of a query, by the name of its file or by of_range; other text is SQL already.

    Raises OSError if no file has this name, UndefinedError if the file has a variable without a default.
    """
    name = query.removesuffix(_EXACT)
    return _read(name, name != query) if _NAME.fullmatch(name) else query


def of_range(query: str, seconds: float) -> str:
    """Returns the name of a query for text_of, without the parts that a range of so many seconds does not
    read: ClickHouse takes longer to analyse them than to read the rows of a short range. The file has the
    variable `exact`, which is false by default: then it has all parts, for any range."""
    return query if of_hours(seconds) else query + _EXACT


def of_hours(seconds: float) -> bool:
    """Returns whether queries with `exact` read a range of so many seconds from rollups of hours and days."""
    return int(seconds) > EXACT_SECONDS


@cache
def _read(name: str, exact: bool) -> str:
    given = {"exact": True} if exact else {}
    return _JINJA.from_string(query_text(QUERIES / f"{name}.sql")).render(given)
