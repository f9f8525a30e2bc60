"""Writes proposals of exceptions as YAML for rules/exceptions, with comments that say what they suppress.

Values are names from logs. The text is ASCII: other signs are escaped, also in comments.
"""

from collections.abc import Mapping
from typing import Any

import yaml

from tailrace.alerts.exception_proposals import Proposal

SHORT_ID = 8
MAX_IDS = 20
TO_FILL_IN = {
    "owner": "a person or team who answers for it",
    "expires": "the first day on which it has no effect, such as 2027-03-31",
}
WIDTH = 100


def document(proposal: Proposal, owner: str = "", expires: str = "") -> str:
    """Returns a YAML document. An owner or a date that is not given is left empty: `tailrace rules check`
    refuses the exception until both are filled in."""
    comments = "".join(f"# {ascii_only(line)}\n" for line in explanation(proposal))
    return comments + _yaml(_content(proposal)) + _last_keys({"owner": owner, "expires": expires})


def _content(proposal: Proposal) -> dict[str, Any]:
    rule = proposal.rule
    return {
        "title": f"{rule.title}: permitted for {proposal.selection}",
        "exception": {
            "rule": rule.id,
            "selection": proposal.selection.sigma(),
            "reason": f"alerts were closed: {_listed(proposal.suppressed)}",
        },
    }


def _last_keys(given: Mapping[str, str]) -> str:
    lines = [
        f"  {_yaml({name: value})}" if value else f"  {name}:  # {TO_FILL_IN[name]}\n"
        for name, value in given.items()
    ]
    return "".join(lines)


def _yaml(content: Mapping[str, Any]) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=False, width=WIDTH)


def explanation(proposal: Proposal) -> list[str]:
    """Returns the sentences about a proposal."""
    rule, number = proposal.rule, proposal.alerts
    listed = ", ".join(id_[:SHORT_ID] for id_ in proposal.ids[:MAX_IDS])
    more = f" and {number - MAX_IDS} more" if number > MAX_IDS else ""
    lines = [
        f"{rule.title}: {number} of {rule.alerts} stored alerts are about {proposal.selection}.",
        f"This exception would have suppressed exactly these: {_listed(proposal.suppressed)}.",
        f"Their ids: {listed}{more}.",
    ]
    if proposal.general:
        values = ", ".join(f"{name} ({count} values)" for name, count in proposal.general.items())
        lines.append(f"It does not depend on {values}.")
    if proposal.unknown:
        lines.append(f"Unknown for {_listed(proposal.unknown)}: these alerts lack one of its fields.")
    return lines


def refusal(proposal: Proposal) -> str:
    """Returns a sentence that says why a selection is no proposal."""
    listed = ", ".join(id_[:SHORT_ID] for id_ in proposal.blocking[:MAX_IDS])
    return (
        f"{proposal.rule.title}: no exception for {proposal.selection}, because it would, or may, also have "
        f"suppressed alerts that are open or true positives: {listed}"
    )


def _listed(outcomes: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items()))


def ascii_only(text: str) -> str:
    """Returns the text in one line, with escapes for control characters and all signs outside of ASCII."""
    return "".join(sign if " " <= sign <= "~" else sign.encode("unicode_escape").decode() for sign in text)


def row(proposal: Proposal) -> dict[str, Any]:
    """Returns a proposal for programs; keys are those of KEYS of the command."""
    return {
        "rule_id": proposal.rule.id,
        "rule_title": proposal.rule.title,
        "proposed": not proposal.blocking,
        "selection": {name: list(values) for name, values in proposal.selection.fields.items()},
        "left_out": dict(proposal.general),
        "suppressed": dict(proposal.suppressed),
        "unknown": dict(proposal.unknown),
        "stored": proposal.rule.alerts,
        "matches": proposal.matches,
        "alert_ids": list(proposal.ids),
        "blocking_ids": list(proposal.blocking),
    }
