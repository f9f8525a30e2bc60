"""Proposes exceptions of rules from alerts that people closed as benign or as false positive.

A proposal is verified by evaluating its selection on all stored alerts of its rule. It never covers an alert
that was closed as true positive or is not closed. If an alert lacks a field of the selection, nobody can say
whether the exception covers it, and it counts as covered.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, groupby
from typing import Any

from tailrace.alerts.entity_selection import ACTORS, SELECTABLE, Selection, folded

QUERY = "rule_outcomes"
"""A file of sql/queries, whose rows are the input."""
DETECTORS = "detectors.yaml"
"""The end of the rule file of detectors, which have exceptions of another form."""
OPEN, TRUE_POSITIVE = "open", "true positive"
PROTECTED = (TRUE_POSITIVE, OPEN)
"""Outcomes of alerts that no exception may have suppressed."""
MIN_ALERTS = 3
"""Closed alerts that justify a proposal."""
GENERAL = 3
"""Distinct values of a field from which the selection leaves the field out; fewer values are listed."""
MAX_CANDIDATES = 100
"""Selections of a rule that are evaluated, those with the most closed alerts first."""
MAX_PROPOSALS = 10
"""Proposals for one rule."""


@dataclass(frozen=True)
class Outcome:
    """The stored alerts of a rule that have the same entity and turned out to be the same."""

    entity: Mapping[str, str]
    outcome: str
    """A verdict, `closed` or `open`."""
    alerts: int
    supporting: int
    """Of these, the alerts that were closed as benign or false positive in the time that is looked at."""
    matches: int
    ids: Sequence[str]
    """At most 200 of them."""

    @cached_property
    def folded(self) -> Mapping[str, str]:
        """The entity with folded values."""
        return {name: folded(value) for name, value in self.entity.items()}


@dataclass(frozen=True)
class Rule:
    """A rule with its stored alerts."""

    id: str
    title: str
    file: str
    outcomes: Sequence[Outcome]

    @property
    def alerts(self) -> int:
        return sum(each.alerts for each in self.outcomes)


@dataclass(frozen=True)
class Proposal:
    """A selection with the stored alerts that it would have suppressed."""

    rule: Rule
    selection: Selection
    suppressed: Mapping[str, int]
    """Number of alerts by their outcome."""
    unknown: Mapping[str, int]
    """Number of alerts of which it is unknown, because they lack a field of the selection."""
    matches: int
    ids: Sequence[str]
    blocking: Sequence[str]
    """Ids of alerts that are open or true positives and would, or may, have been suppressed."""
    general: Mapping[str, int] = field(default_factory=dict)
    """Number of distinct values of the fields that the selection leaves out."""

    @property
    def alerts(self) -> int:
        return sum(self.suppressed.values())


def rules_of(rows: Iterable[Mapping[str, Any]]) -> list[Rule]:
    """Returns the rules of the rows of QUERY, which are ordered by rule."""
    found = []
    for rule_id, group in groupby(rows, lambda row: row["rule_id"]):
        of_rule = list(group)
        last = of_rule[-1]
        outcomes = [
            Outcome(
                row["entity"],
                row["outcome"],
                int(row["alerts"]),
                int(row["supporting"]),
                int(row["matches"]),
                row["ids"],
            )
            for row in of_rule
        ]
        found.append(Rule(rule_id, last["rule_title"], last["rule_file"], outcomes))
    return found


def proposed(rule: Rule, min_alerts: int = MIN_ALERTS) -> tuple[list[Proposal], list[Proposal]]:
    """Returns the proposals for a rule, and those that were refused because of their `blocking` alerts.

    Each proposal covers at least `min_alerts` closed alerts that none before it covers. Detectors have none.
    """
    if rule.file.endswith(DETECTORS):
        return [], []
    accepted, refused, covered = [], [], set()
    for selection, general in _candidates(rule, min_alerts):
        if len(accepted) == MAX_PROPOSALS:
            break
        if _new(rule, selection, covered) < min_alerts:
            continue
        proposal = _evaluated(rule, selection, general)
        if proposal.blocking:
            refused.append(proposal)
        else:
            accepted.append(proposal)
            covered |= _covered(rule, selection)
    left = [each for each in refused if _new(rule, each.selection, covered) >= min_alerts]
    return accepted, left[:1]


def _covered(rule: Rule, selection: Selection) -> set[int]:
    """Returns the positions of the outcomes that a selection covers."""
    return {number for number, each in enumerate(rule.outcomes) if selection.covers(each.folded)}


def _new(rule: Rule, selection: Selection, covered: set[int]) -> int:
    return sum(rule.outcomes[number].supporting for number in _covered(rule, selection) - covered)


def _evaluated(rule: Rule, selection: Selection, general: Mapping[str, int]) -> Proposal:
    suppressed, unknown, matches = Counter(), Counter(), 0
    ids, blocking = [], []
    for each in rule.outcomes:
        covers = selection.covers(each.folded)
        if covers is False:
            continue
        if covers:
            suppressed[each.outcome] += each.alerts
            matches += each.matches
            ids += each.ids
        else:
            unknown[each.outcome] += each.alerts
        if each.outcome in PROTECTED:
            blocking += each.ids
    return Proposal(rule, selection, suppressed, unknown, matches, sorted(ids), sorted(blocking), general)


def _candidates(rule: Rule, min_alerts: int) -> list[tuple[Selection, Mapping[str, int]]]:
    """Returns selections with the numbers of values of the fields left out: those with most alerts first,
    then those with most fields."""
    supporting = [each for each in rule.outcomes if each.supporting]
    found = {}
    for fields in _sets_of_fields(supporting):
        for group in _groups(supporting, fields):
            number = sum(each.supporting for each in group)
            if number >= min_alerts and (made := _selection(fields, group)):
                found.setdefault(str(made[0]), (number, *made))
    ranked = sorted(found.items(), key=lambda item: (-item[1][0], -len(item[1][1].fields), item[0]))
    return [(selection, general) for _, (_, selection, general) in ranked[:MAX_CANDIDATES]]


def _sets_of_fields(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, ...]]:
    """Returns the combinations of fields of the entities, of which one says who acts if any field does."""
    named = {name for each in outcomes for name in each.entity}
    names = [name for name in SELECTABLE if name in named]
    has_actor = any(name in ACTORS for name in names)
    for size in range(1, len(names) + 1):
        for fields in combinations(names, size):
            if not has_actor or any(name in ACTORS for name in fields):
                yield fields


def _groups(outcomes: Sequence[Outcome], fields: tuple[str, ...]) -> list[list[Outcome]]:
    """Returns the outcomes that have all of the fields, by their values. A user is never left out."""
    groups: dict[tuple[str, ...], list[Outcome]] = {}
    for each in outcomes:
        has_all = all(name in each.entity for name in fields)
        if has_all and ("user" in fields or "user" not in each.entity):
            groups.setdefault(tuple(each.folded[name] for name in fields), []).append(each)
    return list(groups.values())


def _selection(
    fields: tuple[str, ...], group: Sequence[Outcome]
) -> tuple[Selection, Mapping[str, int]] | None:
    """Returns the selection of a group: a field with few values is listed, one with many is left out.

    Returns None if a field has few values and some of the alerts lack it.
    """
    chosen = {name: [_any_of(group, name)[0]] for name in fields}
    general = {}
    for name in SELECTABLE:
        values = _any_of(group, name)
        if name in fields or not values:
            continue
        if len(values) >= GENERAL:
            general[name] = len(values)
        elif all(name in each.entity for each in group):
            chosen[name] = values
        else:
            return None
    return Selection({name: chosen[name] for name in SELECTABLE if name in chosen}), general


def _any_of(group: Sequence[Outcome], name: str) -> list[str]:
    """Returns the distinct values of a field, sorted, each in one of its spellings."""
    spelt = {each.folded[name]: each.entity[name] for each in group if name in each.entity}
    return [spelt[key] for key in sorted(spelt)]
