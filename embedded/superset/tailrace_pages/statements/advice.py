"""Advice on a plan as concrete DDL.

Advice is a line `kind · table: text · evidence` (io.tailrace.plan.record.PlanRecords). A plan contains
neither the other indexes of a table nor its write rate, so the DDL is a proposal to check, and Tailrace
never runs it.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_MISSING = re.compile(r"no index can be used: consider one on \((?P<columns>.+)\)$")
_LEADING = re.compile(r"index .+? holds (?P<columns>.+) but does not start with it: ")
INDEXED = {"missing index": _MISSING, "unused leading key part": _LEADING}
"""Kinds that an index answers, with the pattern that names its columns."""
MOST_NAME = 64
"""Characters of an index name in MySQL."""
UNKNOWN_COLUMNS = (
    "The columns are unknown: this plan states that rows are filtered, but not by which condition. "
    "EXPLAIN FORMAT=JSON contains the condition."
)


@dataclass(frozen=True)
class Advice:
    """One piece: kind, what to try, evidence in the plan, and DDL with '' if there is none, or why it is
    unknown."""

    kind: str
    text: str
    evidence: str
    ddl: str = ""
    unknown: str = ""


def advice_of(line: str, model: str, default_database: str) -> Advice:
    """Returns the advice of a stored line; `model` is the JSON of the plan, for the table behind an alias."""
    kind, text, evidence = (*line.split(" · ", 2), "", "")[:3]
    if kind not in INDEXED:
        return Advice(kind, text, evidence)
    alias, _, said = text.partition(": ")
    found = INDEXED[kind].match(said)
    if not found:
        return Advice(kind, text, evidence, unknown=UNKNOWN_COLUMNS)
    columns = found["columns"].split(", ")
    return Advice(kind, text, evidence, _create_index(*_table_of(alias, model, default_database), columns))


def _create_index(database: str, table: str, columns: list[str]) -> str:
    name = _quoted("_".join([table, *columns])[:MOST_NAME])
    on = ".".join(_quoted(part) for part in (database, table) if part)
    return f"CREATE INDEX {name} ON {on} ({', '.join(map(_quoted, columns))});"


def _table_of(alias: str, model: str, default_database: str) -> tuple[str, str]:
    """Returns database ('' if unknown) and name of the table with this alias; without a model, the alias
    itself."""
    try:
        document = json.loads(model or "{}")
    except ValueError:
        document = {}
    for node in _nodes(document):
        if alias in (node.get("alias"), node.get("table")):
            return node.get("schema") or default_database, node.get("table") or alias
    return default_database, alias


def _nodes(document: Any) -> Iterator[dict[str, Any]]:
    """Returns all JSON objects in a document, without recursion: plans may be nested deeply."""
    waiting = [document]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
