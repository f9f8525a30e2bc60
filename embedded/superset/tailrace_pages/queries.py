"""The text of a query for a page: a file of sql/queries by its name, or SQL.

The file may include parts, as the queries of dashboards do: `{%- include "parts/NAME.sql" -%}`. Nothing else
of Jinja is replaced: values are parameters of ClickHouse, `{name:Type}`, and never part of the text.
"""

import re
from functools import cache

import jinja2

from tailrace.config.resources import ROOT

DIRECTORY = ROOT / "sql" / "queries"

_NAME = re.compile(r"[a-z][a-z0-9_]*")


def text_of(query: str) -> str:
    """Returns the SQL. Raises OSError if no file has this name."""
    return _read(query) if _NAME.fullmatch(query) else query


@cache
def _read(name: str) -> str:
    text = (DIRECTORY / f"{name}.sql").read_text()
    if "{%" not in text:
        return text
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(DIRECTORY), undefined=jinja2.StrictUndefined, autoescape=False
    )
    return environment.get_template(f"{name}.sql").render()
