"""Rules that cannot fire on a server, grouped by what would change it.

The detect job reports which fields or event classes the logs of a server lack (docs/DETECTION.md). Which log
contains them is in docs/TAXONOMY.md.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailrace_pages.rule_reasons import in_few_words
from tailrace_pages.setup import changes
from tailrace_pages.setup.servers import LOGS


@dataclass(frozen=True)
class Group:
    """Rules of a server that the same change would enable."""

    reason: str
    """Why they cannot fire, in a few words."""
    missing: str
    """Missing event classes and fields; empty if the rules need another kind of log."""
    change: str
    rules: Sequence[Mapping[str, Any]]


def groups(rows: Iterable[Mapping[str, Any]], watched: Iterable[str], product: str = "") -> list[Group]:
    """Returns the groups of the rules that cannot fire, the largest first.

    Parameters
    ----------
    watched : the kinds of logs of the server that are read
    product : the product of the server, if it is known
    """
    found = defaultdict(list)
    absent = [kind for kind in LOGS if kind not in {*watched}]
    for row in rows:
        if not row["can_fire"]:
            found[in_few_words(row["reason"]), missing(row), change(row, absent, product)].append(row)
    made = [Group(*key, rules) for key, rules in found.items()]
    return sorted(made, key=lambda group: (-len(group.rules), group.reason, group.missing))


def missing(row: Mapping[str, Any]) -> str:
    """Returns the missing event classes and fields as a text."""
    return ", ".join(
        [*(f"events of the class {name}" for name in row["missing_classes"]), *row["missing_fields"]]
    )


def change(row: Mapping[str, Any], absent: Sequence[str], product: str = "") -> str:
    """Returns what would enable a rule, as a text."""
    wanted = changes.needed(row["missing_classes"], row["missing_fields"], product)
    if not wanted:
        useful = [kind for kind in row["fires_on"] if kind in absent] or absent
        titles = [LOGS[kind] for kind in useful if kind in LOGS]
        wanted = [f"{' or '.join(titles)} of this server"] if titles else [changes.OTHER]
    return "; ".join(wanted)
