"""Advice on indexes that were dropped: who dropped one, which plan used it, and the DDL that restores it.

The definition of an index is known if the slow logs contain the DDL that created it. Otherwise the plan that
used it states how many columns it compared, and the text of the statement which ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tailrace.plural import counted
from tailrace_pages import formats
from tailrace_pages.statements import advice, schema_changes
from tailrace_pages.statements.advice import Advice, Table
from tailrace_pages.statements.conditions import Conditions
from tailrace_pages.statements.schema_changes import Dropped

Row = Mapping[str, Any]

KIND = "dropped index"
DEFINED = "The DDL in the slow logs that created the index."
UNDEFINED = (
    "Unknown: the definition of {name}. No slow log has the DDL that created it; SHOW CREATE TABLE shows it "
    "on a replica or in a backup."
)
FURTHER = "Unknown: further columns of {name}. No slow log has the DDL that created it."
UNUSED = "Unknown: whether this statement used it. No plan of this time range did."


def advice_on(
    current: Row, plans: Sequence[Row], ddl: Sequence[Row], statement: Conditions
) -> Iterator[Advice]:
    """Returns the advice on dropped indexes of the tables of the current plan of a server.

    An index counts if an earlier plan in `plans` used it, or if the current plan reads all rows of its table.
    """
    before = [row for row in plans if row["plan_hash"] != current["plan_hash"]]
    for table, is_scanned in _tables(current):
        for index in schema_changes.dropped_indexes(ddl, table.database, table.name):
            user, node = _user(index.name, table, before)
            if _uses(index.name, table, current) is None and (node is not None or is_scanned):
                yield _advice(index, table, statement, user, node)


def _advice(
    index: Dropped, table: Table, statement: Conditions, user: Row | None, node: Row | None
) -> Advice:
    row = index.row
    by = f" by {row['user']}" if row["user"] else ""
    at = formats.time(row["at"])
    text = f"index {index.name} of {table.name} was dropped at {at} UTC{by} on {row['server']}"
    evidence = (
        row["text"] if user is None else f"{row['text']} · plan {formats.short_id(user['plan_hash'])} used it"
    )
    columns, basis, unknown = _definition(index, table, statement, node)
    ddl = advice.create_index(table, columns, index.name) if columns else ""
    unused = "" if user is not None else UNUSED
    return Advice(KIND, text, evidence, ddl, basis, " ".join(filter(None, [unknown, unused])))


def _definition(
    index: Dropped, table: Table, statement: Conditions, node: Row | None
) -> tuple[list[str], str, str]:
    """Returns the columns, their basis, and their unknowns."""
    if index.columns:
        return index.columns, DEFINED, ""
    equal = statement.of(statement.equal, table.alias)
    refs = (node or {}).get("ref") or []
    if equal and len(refs) == len(equal) and set(refs) == {"const"}:
        count = f"{counted(len(refs), 'column')} of it with values"
        basis = f"The plan compared {count}, and the text of the statement compares {', '.join(equal)}."
        return equal, basis, FURTHER.format(name=index.name)
    return [], "", UNDEFINED.format(name=index.name)


def _tables(plan: Row) -> list[tuple[Table, bool]]:
    """Returns the tables of a plan, and whether it reads all rows of each."""
    found = {}
    for node in advice.nodes(plan):
        if node.get("table"):
            table = Table(
                node.get("schema") or plan["default_database"],
                node["table"],
                node.get("alias") or node["table"],
            )
            found[table] = found.get(table, False) or node.get("access_type") == "ALL"
    return list(found.items())


def _user(name: str, table: Table, plans: Sequence[Row]) -> tuple[Row | None, Row | None]:
    """Returns the first plan that uses an index of a table, and its node."""
    found = ((row, _uses(name, table, row)) for row in plans)
    return next(((row, node) for row, node in found if node is not None), (None, None))


def _uses(name: str, table: Table, plan: Row) -> dict[str, Any] | None:
    for node in advice.nodes(plan):
        its = str(node.get("index") or "").lower().split(",")
        if name.lower() in its and str(node.get("table") or "").lower() == table.name.lower():
            return node
    return None
