"""Proposals for a server: columns whose names or samples suggest a class, and what is known already."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from tailrace_capture.classes import values
from tailrace_capture.classes.names import NUMBER, TEXT, Column, kinds_of
from tailrace_capture.classes.patterns import DataClasses
from tailrace_capture.classes.values import Finding
from tailrace_capture.server import Server, ServerError

SYSTEM = ("information_schema", "mysql", "performance_schema", "sys")
COLUMNS = """
    SELECT TABLE_SCHEMA AS `database`, TABLE_NAME AS `table`, COLUMN_NAME AS name, DATA_TYPE AS type
    FROM information_schema.COLUMNS WHERE TABLE_SCHEMA NOT IN (%s, %s, %s, %s)
    ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION"""
NAME, VALUES, BOTH = "name", "values", "name and values"
NEW, COVERED, EXCLUDED = "new", "covered", "excluded"
LONGEST_VALUE = 100
"""Characters: no recognized value is longer."""


@dataclass(frozen=True)
class Proposal:
    """A column that may belong to a class."""

    column: Column
    data_class: str
    kind: str
    basis: str
    """name, values, or name and values."""
    tried: int | None = None
    """Distinct values of the sample; None without a sample."""
    matching: int | None = None
    state: str = NEW
    """new; covered: the class contains the column; excluded: a person excluded it from the class."""


@dataclass(frozen=True)
class Proposals:
    """The proposals, and what could not be examined: an unknown is not clean."""

    found: list[Proposal]
    columns: int
    sampled_tables: int
    refused: dict[str, str]
    """Tables whose sample failed, with the reason."""


def propose(server: Server, known: DataClasses, sample: int, databases: Iterable[str] = ()) -> Proposals:
    """Examines all columns that the account may see. `sample`: rows to read from each table; 0: none.

    Raises ServerError if the columns cannot be read. Servers list only columns for which the account has a
    privilege.
    """
    wanted = {name.lower() for name in databases}
    columns = [column for column in _columns(server) if not wanted or column.database.lower() in wanted]
    found: list[Proposal] = []
    refused: dict[str, str] = {}
    sampled = 0
    for (database, table), group in groupby(columns, key=lambda column: (column.database, column.table)):
        of_table = list(group)
        findings: dict[str, Finding] = {}
        if sample:
            try:
                findings = _sampled(server, of_table, sample)
                sampled += 1
            except ServerError as error:
                refused[f"{database}.{table}"] = str(error)
        for column in of_table:
            found += _of_column(column, findings.get(column.name), known)
    return Proposals(found, len(columns), sampled, refused)


def _columns(server: Server) -> list[Column]:
    return [
        Column(*(str(row[key]) for key in ("database", "table", "name", "type")))
        for row in server.rows(COLUMNS, SYSTEM)
    ]


def _sampled(server: Server, columns: list[Column], rows: int) -> dict[str, Finding]:
    """Returns the findings by column of one table. Raises ServerError."""
    readable = [column for column in columns if column.group in (TEXT, NUMBER)]
    if not readable:
        return {}
    chosen = ", ".join(
        f"LEFT({_quoted(column.name)}, {LONGEST_VALUE}) AS c{number}"
        for number, column in enumerate(readable)
    )
    table = f"{_quoted(columns[0].database)}.{_quoted(columns[0].table)}"
    read = server.rows(f"SELECT {chosen} FROM {table} LIMIT {int(rows)}")
    found = {
        column.name: values.finding(row[f"c{number}"] for row in read)
        for number, column in enumerate(readable)
    }
    return {name: finding for name, finding in found.items() if finding}


def _of_column(column: Column, sampled: Finding | None, known: DataClasses) -> Iterator[Proposal]:
    """Values decide the kind in their class; names may suggest further classes."""
    named = {kind.data_class: kind.name for kind in kinds_of(column)}
    if sampled:
        basis = BOTH if named.pop(sampled.data_class, None) else VALUES
        counts = (sampled.tried, sampled.matching)
        yield _proposal(column, sampled.data_class, sampled.kind, basis, known, *counts)
    for data_class, kind in named.items():
        yield _proposal(column, data_class, kind, NAME, known)


def _proposal(
    column: Column,
    data_class: str,
    kind: str,
    basis: str,
    known: DataClasses,
    tried: int | None = None,
    matching: int | None = None,
) -> Proposal:
    state = NEW
    if known.exclude(data_class, column):
        state = EXCLUDED
    elif known.contain(data_class, column):
        state = COVERED
    return Proposal(column, data_class, kind, basis, tried, matching, state)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
