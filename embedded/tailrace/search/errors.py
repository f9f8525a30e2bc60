"""What is wrong with a search, as one sentence for its author."""

import difflib
from collections.abc import Iterable

from tailrace.errors import UsageError

CUTOFF = 0.6
"""Similarity from which a name is suggested, from 0 to 1."""


class SearchError(UsageError):
    """A search that cannot be run. `position` is that of the character in the text, from 1; 0 for none."""

    def __init__(self, message: str, position: int = 0) -> None:
        super().__init__(f"position {position}: {message}" if position else message)
        self.position = position


class DeniedError(SearchError):
    """The role may not read what the search asks for; `right` is the missing one, in ClickHouse's words."""

    def __init__(self, what: str, role: str, right: str) -> None:
        super().__init__(f"{what} needs {right}, which the role {role} does not have")
        self.right = right


def unknown(what: str, given: str, known: Iterable[str]) -> str:
    """Returns the message for a name that does not exist, with similar ones, or with all if there are few."""
    names = list(known)
    near = difflib.get_close_matches(given.lower(), names, n=2, cutoff=CUTOFF)
    if near:
        return f"there is no {what} '{given}'; did you mean {' or '.join(map(repr, near))}?"
    return f"there is no {what} '{given}'; there are {', '.join(names)}"
