"""The fields as tables: for `tailrace search --fields`, and as Markdown for docs/SEARCH.md."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tailrace.search.fields import FIELDS, LOGS, PIPES, TIMES, Field
from tailrace.search.sources import ROLES, SOURCES, Source

BEGIN, END = "<!-- fields: begin -->", "<!-- fields: end -->"
"""Around the generated part of docs/SEARCH.md; `make cli-reference` writes it."""


def fields() -> list[dict[str, Any]]:
    """Returns the fields with their names, types, logs, roles, possible values, and columns by table."""
    return [
        {
            "field": each.name,
            "other_names": list(each.other_names),
            "type": each.type.name,
            "description": each.description,
            "logs": list(logs(each)),
            "roles": list(roles(each)),
            "values": dict(each.values),
            "columns": dict(columns(each)),
        }
        for each in FIELDS
    ]


def logs(its: Field) -> Iterator[str]:
    """Returns the logs, of LOGS, whose events have the field."""
    return (log for log in LOGS if any(its.name in source.columns for source in _sources(log)))


def roles(its: Field) -> Iterator[str]:
    """Returns the roles that read a table with the field."""
    having = [source for source in SOURCES if its.name in source.columns]
    for role in ROLES.values():
        if any(source.rights(its.name) <= role.tables for source in having):
            yield role.name


def columns(its: Field) -> Iterator[tuple[str, str]]:
    """Returns the expression of the field by table."""
    for source in SOURCES:
        if column := source.columns.get(its.name):
            yield column.of_table or source.table, column.sql.replace("e.", "")


def _sources(log: str) -> list[Source]:
    return [source for source in SOURCES if log in (source.columns["log"].values or ())]


def markdown() -> str:
    """Returns the tables of docs/SEARCH.md, between BEGIN and END."""
    lines = [BEGIN, *_table(("field", "type", "meaning", "logs", "roles"), map(_line, FIELDS)), ""]
    for each in FIELDS:
        if each.values:
            rows = ((f"`{value}`", meaning) for value, meaning in each.values.items())
            lines += [*_table((f"`{each.name}:`", "meaning"), rows), ""]
    words = ((f"`{name}:`", _cell(meaning)) for name, meaning in TIMES.items())
    lines += [*_table(("time", "meaning"), words), ""]
    pipes = ((f"`{name}`", _cell(meaning)) for name, meaning in PIPES.items())
    return "\n".join([*lines, *_table(("pipe", "meaning"), pipes), END])


def _line(its: Field) -> Sequence[str]:
    names = " ".join(f"`{name}`" for name in (its.name, *its.other_names))
    who = list(roles(its))
    shown = "all" if len(who) == len(ROLES) else ", ".join(who)
    return names, its.type.name, its.description, ", ".join(logs(its)), shown


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _table(header: Sequence[str], rows: Any) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def written(page: str) -> str:
    """Returns docs/SEARCH.md with the current tables. Raises ValueError if it has no place for them."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page has no {BEGIN} with an {END}")
    return f"{before}{markdown()}{after}"


def main() -> None:
    """Writes the tables into docs/SEARCH.md, whose path is the argument."""
    page = Path(sys.argv[1])
    page.write_text(written(page.read_text()))


if __name__ == "__main__":
    main()
