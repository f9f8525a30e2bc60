"""The plans of one statement for its page: trees (tailrace.reading.plans), and advice."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tailrace.reading.plans import Tree, trees
from tailrace_pages.statements.advice import Advice, advice_of

__all__ = ["Tree", "advice", "trees"]

Row = Mapping[str, Any]


def advice(plans: Sequence[Row]) -> list[dict[str, Any]]:
    """Returns the advice on the latest plan of each server, without duplicates, with the plan and the
    servers."""
    found: dict[Advice, dict[str, Any]] = {}
    for row in _latest_of_each_server(plans):
        for line in row["advice"]:
            piece = advice_of(line, row["model"], row["default_database"])
            entry = found.setdefault(piece, {"advice": piece, "plan_hash": row["plan_hash"], "servers": []})
            entry["servers"].append(row["server"])
    return list(found.values())


def _latest_of_each_server(plans: Sequence[Row]) -> Iterable[Row]:
    latest: dict[str, Row] = {}
    for row in plans:
        latest.setdefault(row["server"], row)
    return latest.values()
