"""Reads columns.yaml and accepted.yaml: columns that are not compared, new names, intended differences."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from e2e.compare.differences import ColumnRules, Difference

HERE = Path(__file__).parent
COLUMNS = HERE / "columns.yaml"
ACCEPTED = HERE / "accepted.yaml"
PATTERNS = ("row", "before", "after", "removed", "added")
KEYS = {"base", "path", "column", "only", "reason", *PATTERNS}
BEFORE, AFTER = "before", "after"
CORPORA = "corpora"


class AcceptedError(Exception):
    """A file has an entry with an unknown or missing key."""


@dataclass(frozen=True)
class Entry:
    """Accepted differences: of a column, or of rows that only one version has (`row`, a regular expression).

    With `only`, such a row is one of this version: before or after.
    `path` and `column` are globs. `before` and `after` are regular expressions that must match all of the
    value; without them every value is accepted. With `removed` or `added`, the values are lists: `removed`
    must match each element that only the list before has, `added` each that only the list after has.
    """

    path: str
    column: str | None
    row: re.Pattern[str] | None
    before: re.Pattern[str] | None
    after: re.Pattern[str] | None
    reason: str
    removed: re.Pattern[str] | None = None
    added: re.Pattern[str] | None = None
    only: str | None = None

    def accepts(self, difference: Difference) -> bool:
        if not fnmatchcase(difference.path, self.path):
            return False
        if self.row is not None:
            return not difference.column and self._accepts_row(difference)
        return (
            bool(difference.column)
            and fnmatchcase(difference.column, self.column or "")
            and _is(self.before, difference.before)
            and _is(self.after, difference.after)
            and self._accepts_elements(difference)
        )

    def _accepts_row(self, difference: Difference) -> bool:
        sides = {BEFORE: difference.before, AFTER: difference.after}
        having = [side for side, text in sides.items() if text is not None]
        if len(having) != 1 or self.only not in (None, *having):
            return False
        return bool(self.row and self.row.search(sides[having[0]] or ""))

    def _accepts_elements(self, difference: Difference) -> bool:
        if self.removed is None and self.added is None:
            return True
        before, after = _elements(difference.before), _elements(difference.after)
        gone, new = before - after, after - before
        return bool(gone or new) and _match(self.removed, gone) and _match(self.added, new)

    def __str__(self) -> str:
        what = f"column {self.column}" if self.row is None else f"row {self.row.pattern}"
        return f"{self.path}, {what} ({self.reason})"


def _is(pattern: re.Pattern[str] | None, value: str | None) -> bool:
    return pattern is None or bool(pattern.fullmatch(value or ""))


def _elements(value: str | None) -> Counter[str]:
    """Returns the elements of a list. Alerts have a single element without its list, and no empty list."""
    found = [] if value is None else json.loads(value)
    return Counter(map(str, found if isinstance(found, list) else [found]))


def _match(pattern: re.Pattern[str] | None, elements: Counter[str]) -> bool:
    """Without a pattern there must be no element."""
    return not elements if pattern is None else all(pattern.fullmatch(each) for each in elements)


def accepted(commit: str, file: Path = ACCEPTED) -> list[Entry]:
    """Returns the entries for a base, by its complete commit. Raises AcceptedError."""
    listed = yaml.safe_load(file.read_text()) or []
    return [_entry(each) for each in listed if commit.startswith(str(_checked(each)["base"]))]


def _checked(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    if unknown := entry.keys() - KEYS:
        raise AcceptedError(f"accepted.yaml: unknown key {min(unknown)}; expected one of {sorted(KEYS)}")
    if missing := {"base", "path", "reason"} - entry.keys():
        raise AcceptedError(f"accepted.yaml: an entry has no {min(missing)}: {dict(entry)}")
    if ("column" in entry) == ("row" in entry):
        raise AcceptedError(f"accepted.yaml: expected either column or row: {dict(entry)}")
    if "only" in entry and ("row" not in entry or entry["only"] not in (BEFORE, AFTER)):
        raise AcceptedError(f"accepted.yaml: only is {BEFORE} or {AFTER}, beside row: {dict(entry)}")
    if not re.match(r"[\w-]+/", entry["path"]):
        raise AcceptedError(f"accepted.yaml: expected a path such as detect/*, found {entry['path']}")
    return entry


def _entry(listed: Mapping[str, Any]) -> Entry:
    patterns = {key: re.compile(listed[key], re.DOTALL) if key in listed else None for key in PATTERNS}
    names = {"column": listed.get("column"), "only": listed.get("only"), "reason": listed["reason"]}
    return Entry(listed["path"], **names, **patterns)


@dataclass(frozen=True)
class Judged:
    """The differences that no entry accepts, the number of accepted ones, and entries that accept none."""

    differences: list[Difference]
    accepted: int
    unused: list[Entry]


def judge(differences: Iterable[Difference], entries: list[Entry], compared: Iterable[str]) -> Judged:
    """Applies the entries. An entry is unused only if outputs of its kind were compared, by their paths."""
    left, used, total = [], set(), 0
    for difference in differences:
        matching = [number for number, entry in enumerate(entries) if entry.accepts(difference)]
        used.update(matching)
        total += bool(matching)
        if not matching:
            left.append(difference)
    kinds = {kind for path in compared for kind in _kinds(path)}
    unused = [
        entry
        for number, entry in enumerate(entries)
        if number not in used and _kinds(entry.path).issubset(kinds)
    ]
    return Judged(left, total, unused)


def _kinds(path: str) -> set[str]:
    """Returns what must have run for a path to exist: a command or the tables, and perhaps the corpora."""
    return {path.split("/")[0], *([CORPORA] if CORPORA in path else [])}


def column_rules(commit: str, file: Path = COLUMNS) -> ColumnRules:
    """Returns the columns that name a run, and the columns that the base calls otherwise."""
    listed = yaml.safe_load(file.read_text())
    renamed = [
        (each["path"], each["from"], each["to"])
        for each in listed["renamed_columns"]
        if commit.startswith(str(each["base"]))
    ]

    def new_name(path: str, column: str) -> str:
        for glob, old, to in renamed:
            if f"{column}.".startswith(f"{old}.") and fnmatchcase(path, glob):
                return to + column.removeprefix(old)
        return column

    return ColumnRules(new_name, _within(listed["of_a_run"]), _within(listed["identities"]))


def _within(listed: list[dict[str, str]]) -> Callable[[str, str], bool]:
    """Returns whether a list of globs names a column of a path."""

    @cache
    def is_listed(path: str, column: str) -> bool:
        return any(fnmatchcase(path, each["path"]) and fnmatchcase(column, each["column"]) for each in listed)

    return is_listed


def renamed_tables(commit: str, file: Path = COLUMNS) -> dict[str, str]:
    """Returns the new names of the base's tables that have been renamed."""
    listed = yaml.safe_load(file.read_text())["renamed_tables"]
    return {each["from"]: each["to"] for each in listed if commit.startswith(str(each["base"]))}
