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
_PARAMETER = re.compile(r"\{ *(\w+) *: *([^{}]+?) *\}")
_CALL = re.compile(r"\btailrace\.(\w+)\(")
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

    A value is any expression, also a parameter (`{from:DateTime('UTC')}`) or a variable of Jinja
    (`{{ first }}`). A call of an unknown view remains. Raises ValueError for a wrong parameter.
    """
    known = views() if known is None else known
    parts, end = [], 0
    for call in _CALL.finditer(sql):
        view = known.get(call[1])
        if view is not None and call.start() >= end:
            inner = View(view.name, with_queries_of_views(view.query, known))
            values, after = _values(sql, call.end())
            parts += [sql[end : call.start()], inner.with_values(values)]
            end = after
    return "".join([*parts, sql[end:]])


def _values(sql: str, start: int) -> tuple[dict[str, str], int]:
    """Returns the values of a call by parameter, and the index after its parenthesis. `start` is that of the
    first value."""
    depth, is_quoted, begin, values = 0, False, start, {}
    for at, character in enumerate(sql[start:], start):
        if character == "'":
            is_quoted = not is_quoted
        elif is_quoted:
            continue
        elif character in "([{":
            depth += 1
        elif depth and character in ")]}":
            depth -= 1
        elif not depth and character in ",)":
            name, _, value = sql[begin:at].partition("=")
            values[name.strip()] = value.strip()
            begin = at + 1
            if character == ")":
                return values, begin
    raise ValueError(f"a parenthesis is not closed: {sql[start : start + 80]}")
