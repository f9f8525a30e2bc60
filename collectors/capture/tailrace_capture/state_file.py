"""Stores the last known facts of a server: since when each one holds, and what was added, changed or
removed."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from tailrace_capture.facts import Fact


@dataclass(frozen=True)
class KnownFact:
    """A fact in its present form. `since` is the time of its first snapshot, in seconds since 1970 UTC."""

    since: float
    attributes: dict[str, str]


@dataclass(frozen=True)
class Change:
    """A difference between two snapshots: `change` is added, removed or changed."""

    key: str
    change: str
    before: dict[str, str]
    after: dict[str, str]


class StateFile:
    """One server's facts by kind, in a private file. It contains only kinds that were read without an error,
    so that an unreadable kind does not look removed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kinds: dict[str, dict[str, KnownFact]] = {}
        self._outcomes: dict[str, str] = {}
        self._load()

    def _load(self) -> None:
        """Reads the file. If it is unreadable, facts hold from now on, and no change is reported."""
        try:
            document = json.loads(self._file.read_text())
            self._outcomes = dict(document["outcomes"])
            self._kinds = {
                kind: {key: KnownFact(**known) for key, known in facts.items()}
                for kind, facts in document["kinds"].items()
            }
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            self._kinds, self._outcomes = {}, {}

    def known(self, kind: str, facts: list[Fact], at: float) -> dict[str, KnownFact]:
        """Returns these facts with the times since which they hold."""
        before = self._kinds.get(kind, {})
        found = {}
        for fact in facts:
            old = before.get(fact.key)
            unchanged = old is not None and old.attributes == fact.attributes
            found[fact.key] = old if unchanged else KnownFact(at, fact.attributes)
        return found

    def changes(self, kind: str, facts: list[Fact]) -> list[Change]:
        """Returns differences from the last snapshot, ordered by key; none for the first snapshot."""
        if kind not in self._kinds:
            return []
        before = {key: known.attributes for key, known in self._kinds[kind].items()}
        after = {fact.key: fact.attributes for fact in facts}
        return [
            Change(key, _change(before.get(key), after.get(key)), before.get(key, {}), after.get(key, {}))
            for key in sorted(before.keys() | after.keys())
            if before.get(key) != after.get(key)
        ]

    def outcome(self, kind: str) -> str:
        """Returns the result of the last snapshot of this kind, with its error; empty if there is none."""
        return self._outcomes.get(kind, "")

    def keep(self, kind: str, outcome: str, known: "dict[str, KnownFact] | None") -> None:
        """Stores a snapshot; None for a failed one, which leaves the facts unchanged."""
        self._outcomes[kind] = outcome
        if known is not None:
            self._kinds[kind] = known

    def save(self) -> None:
        """Writes the file atomically. Raises OSError."""
        kinds = {
            kind: {key: vars(known) for key, known in facts.items()} for kind, facts in self._kinds.items()
        }
        draft = self._file.with_name(f"{self._file.name}.draft")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            json.dump({"kinds": kinds, "outcomes": self._outcomes}, out)
        draft.replace(self._file)


def _change(before: "dict[str, str] | None", after: "dict[str, str] | None") -> str:
    if before is None:
        return "added"
    return "removed" if after is None else "changed"
