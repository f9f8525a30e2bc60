"""Calls of parameterized views in queries, replaced by the queries of the views.

ClickHouse 26.7 analyses a parameterized view twice: for its columns, and again when it plans the view. The
queries of pages spend more CPU time on this than on their rows if the range is short. The text of a view is
that of the last migration that creates it, so that it has one source.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from tailrace.config.resources import ROOT

MIGRATIONS = ROOT / "sql" / "migrations"

_VIEW = re.compile(
    r"^CREATE (?:OR REPLACE )?VIEW (?:IF NOT EXISTS )?tailrace\.(\w+) \{on_cluster\}\n"
    r"SQL SECURITY INVOKER AS\n(.*?)(?:\nCOMMENT '(?:[^']|'')*')?\s*\Z",
    re.DOTALL | re.MULTILINE,
)
_PARAMETER = re.compile(r"\{ *(\w+) *: *((?:[^{}']|'[^']*')+?) *\}")
_TERM = r"\w+|'[^']*'|\[[^\]]*\]|\{\{ \w+ \}\}|\{\w+:(?:[^{}']|'[^']*')+\}"
_VALUE = re.compile(rf"(\w+) = ({_TERM})")
_CALL = re.compile(rf"\btailrace\.(\w+)\(\s*({_VALUE.pattern}(?:,\s+{_VALUE.pattern})*)\)")
_ALL_COLUMNS = re.compile(r"\b(\w+)\.\*")
_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)


@dataclass(frozen=True)
class View:
    """A parameterized view with the privileges of its reader."""

    name: str
    query: str
    """Its SELECT, without comments."""

    @property
    def parameters(self) -> frozenset[str]:
        return frozenset(name for name, _ in _PARAMETER.findall(self.query))

    def with_values(self, values: Mapping[str, str]) -> str:
        """Returns the query in parentheses, with SQL expressions as the values of its parameters.

        A table of which it selects all columns (`records.*`) gets another name: ClickHouse would prefer an
        expression of this name in the query around it. Raises ValueError if a parameter has no value, or a
        value no parameter.
        """
        if values.keys() != self.parameters:
            raise ValueError(
                f"{self.name} has the parameters {sorted(self.parameters)}, not {sorted(values)}"
            )
        text = _PARAMETER.sub(lambda found: f"CAST({values[found[1]]} AS {found[2]})", self.query)
        for table in sorted(set(_ALL_COLUMNS.findall(text))):
            text = re.sub(rf"\b{table}\b", f"{self.name}_{table}", text)
        return f"(\n{text}\n)"


@cache
def views() -> Mapping[str, View]:
    """Returns the parameterized views of the migrations by name, each as its last migration creates it."""
    return views_of(path.read_text() for path in sorted(MIGRATIONS.glob("*.sql")))


def views_of(migrations: Iterable[str]) -> Mapping[str, View]:
    """Returns the parameterized views of these texts; the last one of a name counts."""
    found = {
        name: View(name, _COMMENT.sub("", query))
        for text in migrations
        for name, query in _VIEW.findall(text)
    }
    return {name: view for name, view in found.items() if view.parameters}


def with_queries_of_views(sql: str, known: Mapping[str, View] | None = None) -> str:
    """Returns a query with the queries of the parameterized views that it and these views call.

    A value is an identifier, a literal, a parameter (`{from:DateTime('UTC')}`) or a variable of Jinja
    (`{{ first }}`). A call with another value remains, and so does one of an unknown view. Raises ValueError
    for a wrong parameter.
    """
    known = views() if known is None else known

    def query(call: re.Match) -> str:
        view = known.get(call[1])
        if view is None:
            return call[0]
        inner = View(view.name, with_queries_of_views(view.query, known))
        return inner.with_values(dict(_VALUE.findall(call[2])))

    return _CALL.sub(query, sql)
