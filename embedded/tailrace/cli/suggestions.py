"""Suggests the known name that a misspelt one is meant to be."""

import difflib
from collections.abc import Iterable

CUTOFF = 0.6
"""Similarity from which a name is suggested, from 0 to 1."""


def suggestion(given: str, known: Iterable[str]) -> str:
    """Returns `; did you mean 'digest'?`, or nothing if no known name is similar."""
    nearest = difflib.get_close_matches(given.lower(), list(known), n=1, cutoff=CUTOFF)
    return f"; did you mean '{nearest[0]}'?" if nearest else ""


def unknown(what: str, given: str, known: Iterable[str]) -> str:
    """Returns the message for a name that does not exist; `what` is command, subcommand or option."""
    return f"there is no {what} '{given}'{suggestion(given, known)}"
