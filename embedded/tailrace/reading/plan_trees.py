"""A plan outline (io.tailrace.plan.record.PlanOutline) as steps: expensive steps, differences of two."""

import difflib
import re
from dataclasses import dataclass

MANY_ROWS = 1_000
"""Estimated rows from which a complete scan is expensive, as in the warnings of `tailrace plan`."""
MOST_STEPS = 300

EXPENSIVE_FLAGS = {
    "filesort": "sorts rows",
    "sort on disk": "sorts on disk",
    "temporary table": "fills a temporary table",
    "join buffer": "joins without an index",
    "dependent": "runs once per row of the enclosing query",
    "range checked for each record": "chooses its index again for each row",
    "full scan on null key": "reads the whole table for NULL",
    "rematerialize": "is filled again for each row",
}
_ROWS = re.compile(r", ([\d,]+) rows?\b")
_ONE_ROW = re.compile(r", 1 rows\b")
_SCAN = re.compile(r": (ALL|index)(?: by [^,]*)?(?:,|$)")
SAME, ADDED, REMOVED = "same", "added", "removed"


@dataclass(frozen=True)
class Step:
    """A step of a plan: its depth from 0, its text, why it is expensive ('' if it is not), and how it
    changed."""

    depth: int
    text: str
    cost: str
    change: str = SAME

    @property
    def is_expensive(self) -> bool:
        """Whether it is expensive in the current plan; a removed step no longer is."""
        return bool(self.cost) and self.change != REMOVED


def steps(outline: str) -> list[Step]:
    """Returns the steps of a plan, at most MOST_STEPS."""
    return [_step(line) for line in outline.split("\n")[:MOST_STEPS] if line.strip()]


def difference(before: str, after: str) -> list[Step]:
    """Returns the steps of both plans in order; equal steps once. Estimated rows do not count as a change."""
    old, new = steps(before), steps(after)
    matcher = difflib.SequenceMatcher(None, [_key(step) for step in old], [_key(step) for step in new], False)
    found: list[Step] = []
    for kind, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if kind == "equal":
            found += new[new_from:new_to]
        else:
            found += [_changed(step, REMOVED) for step in old[old_from:old_to]]
            found += [_changed(step, ADDED) for step in new[new_from:new_to]]
    return found


def _step(line: str) -> Step:
    text = line.lstrip()
    return Step((len(line) - len(text)) // 2, _ONE_ROW.sub(", 1 row", text), _cost(text))


def _cost(text: str) -> str:
    """Returns the reasons, joined by commas. Flags follow the name of a step or table and its rows."""
    found = []
    scan, rows = _SCAN.search(text), _ROWS.search(text)
    if scan and rows and (count := int(rows[1].replace(",", ""))) >= MANY_ROWS:
        what = "all rows" if scan[1] == "ALL" else "a whole index"
        found.append(f"reads {what} ({count:,})")
    flags = text.split(", ")[1:]
    found += [reason for flag, reason in EXPENSIVE_FLAGS.items() if flag in flags]
    return ", ".join(found)


def _key(step: Step) -> tuple[int, str]:
    return step.depth, _ROWS.sub("", step.text)


def _changed(step: Step, change: str) -> Step:
    return Step(step.depth, step.text, step.cost, change)
