"""Selections of exceptions over the fields of entities, evaluated on stored alerts.

All events of an alert have the values of its entity, so a selection of fields with one value per event that
accepts the entity accepts all of its events. Fields with several values per event, such as `table`, are not
selected: an exception for one table would also remove the event from the alerts of its other tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

ACTORS = ("user", "priv_user", "os_user", "src_ip", "host", "program")
"""Fields that say who acts."""
PLACES = ("cluster", "instance", "database")
SELECTABLE = (*ACTORS, *PLACES)
"""Fields of entities that have at most one value per event."""


def folded(text: str) -> str:
    """Returns the text in the form in which rules compare it, which ignores case sign by sign."""
    return "".join(map(_folded, text))


def _folded(sign: str) -> str:
    upper = sign.upper()
    lower = (upper if len(upper) == 1 else sign).lower()
    return lower if len(lower) == 1 else sign


@dataclass(frozen=True)
class Selection:
    """Fields with their accepted values; all fields must accept."""

    fields: Mapping[str, Sequence[str]]

    @cached_property
    def _folded(self) -> list[tuple[str, frozenset[str]]]:
        return [(name, frozenset(map(folded, values))) for name, values in self.fields.items()]

    def covers(self, entity: Mapping[str, str]) -> bool | None:
        """Whether all events of an alert about this entity, whose values are folded, are accepted.

        Returns None if the entity lacks a field and no other field refuses it.
        """
        answer = True
        for name, values in self._folded:
            value = entity.get(name)
            if value is None:
                answer = None
            elif value not in values:
                return False
        return answer

    def sigma(self) -> dict[str, str | list[str]]:
        """Returns the selection as a Sigma search."""
        return {name: _sigma(values) for name, values in self.fields.items()}

    def __str__(self) -> str:
        return ", ".join(f"{name}={' or '.join(values)}" for name, values in self.fields.items())


def _sigma(values: Sequence[str]) -> str | list[str]:
    escaped = [_escaped(value) for value in values]
    return escaped[0] if len(escaped) == 1 else escaped


def _escaped(value: str) -> str:
    """Returns a value without wildcards of Sigma."""
    return "".join(f"\\{sign}" if sign in "\\*?" else sign for sign in value)
