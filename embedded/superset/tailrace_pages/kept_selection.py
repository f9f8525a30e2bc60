"""The checkboxes of a table that stay selected after the form was sent.

The cookie of the session carries the beginnings of their values to the next page, which shows them once, as
it does with the message. It works without JavaScript, and neither the address nor a link to it selects rows.
"""

from collections.abc import Iterable

LENGTH = 10
"""Digits of an id that tell the rows of a page apart. A cookie has at most 4 kB."""
MOST = 200
"""Checkboxes: as many as an action takes."""


def shortened(values: Iterable[str]) -> list[str]:
    """Returns what the session keeps of the values of checkboxes, which begin with the id of an alert."""
    return sorted({value[:LENGTH] for value in values})[:MOST]


def has(kept: Iterable[str], value: str) -> bool:
    """Whether the checkbox with this value was selected."""
    return value[:LENGTH] in kept


def number(kept: Iterable[str], values: Iterable[str]) -> int:
    """Returns how many of the checkboxes of a page were selected."""
    return sum(has(kept, value) for value in values)
