"""Advice on a plan as concrete DDL.

Advice is a line `kind · table: text · evidence` (io.tailrace.plan.record.PlanRecords). The DDL comes from the
conditions in the plan, or else from the text of the statement (conditions.py). Neither contains the other
indexes of a table, its write rate or the distribution of values, so the DDL is a proposal to check, and
Tailrace never runs it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tailrace_pages.statements.conditions import Conditions

Row = Mapping[str, Any]

_MISSING = re.compile(r"no index can be used: consider one on \((?P<columns>.+)\)$")
_LEADING = re.compile(r"index .+? holds (?P<columns>.+) but does not start with it: ")
INDEXED = {"missing index": _MISSING, "unused leading key part": _LEADING}
"""Kinds that an index answers, with the pattern that names its columns."""
ORDERED = {"filesort": "sorts", "temporary table": "groups"}
"""Kinds that an index in the order of a list answers, with what the statement does by the list."""
MOST_NAME = 64
"""Characters of an index name in MySQL."""
MOST_COLUMNS = 4
"""Columns of a proposed index: more make it large for little benefit."""
UNKNOWN_COLUMNS = (
    "The columns are unknown: this plan states that rows are filtered, but not by which condition, and the "
    "text of the statement compares no column of {table} with a value. EXPLAIN FORMAT=JSON contains the "
    "condition."
)
UNREAD = (
    "The columns are unknown: this plan states that rows are filtered, but not by which condition, and the "
    "conditions are not read from a text with UNION or with deeply nested parentheses. EXPLAIN FORMAT=JSON "
    "contains the condition."
)
UNNAMED = "No DDL: the text of the statement does not contain the name of the table."
JOINED = (
    "No DDL: an index gives the rows of a join in order only if it is on the first table, which the server "
    "chooses."
)
EXPRESSION = (
    "No DDL: the statement {does} by an expression or in both directions, which an index on columns does not "
    "give."
)
RANGE_FIRST = (
    "No DDL: the statement compares {ranges} with a range and {does} by {columns}; one index serves only one "
    "of both."
)
BY_RANGE = (
    "The server then reads the whole index in the order of the groups. Compare it with an index that starts "
    "with {ranges}."
)


@dataclass(frozen=True)
class Advice:
    """One piece: kind, what to try, evidence in the plan, DDL with '' if there is none, on what the DDL is
    based, and what is unknown."""

    kind: str
    text: str
    evidence: str
    ddl: str = ""
    basis: str = ""
    unknown: str = ""


@dataclass(frozen=True)
class Table:
    """A table of a plan: its database, '' if it is unknown, its name, and the name by which the statement
    calls it."""

    database: str
    name: str
    alias: str


def advice_of(line: str, plan: Row, statement: Conditions) -> Advice:
    """Returns the advice of a stored line about a plan, a row of page_query_plans."""
    kind, text, evidence = (*line.split(" · ", 2), "", "")[:3]
    if kind in INDEXED:
        alias, _, said = text.partition(": ")
        table = table_of(alias, plan)
        found = INDEXED[kind].match(said)
        if found:
            ddl = create_index(table, found["columns"].split(", "))
            return Advice(kind, text, evidence, ddl, "The conditions in the plan.")
        return Advice(kind, text, evidence, *_for_conditions(table, plan, statement))
    if kind in ORDERED:
        return Advice(kind, text, evidence, *_for_order(kind, plan, statement))
    return Advice(kind, text, evidence)


def compared(statement: Conditions, alias: str, is_first: bool) -> list[str]:
    """Returns the columns of one table that an index for its conditions has: compared with values, and unless
    the table is the first of its join, with other tables; then one that is compared with a range."""
    equal = [*statement.equal, *statement.points, *([] if is_first else statement.joined)]
    columns = statement.of(equal, alias)[:MOST_COLUMNS]
    ranges = [each for each in statement.of(statement.ranges, alias) if each not in columns]
    return columns + ranges[:1] if len(columns) < MOST_COLUMNS else columns


def _for_conditions(table: Table, plan: Row, statement: Conditions) -> tuple[str, str, str]:
    """Returns the DDL, its basis and what is unknown of an index for the conditions of a table."""
    if not statement.is_read:
        return "", "", UNREAD
    columns = compared(statement, table.alias, is_first_of(table.alias, plan))
    without = statement.without_table()
    unknown = f"Unknown: which table has {', '.join(without)}." if without else ""
    if not columns:
        return "", "", unknown or UNKNOWN_COLUMNS.format(table=table.name)
    added = [each for each in _order_after(statement, table.alias) if each not in columns]
    ddl = create_index(table, [*columns, *added][: MOST_COLUMNS + 1])
    return ddl, _basis(statement, table.alias, columns, added), unknown


def _order_after(statement: Conditions, alias: str) -> list[str]:
    """Returns the columns of GROUP BY or ORDER BY that an index gives in order behind compared columns."""
    if len(statement.tables) != 1 or statement.points or statement.ranges:
        return []
    return statement.of(statement.grouped or statement.ordered or [], alias)


def _for_order(kind: str, plan: Row, statement: Conditions) -> tuple[str, str, str]:
    """Returns the DDL, its basis and what is unknown of an index in the order of GROUP BY or ORDER BY."""
    does = ORDERED[kind]
    if len(statement.tables) != 1:
        return "", "", JOINED if statement.tables else ""
    ((alias, name),) = statement.tables.items()
    listed = statement.ordered if kind == "filesort" else statement.grouped
    if not listed:
        return "", "", EXPRESSION.format(does=does) if listed is None else ""
    if not name:
        return "", "", UNNAMED
    columns, table = statement.of(listed, alias), table_of(alias, plan)
    equal = statement.of(statement.equal, alias)
    ranges = [
        each for each in statement.of([*statement.points, *statement.ranges], alias) if each not in columns
    ]
    if kind == "filesort" and ranges:
        words = {"ranges": ", ".join(ranges), "columns": ", ".join(columns), "does": does}
        return "", "", RANGE_FIRST.format(**words)
    ordered = list(dict.fromkeys([*equal[:MOST_COLUMNS], *columns, *ranges[:1]]))
    unknown = BY_RANGE.format(ranges=", ".join(ranges)) if ranges else ""
    return create_index(table, ordered), _basis(statement, alias, [*equal, *ranges], columns), unknown


def _basis(statement: Conditions, alias: str, columns: list[str], ordered: list[str]) -> str:
    """Returns what the text of the statement says about the columns."""
    ranges = [each for each in statement.of(statement.ranges, alias) if each in columns]
    values = [each for each in columns if each not in ranges]
    said = [f"compares {', '.join(values)}"] if values else []
    said += [f"compares {', '.join(ranges)} with a range"] if ranges else []
    if ordered:
        does = "groups" if statement.grouped else "sorts"
        said.append(f"{does} by {', '.join(ordered)}")
    return f"The text of the statement: it {' and '.join(said)}."


def create_index(table: Table, columns: list[str], name: str = "") -> str:
    """Returns the statement that creates an index, with a name of the table and the columns if none is
    given."""
    named = quoted(name or "_".join([table.name, *columns])[:MOST_NAME])
    on = ".".join(quoted(part) for part in (table.database, table.name) if part)
    return f"CREATE INDEX {named} ON {on} ({', '.join(map(quoted, columns))});"


def table_of(alias: str, plan: Row) -> Table:
    """Returns the table with this alias; without a model of the plan, the alias itself."""
    for node in nodes(plan):
        if alias in (node.get("alias"), node.get("table")):
            return Table(node.get("schema") or plan["default_database"], node.get("table") or alias, alias)
    return Table(plan["default_database"], alias, alias)


def is_first_of(alias: str, plan: Row) -> bool:
    """Returns whether the first table that the plan reads has this alias."""
    accesses = (line.strip().partition(": ") for line in plan["outline"].split("\n"))
    first = next((name for name, colon, _ in accesses if colon), alias)
    return first == alias


def nodes(plan: Row) -> Iterator[dict[str, Any]]:
    """Returns all JSON objects in the model of a plan, without recursion: plans may be nested deeply."""
    try:
        waiting: list[Any] = [json.loads(plan["model"] or "{}")]
    except ValueError:
        waiting = []
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
