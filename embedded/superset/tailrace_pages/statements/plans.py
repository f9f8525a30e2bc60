"""The plans of one statement for its page: trees (tailrace.reading.plans), and advice on the current ones."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tailrace.reading.plans import Tree, trees
from tailrace_pages.statements import dropped_index
from tailrace_pages.statements.advice import Advice, advice_of, nodes
from tailrace_pages.statements.conditions import conditions

__all__ = ["Tree", "advice", "constant", "trees"]

Row = Mapping[str, Any]
EMPTY_SHAPE = "D41D8CD98F00B204"
"""The plan hash without an access: constant tables are not part of the shape (docs/PLANS.md)."""
MESSAGES = ("query block", "constant rows")
"""Operations whose detail is what the server says in place of accesses."""


def constant(plans: Sequence[Row]) -> dict[str, str]:
    """Returns what the server says in place of accesses, by the hash of the plans without any: EMPTY_SHAPE,
    which plans of all tables share. It is empty if such a plan reads a row of constant tables."""
    own = [row for row in plans if row["plan_hash"] == EMPTY_SHAPE]
    said = [
        str(node["detail"])
        for row in own
        for node in nodes(row)
        if node.get("operation") in MESSAGES and node.get("detail")
    ]
    return {EMPTY_SHAPE: ", ".join(dict.fromkeys(said))} if own else {}


def advice(plans: Sequence[Row], fingerprint: str, ddl: Sequence[Row]) -> list[dict[str, Any]]:
    """Returns the advice on the latest plan of each server, without duplicates, with the plan and the
    servers. `is_same` says that advice before has the same DDL. `ddl` has rows of page_query_ddl, the newest
    first."""
    found: dict[Advice, dict[str, Any]] = {}
    statement = conditions(fingerprint)
    for row in _latest_of_each_server(plans):
        own = (advice_of(line, row, statement) for line in row["advice"])
        for piece in (*dropped_index.advice_on(row, plans, ddl, statement), *own):
            is_same = bool(piece.ddl) and any(each.ddl == piece.ddl for each in found if each != piece)
            new = {"advice": piece, "plan_hash": row["plan_hash"], "servers": [], "is_same": is_same}
            entry = found.setdefault(piece, new)
            entry["servers"].append(row["server"])
    return list(found.values())


def _latest_of_each_server(plans: Sequence[Row]) -> Iterable[Row]:
    latest: dict[str, Row] = {}
    for row in plans:
        latest.setdefault(row["server"], row)
    return latest.values()
