"""The text of a query for a page: a file of sql/queries by its name, or SQL.

The file may include parts, as the queries of dashboards do: `{%- include "parts/NAME.sql" -%}`. There is no
other Jinja: values are parameters of ClickHouse, `{name:Type}`, and never part of the text.
"""

import re
from functools import cache

from tailrace.dashboards.asset_files import QUERIES, query_text

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_JINJA = ("{%", "{{", "{#")


def text_of(query: str) -> str:
    """Returns the SQL. Raises OSError if no file has this name, ValueError if the file has other Jinja."""
    return _read(query) if _NAME.fullmatch(query) else query


@cache
def _read(name: str) -> str:
    text = query_text(QUERIES / f"{name}.sql")
    if any(sign in text for sign in _JINJA):
        raise ValueError(f"{name}.sql has Jinja besides included parts; a page cannot use it")
    return text
