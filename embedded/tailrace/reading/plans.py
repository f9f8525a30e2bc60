"""The plans of one statement as trees: the current one with its difference to the previous one, and the
others.

Rows of plans are those of sql/queries/page_query_plans.sql, rows of changes those of
page_query_plan_changes.sql.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailrace.reading import plan_trees
from tailrace.reading.plan_trees import Step

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Tree:
    """A plan: its hash, the servers that had it, its steps, and the hash of the plan that they are
    compared with."""

    plan_hash: str
    servers: list[str]
    steps: list[Step]
    compared_with: str = ""

    @property
    def has_changes(self) -> bool:
        return any(step.change != plan_trees.SAME for step in self.steps)


def trees(plans: Sequence[Row], changes: Sequence[Row]) -> list[Tree]:
    """Returns one tree per plan; plans are ordered by the time they were last seen, the latest first.

    The first tree contains the difference to the previous plan: the old plan of the latest change to it,
    or else the next plan of the list.
    """
    by_hash = _by_hash(plans)
    found = [
        Tree(plan_hash, _servers(rows), plan_trees.steps(rows[0]["outline"]))
        for plan_hash, rows in by_hash.items()
    ]
    if len(found) > 1:
        current = found[0]
        previous = _previous(current.plan_hash, by_hash, changes)
        steps = plan_trees.difference(
            by_hash[previous][0]["outline"], by_hash[current.plan_hash][0]["outline"]
        )
        found[0] = Tree(current.plan_hash, current.servers, steps, previous)
    return found


def _previous(current: str, by_hash: Mapping[str, Any], changes: Sequence[Row]) -> str:
    replaced = (
        row["old_plan"] for row in changes if row["new_plan"] == current and row["old_plan"] in by_hash
    )
    return next(replaced, list(by_hash)[1])


def _by_hash(plans: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in plans:
        found.setdefault(row["plan_hash"], []).append(row)
    return found


def _servers(rows: Sequence[Row]) -> list[str]:
    return sorted({row["server"] for row in rows})
