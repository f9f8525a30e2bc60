"""The text of a query by name: a file of sql/queries, or SQL.

The file may include parts, as the queries of dashboards do: `{%- include "parts/NAME.sql" -%}`. Other Jinja
of a part is rendered without any variable: values are parameters of ClickHouse, `{name:Type}`, and never part
of the text.
"""

import re
from functools import cache

import jinja2

from tailrace.dashboards.asset_files import QUERIES, query_text

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_JINJA = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)


def text_of(query: str) -> str:
    """Returns the SQL. Raises OSError if no file has this name, UndefinedError if the file has a variable."""
    return _read(query) if _NAME.fullmatch(query) else query


@cache
def _read(name: str) -> str:
    return _JINJA.from_string(query_text(QUERIES / f"{name}.sql")).render()
